import type { TargetSnapshot, WriteOperation } from '../write-session.ts';

/** Reads and lists files, and says what may be changed. */
export interface WorkspaceFiles {
  /** A file with more bytes is no target. */
  readonly maxTargetBytes: number;
  /**
   * Whether this operation may change this target now, and what stands there.
   *
   * Rejects with INVALID_TARGET, PROTECTED_PATH, HARD_LINK, IS_DIRECTORY, NOT_A_FILE, PERMISSION_DENIED,
   * FILE_EXISTS (create), FILE_NOT_FOUND (append).
   */
  checkTarget(target: string, operation: WriteOperation): Promise<TargetSnapshot>;
  /**
   * The bytes of an existing target, verified: rejects with TARGET_CHANGED before its end when they are not those
   * of the snapshot. Never holds the file in memory.
   */
  readTarget(snapshot: TargetSnapshot): AsyncIterable<Uint8Array>;
  /** Lines of a text file, for the read tool. Rejects with FILE_NOT_FOUND, IS_DIRECTORY, INVALID_CONTENT … */
  readText(path: string, range: ReadRange): Promise<TextExcerpt>;
  /** Files of the workspace, sorted, without ignored ones and the state directory; relative, `/`-separated. */
  listFiles(limit: number): Promise<{
    readonly files: readonly string[];
    readonly truncated: boolean;
    /** Ignore files that were not used. */
    readonly refused: readonly RefusedFile[];
  }>;
  /** `AGENTS.md`, else `ORION.md`, at the root, at most `maxBytes` of it; null when neither can be used. */
  readInstructions(maxBytes: number): Promise<{
    readonly instructions: ProjectInstructions | null;
    readonly refused: readonly RefusedFile[];
  }>;
}

export type ReadRange = {
  /** First line, counted from 1. */
  readonly firstLine?: number;
  readonly maxLines: number;
  readonly maxBytes: number;
};

export type TextExcerpt = {
  readonly path: string;
  readonly content: string;
  readonly firstLine: number;
  readonly lastLine: number;
  /** Of the whole file. */
  readonly totalLines: number;
  readonly totalBytes: number;
  readonly truncated: boolean;
};

export type ProjectInstructions = {
  readonly name: string;
  readonly content: string;
  readonly truncated: boolean;
};

/** A file of the workspace that was not used: no regular file, too large, a link that leads elsewhere. */
export type RefusedFile = {
  readonly path: string;
  /** Completes "because …". */
  readonly reason: string;
};

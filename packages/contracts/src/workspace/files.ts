import type { TargetSnapshot, WriteOperation } from '../write-session.ts';

/** Reads and lists files, and checks whether they may be changed. */
export interface WorkspaceFiles {
  /** A larger file cannot be a target. */
  readonly maxTargetBytes: number;
  /**
   * Checks whether this operation may change this target now, and describes its current state.
   *
   * Rejects with INVALID_TARGET, PROTECTED_PATH, HARD_LINK, IS_DIRECTORY, NOT_A_FILE, PERMISSION_DENIED,
   * FILE_EXISTS (create), FILE_NOT_FOUND (append).
   */
  checkTarget(target: string, operation: WriteOperation): Promise<TargetSnapshot>;
  /**
   * The verified bytes of an existing target. Rejects with TARGET_CHANGED before the end if they differ from the
   * snapshot. Never holds the whole file in memory.
   */
  readTarget(snapshot: TargetSnapshot): AsyncIterable<Uint8Array>;
  /** Lines of a text file, for the read tool. Rejects with FILE_NOT_FOUND, IS_DIRECTORY, INVALID_CONTENT … */
  readText(path: string, range: ReadRange): Promise<TextExcerpt>;
  /**
   * The files of the workspace, sorted, as relative paths separated by `/`, without ignored files and the state
   * directory.
   */
  listFiles(limit: number): Promise<{
    readonly files: readonly string[];
    readonly truncated: boolean;
    /** Ignore files that could not be used. */
    readonly refused: readonly RefusedFile[];
  }>;
  /**
   * The protected files and folders that exist, as absolute paths, without those that `allowPaths` names: what a command
   * must not change. `truncated` when the workspace is too large to find all of them.
   */
  listProtected(): Promise<{ readonly paths: readonly string[]; readonly truncated: boolean }>;
  /** `AGENTS.md` or else `ORION.md` at the root, at most `maxBytes` of it; null if neither can be used. */
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

/** A file of the workspace that could not be used: not a regular file, too large, or a link that leads elsewhere. */
export type RefusedFile = {
  readonly path: string;
  /** Completes "because …". */
  readonly reason: string;
};

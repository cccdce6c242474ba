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
  /**
   * Lines of a text file, for the read tool. What is not valid UTF-8 is read as Latin-1, and says so. Rejects with
   * FILE_NOT_FOUND, IS_DIRECTORY, INVALID_CONTENT (a binary file; `details` has its `bytes`, and its `type` if that is
   * known), CONTENT_TOO_LARGE …
   */
  readText(path: string, range: ReadRange): Promise<TextExcerpt>;
  /**
   * The first `limit` files that are selected, sorted, as relative paths separated by `/`, without ignored files and the
   * state directory. Rejects with INVALID_TARGET, PROTECTED_PATH, FILE_NOT_FOUND, NOT_A_FILE, INVALID_TOOL_ARGUMENTS.
   */
  listFiles(limit: number, selection?: FileSelection): Promise<FileList>;
  /**
   * The lines of these files that match an expression, in the order of `listFiles`. What was not searched or not shown
   * is part of the report. The expression runs where it can be stopped. Rejects like `listFiles`, with
   * INVALID_TOOL_ARGUMENTS for an expression that does not compile, and with ABORTED.
   */
  searchFiles(request: SearchRequest): Promise<SearchReport>;
  /** The protected files and folders that exist, without those that `allowPaths` names: what a command must not change. */
  listProtected(): Promise<ProtectedPaths>;
  /**
   * What has happened to protected paths since they were listed. `undo` moves what is new into the state directory, where
   * no program obeys it, and restores links.
   */
  protectedChanges(
    before: ProtectedPaths,
    options: { readonly undo: boolean },
  ): Promise<ProtectedReport>;
  /** `AGENTS.md` or else `ORION.md` at the root, at most `maxBytes` of it; null if neither can be used. */
  readInstructions(maxBytes: number): Promise<{
    readonly instructions: ProjectInstructions | null;
    readonly refused: readonly RefusedFile[];
  }>;
}

export type ProtectedPaths = {
  readonly entries: readonly ProtectedEntry[];
  /** The folders that were searched, relative to the root. */
  readonly folders: ReadonlySet<string>;
  /** Whether the workspace was too large, or a folder could not be read, so that entries may be missing. */
  readonly truncated: boolean;
};

export type ProtectedEntry = {
  /** Relative to the root. */
  readonly path: string;
  /** Differs for a file or folder that takes its place, or a file whose content is written. */
  readonly identity: string;
  /** Where it leads, for a symbolic link. */
  readonly link: string | null;
};

export type ProtectedChange = {
  /** Relative to the root. */
  readonly path: string;
  readonly change: 'created' | 'changed' | 'removed';
  /** Where the new file or folder is now; null where it was left, or where nothing is new. */
  readonly movedTo: string | null;
  /** Whether the link that was there is there again. */
  readonly restored: boolean;
};

export type ProtectedReport = {
  readonly changes: readonly ProtectedChange[];
  /** Whether changes may be missing. */
  readonly truncated: boolean;
};

/** Which files are listed or searched. */
export type FileSelection = {
  /** A folder or a file, relative to the root; empty or `.` for the root. */
  readonly below?: string;
  /**
   * Globs in the syntax of `.gitignore` plus `{a,b}`, relative to `below`: one without a slash matches names at any
   * depth; one that begins with `!` leaves out what it matches. The last one that matches decides. None select all.
   */
  readonly globs?: readonly string[];
  /** False leaves out what lies in folders below `below`. */
  readonly recursive?: boolean;
};

export type FileList = {
  readonly files: readonly string[];
  readonly truncated: boolean;
  /** Ignore files that could not be used. */
  readonly refused: readonly RefusedFile[];
};

export type SearchRequest = FileSelection & {
  readonly pattern: string;
  /** `regex`: JavaScript's syntax. Both are applied to each line by itself. */
  readonly syntax: 'literal' | 'regex';
  readonly ignoreCase?: boolean;
  /** Lines shown before and after each match. */
  readonly contextLines?: number;
  readonly signal?: AbortSignal;
};

export type SearchReport = {
  /** The files with matches. */
  readonly files: readonly SearchedFile[];
  /** Matching lines. */
  readonly matches: number;
  /** Files that were searched to their ends. */
  readonly searched: number;
  /** Numbers of files. */
  readonly leftOut: {
    readonly binary: number;
    readonly tooLarge: number;
    readonly unreadable: number;
    /** These were searched, but only the beginnings of their long lines. */
    readonly longLines: number;
  };
  /** Why the search ended early, and in which file. `files`: there are too many to look at all of them. */
  readonly stopped: {
    readonly reason: 'matches' | 'time' | 'memory' | 'files';
    readonly at: string | null;
  } | null;
  /** Ignore files that could not be used. */
  readonly refused: readonly RefusedFile[];
};

export type SearchedFile = {
  readonly path: string;
  /** `latin1`: it is not valid UTF-8, and was read as Latin-1. */
  readonly encoding: TextEncodingName;
  readonly lines: readonly SearchedLine[];
};

export type SearchedLine = {
  /** Counted from 1. */
  readonly line: number;
  /** Without its line ending. What is cut off a long line is replaced by `…`. */
  readonly text: string;
  /** False for a line of context. */
  readonly isMatch: boolean;
};

/** How a text file is encoded. `latin1` is assumed for what is not valid UTF-8, and may be wrong. */
export type TextEncodingName = 'utf-8' | 'utf-16le' | 'utf-16be' | 'latin1';

export type ReadRange = {
  /** First line, counted from 1. */
  readonly firstLine?: number;
  readonly maxLines: number;
  readonly maxBytes: number;
  /** A larger file is refused unread. At most 256 MiB, which is the default. */
  readonly maxFileBytes?: number;
  /** What is wanted of the end as well, where it is not in what was read: whole lines if there are any. */
  readonly tailBytes?: number;
};

export type TextExcerpt = {
  readonly path: string;
  readonly encoding: TextEncodingName;
  readonly content: string;
  readonly firstLine: number;
  readonly lastLine: number;
  /** Of the whole file. */
  readonly totalLines: number;
  readonly totalBytes: number;
  readonly truncated: boolean;
  /** The end of the file, if it was asked for and `content` lacks it. */
  readonly tail?: { readonly content: string; readonly firstLine: number };
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

/** Text without a target file. */
export interface WorkspaceScratchFiles {
  /** Creates a file in the state directory for text that has no target, and stores the text as it arrives. */
  createScratchFile(): ScratchFile;
}

/** Stores a text without a target. No method rejects; `finish` reports a failure. */
export interface ScratchFile {
  append(text: string): void;
  /** Makes the text durable. Resolves to null if it could not be stored. Nothing may be appended afterwards. */
  finish(): Promise<SavedScratchFile | null>;
  /** Removes the file, finished or not. */
  discard(): Promise<void>;
}

export type SavedScratchFile = {
  /** Relative to the root if inside it, else absolute. `readText` accepts it. */
  readonly path: string;
  readonly bytes: number;
};

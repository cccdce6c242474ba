/** Text that belongs to no file. */
export interface WorkspaceScratchFiles {
  /** Keeps a text that belongs to no file while it arrives, under a name of its own in the state directory. */
  createScratchFile(): ScratchFile;
}

/** A text that is being kept. Nothing here rejects: what cannot be kept is told by `finish`. */
export interface ScratchFile {
  append(text: string): void;
  /** Makes it durable; null if it could not be kept. Nothing may be appended afterwards. */
  finish(): Promise<SavedScratchFile | null>;
  /** Removes it, finished or not. */
  discard(): Promise<void>;
}

export type SavedScratchFile = {
  /** Relative to the root where it lies inside, else absolute. `readText` takes it. */
  readonly path: string;
  readonly bytes: number;
};

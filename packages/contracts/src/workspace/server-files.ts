/** What a server keeps in the state directory: its token, and where it can be reached. */
export interface WorkspaceServerFiles {
  /**
   * The token in `server/token`, made at the first call. Only one that this user made is used: another one may have
   * come with the folder. Rejects with disk errors, and with WRITE_FAILED if something else has the file's name.
   */
  keepServerToken(): Promise<ServerToken>;
  /** Stores where the server of this process listens, in `server/server.json`. Rejects with disk errors. */
  announceServer(address: ServerAddress): Promise<void>;
  /** Removes it again, unless another process has written it since. Never rejects. */
  withdrawServer(address: ServerAddress): Promise<void>;
  /** Where a server of this workspace listens, or said that it does before its process ended; null if none said so. */
  findServer(): Promise<ServerAddress | null>;
  /** What is stored about the log-ins of the page, in `server/page.json`. Without a usable file nothing has ended. */
  readPageAccess(): Promise<PageAccess>;
  /**
   * Replaces it by what `change` makes of what is stored now. No other process changes it in between. Rejects with disk
   * errors, and with TARGET_LOCKED if another process does not finish its change.
   */
  updatePageAccess(change: (stored: PageAccess) => PageAccess): Promise<void>;
  /** Stores 64 KiB durably and removes them: whether there is room for what is saved. Rejects with disk errors. */
  tryDisk(): Promise<void>;
  /** The network file system that the state directory is on, such as `NFS`; null if it is on none. */
  networkFileSystem(): Promise<string | null>;
}

/** What servers tell each other about log-ins of the page. */
export type PageAccess = {
  /** Counts how often all log-ins were ended at once. */
  readonly generation: number;
  /** Sessions and links that ended, each with the time (milliseconds since the epoch) after which nothing needs it. */
  readonly ended: Readonly<Record<string, number>>;
  /** Sessions that are in use for more than an hour, each with the time of a use that is at most an hour before the last. */
  readonly used?: Readonly<Record<string, number>>;
};

export type ServerToken = {
  readonly token: string;
  /** Absolute. */
  readonly path: string;
  /** This call made it. */
  readonly isNew: boolean;
};

export type ServerAddress = { readonly url: string; readonly pid: number };

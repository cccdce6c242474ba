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
}

export type ServerToken = {
  readonly token: string;
  /** Absolute. */
  readonly path: string;
  /** This call made it. */
  readonly isNew: boolean;
};

export type ServerAddress = { readonly url: string; readonly pid: number };

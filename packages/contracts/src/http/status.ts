/** `GET /api/status`: counts for a status line. */
export type StatusAnswer = {
  /** The names of the projects that are served; null where there is one workspace, and any name is a label. */
  readonly projects: readonly string[] | null;
  /** The workspace, absolute; null where there are several. */
  readonly folder: string | null;
  /** Names the version of the web page that is offered; null where there is none. */
  readonly page: string | null;
  /** Approvals that wait for a person, of all projects. */
  readonly pendingApprovals: number;
  readonly turns: { readonly queued: number; readonly running: number };
  /**
   * Of all projects. `live`: a process writes in them. `unfinished`: their process is gone, and they can be recovered.
   */
  readonly writeSessions: { readonly live: number; readonly unfinished: number };
};

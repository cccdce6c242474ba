import type { SessionContent, SharedRecords } from '@orion/contracts';

/** What processes of several hosts share of a workspace, which has the same path on each. Asked for at the first use. */
export type SharedState = {
  /** Write sessions, in place of directories of the state directory. */
  readonly sessions: () => SessionContent;
  /** Backups and the log-ins of the page. */
  readonly records: () => SharedRecords;
};

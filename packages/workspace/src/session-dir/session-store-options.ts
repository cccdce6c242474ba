import type { Clock } from '@orion/contracts';
import type { BackupStore } from '../commit/backup-store.ts';
import type { ProcessObserver } from '../ownership/process-identity.ts';
import type { FileSystemNow } from '../ownership/target-locks.ts';
import type { PathPolicy } from '../path-policy/path-policy.ts';
import type { RetentionLimits } from '../retention/retention.ts';
import type { StateDirectory } from '../state-directory.ts';
import type { SessionKey } from './session-key.ts';

export type EventSink = (
  type: string,
  details: Readonly<Record<string, string | number | boolean | null>>,
) => void;

export type SessionStoreOptions = {
  readonly clock: Clock;
  readonly root: string;
  readonly state: StateDirectory;
  readonly policy: PathPolicy;
  readonly observer: ProcessObserver;
  readonly loadKey: () => Promise<SessionKey | null>;
  readonly maxSessionAgeMs: number;
  readonly attic: RetentionLimits;
  readonly onEvent: EventSink;
  /** Cleans up after commits of dead processes and drops backups beyond their limits. */
  readonly sweepCommits: () => Promise<void>;
  readonly backups: BackupStore;
  /** For tests. */
  readonly fileSystemNow: FileSystemNow | undefined;
};

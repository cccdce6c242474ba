import type { PausedSession, WriteReceipt } from '@orion/contracts';

import type { Model } from './model.ts';

/** How a turn or a command has ended. */
export type Ended = {
  readonly exitCode: number | null;
  readonly receipts: readonly WriteReceipt[];
  readonly paused: readonly PausedSession[];
  /** What a person reads of it. */
  readonly words: string;
};

/** A place in which models write, one after the other, each in a workspace of its own. */
export type Lane = {
  readonly workspace: string;
  /** `orion run`, answered by this model. */
  run(model: Model): Promise<Ended>;
  /** A command that a pause has printed. */
  command(words: readonly string[]): Promise<Ended>;
  /** An empty workspace for the next model. */
  clear(): Promise<void>;
  close(): Promise<void>;
};

import type { RunEventBody } from '@orion/contracts';

import type { Checkpoint } from './continued/checkpoint.ts';

/** A checkpoint before its event has a number. */
export type CheckpointDraft = Omit<Checkpoint, 'seq'>;

/** What comes out of a turn: an event, or the checkpoint that belongs to the next one. */
export type TurnStep =
  | RunEventBody
  | {
      readonly type: 'checkpoint';
      /** Stores the messages that the checkpoint counts. */
      readonly store: () => Promise<CheckpointDraft>;
    };

import type { JsonValue, RunEvent, TurnFence } from '@orion/contracts';

import type { TextPace } from '../turn/join-text.ts';
import type { KeptConversation } from './conversation-keeper.ts';

/** Whether a turn is still its owner's, which decides what it may begin and what of it is stored. */
export type Ownership = {
  /** What its writes are stored under; null for a turn of a command, which nobody else takes. */
  readonly fence: TurnFence | null;
  /** Aborted with FENCED, TURN_FINISHED or the like when the turn is its owner's no more. It then stops at once. */
  readonly lost: AbortSignal;
  /**
   * Before a model call, a tool and a commit: resolves when the store has just confirmed the owner, and rejects when the
   * turn is lost. For a command's turn at once, whatever its store does.
   */
  confirm(): Promise<void>;
};

/** Where the events of one turn go. */
export interface TurnWriter extends Ownership {
  /** The number of the last event that was there before. */
  readonly lastSeq: number;
  /** How long text of the turn is joined. */
  readonly pace: TextPace;
  /** `checkpoint`: where another owner would continue after this event. */
  note(event: RunEvent, checkpoint?: JsonValue): void;
  /** What the turn waits for before it produces more; null for nothing. */
  room(): Promise<void> | null;
  /** When everything noted so far is stored, or that is not worth waiting for. */
  settled(): Promise<void>;
  /** Stores what there is, if that is possible soon, and lets go of a turn that is not over. */
  leave(): Promise<void>;
  /** Stores `done` as the last event, with the conversation as the turn leaves it; null if nothing was said. */
  conclude(done: RunEvent, conversation: KeptConversation | null): Promise<void>;
}

import type { JsonObject } from '../json.ts';
import type { RunEvent } from '../run-event.ts';
import type { ServedTurn } from '../served-turns.ts';
import type { Mode } from '../tools.ts';
import type { TurnPriority } from '../turn-queue.ts';

/** `POST /api/chat/messages` and `POST /api/chat/messages_two_stage`: one message, and with it one turn. */
export type MessageRequest = {
  /** The workspace that the turn works in; left out, the server's own. */
  readonly projectId?: string;
  readonly content: string;
  /** `act` when left out. */
  readonly mode?: Mode;
  /** Continues a conversation, or names a new one; left out, the latest one of the project goes on. */
  readonly conversationId?: string;
  /** Kept with the turn. `protocol` in it chooses the protocol where the server allows that. */
  readonly metadata?: JsonObject;
  /** `interactive` when left out; `batch` waits until no interactive turn does. */
  readonly priority?: TurnPriority;
};

/** The answer to a message for a client that does not read a stream. */
export type MessageAnswer = {
  readonly turnId: string;
  /** The same, as the events of the turn call it. */
  readonly requestId: string;
};

/** What a client has read of the turn is no longer true: it forgets that, and reads all events from the first again. */
export type TurnReset = { readonly type: 'reset'; readonly toSeq: 0 };

/** What a reader of a turn is sent: the events of its log, each once and in order, and what the transport says of them. */
export type TurnStreamEvent = RunEvent | TurnReset;

/** `GET /api/turns/{turnId}/events` for a client that polls. */
export type TurnEventsAnswer = {
  readonly events: readonly TurnStreamEvent[];
  /** What to ask with the next time, as `after`. */
  readonly next: string;
  /** Whether nothing can follow. */
  readonly done: boolean;
};

/** `GET /api/turns`, newest first. */
export type TurnListAnswer = {
  readonly turns: readonly ServedTurn[];
  /** What to ask with for the next ones, as `before`; null if there are none. */
  readonly next: string | null;
};

/** `POST /api/turns/{turnId}/cancel`: its `done` usually follows within a second. */
export type CancelAnswer = { readonly turnId: string; readonly state: 'cancelling' };

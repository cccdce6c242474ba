import type {
  CancelAnswer,
  MessageAnswer,
  MessageRequest,
  ServedTurn,
  ServedTurnState,
  TurnEventsAnswer,
  TurnListAnswer,
} from '@orion/contracts';

import { ANSWER_MS } from '../connection.ts';
import type { CallOptions, Connection } from '../connection.ts';
import { TurnEvents } from '../turn-events.ts';
import type { TurnEventsOptions } from '../turn-events.ts';
import { get, path, post } from './call.ts';

export type SendOptions = CallOptions & {
  /** Pins the two-stage protocol. */
  readonly twoStage?: boolean;
  /** Names the request, so that it is not done twice; made by chance when left out. */
  readonly idempotencyKey?: string;
};

export type MessageCalls = {
  /** Begins a turn. When the answer is lost it is asked for again, and the turn is still one. */
  send(message: MessageRequest, options?: SendOptions): Promise<MessageAnswer>;
};

export type TurnsQuery = {
  readonly state?: ServedTurnState;
  readonly projectId?: string;
  readonly limit?: number;
  readonly before?: string;
};

export type TurnCalls = {
  /** The events from any place on, over as many connections as it takes. */
  events(turnId: string, options?: TurnEventsOptions): TurnEvents;
  /** The events there are; if there are none, it waits for the next one up to `wait` seconds, 25 at most. */
  poll(
    turnId: string,
    which?: { readonly after?: string; readonly wait?: number },
    options?: CallOptions,
  ): Promise<TurnEventsAnswer>;
  get(turnId: string, options?: CallOptions): Promise<ServedTurn>;
  list(which?: TurnsQuery, options?: CallOptions): Promise<TurnListAnswer>;
  /** Ends the turn; leaving its events does not. Rejects with TURN_FINISHED when it is over. */
  cancel(turnId: string, options?: CallOptions): Promise<CancelAnswer>;
};

export function messageCalls(connection: Connection): MessageCalls {
  return {
    send: (message, { twoStage = false, idempotencyKey = crypto.randomUUID(), ...call } = {}) =>
      post(connection, `/api/chat/messages${twoStage ? '_two_stage' : ''}`, {
        ...call,
        body: message,
        key: idempotencyKey,
      }),
  };
}

export function turnCalls(connection: Connection): TurnCalls {
  return {
    events: (turnId, reading) => new TurnEvents(connection, turnId, reading),
    poll: (turnId, query = {}, call = {}) =>
      get(connection, path`/api/turns/${turnId}/events`, {
        ...call,
        query,
        silentMs: (query.wait ?? 0) * 1000 + ANSWER_MS,
      }),
    get: (turnId, call) => get(connection, path`/api/turns/${turnId}`, call),
    list: (query = {}, call = {}) => get(connection, '/api/turns', { ...call, query }),
    cancel: (turnId, call) =>
      post(connection, path`/api/turns/${turnId}/cancel`, { ...call, isRepeatable: true }),
  };
}

import type {
  ConversationAnswer,
  ConversationQuery,
  ConversationsAnswer,
  ConversationsQuery,
  OutputAnswer,
  OutputCountAnswer,
  OutputCountRequest,
  OutputExtractAnswer,
  OutputExtractRequest,
  OutputQuery,
  OutputSampleAnswer,
  OutputSampleRequest,
  OutputsAnswer,
  OutputScope,
  OutputsQuery,
  OutputStatsAnswer,
  OutputStatsQuery,
  TraceAnswer,
  TracedTurnsAnswer,
  TraceEvent,
  TracesQuery,
} from '@orion/contracts';

import type { CallOptions, Connection } from '../connection.ts';
import { get, path, post } from './call.ts';

export type ConversationCalls = {
  list(which?: ConversationsQuery, options?: CallOptions): Promise<ConversationsAnswer>;
  get(
    conversationId: string,
    which?: ConversationQuery,
    options?: CallOptions,
  ): Promise<ConversationAnswer>;
};

export type TraceCalls = {
  /** The turns that were recorded, newest first. */
  list(
    which?: Pick<TracesQuery, 'projectId' | 'limit' | 'before'>,
    options?: CallOptions,
  ): Promise<TracedTurnsAnswer>;
  /** The events of one turn, in their order. */
  get(
    requestId: string,
    which?: Pick<TracesQuery, 'limit' | 'after'>,
    options?: CallOptions,
  ): Promise<TraceAnswer>;
  /** One event with its details. */
  event(requestId: string, eventId: number | string, options?: CallOptions): Promise<TraceEvent>;
};

/** Questions about stored results of tools, as the model asks them. */
export type ToolOutputCalls = {
  list(which?: OutputsQuery, options?: CallOptions): Promise<OutputsAnswer>;
  get(id: string, which?: OutputQuery, options?: CallOptions): Promise<OutputAnswer>;
  stats(id: string, which?: OutputStatsQuery, options?: CallOptions): Promise<OutputStatsAnswer>;
  extract(
    id: string,
    question: OutputExtractRequest,
    options?: ScopedOptions,
  ): Promise<OutputExtractAnswer>;
  count(
    id: string,
    question: OutputCountRequest,
    options?: ScopedOptions,
  ): Promise<OutputCountAnswer>;
  sample(
    id: string,
    question?: OutputSampleRequest,
    options?: ScopedOptions,
  ): Promise<OutputSampleAnswer>;
};

export type ScopedOptions = CallOptions & { readonly scope?: OutputScope };

export function conversationCalls(connection: Connection): ConversationCalls {
  return {
    list: (query = {}, call = {}) => get(connection, '/api/conversations', { ...call, query }),
    get: (id, query = {}, call = {}) =>
      get(connection, path`/api/conversations/${id}`, { ...call, query }),
  };
}

export function traceCalls(connection: Connection): TraceCalls {
  return {
    list: (query = {}, call = {}) => get(connection, '/api/traces', { ...call, query }),
    get: (requestId, which = {}, call = {}) =>
      get(connection, '/api/traces', { ...call, query: { ...which, requestId } }),
    event: (requestId, eventId, call) =>
      get(connection, path`/api/traces/${requestId}/events/${String(eventId)}`, call),
  };
}

export function toolOutputCalls(connection: Connection): ToolOutputCalls {
  const ask = <Answer>(
    id: string,
    what: string,
    body: unknown,
    { scope = {}, ...call }: ScopedOptions = {},
  ): Promise<Answer> =>
    post(connection, `${path`/api/tool-outputs/${id}`}/${what}`, {
      ...call,
      query: scope,
      body,
      isRepeatable: true,
    });
  return {
    list: (query = {}, call = {}) => get(connection, '/api/tool-outputs', { ...call, query }),
    get: (id, query = {}, call = {}) =>
      get(connection, path`/api/tool-outputs/${id}`, { ...call, query }),
    stats: (id, query = {}, call = {}) =>
      get(connection, path`/api/tool-outputs/${id}/stats`, { ...call, query }),
    extract: (id, question, options) => ask(id, 'extract', question, options),
    count: (id, question, options) => ask(id, 'count', question, options),
    sample: (id, question = {}, options = {}) => ask(id, 'sample', question, options),
  };
}

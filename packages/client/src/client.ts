import type { LiveAnswer, ReadyAnswer } from '@orion/contracts';

import { get } from './calls/call.ts';
import { approvalCalls } from './calls/approvals.ts';
import type { ApprovalCalls } from './calls/approvals.ts';
import { changeCalls, planCalls, writeSessionCalls } from './calls/files.ts';
import type { ChangeCalls, PlanCalls, WriteSessionCalls } from './calls/files.ts';
import { conversationCalls, toolOutputCalls, traceCalls } from './calls/records.ts';
import type { ConversationCalls, ToolOutputCalls, TraceCalls } from './calls/records.ts';
import { messageCalls, turnCalls } from './calls/turns.ts';
import type { MessageCalls, TurnCalls } from './calls/turns.ts';
import { Connection } from './connection.ts';
import type { CallOptions, ClientOptions } from './connection.ts';

/** The routes of a server. Every call rejects with `OrionClientError`, or with the reason of its signal. */
export type OrionClient = {
  readonly messages: MessageCalls;
  readonly turns: TurnCalls;
  readonly approvals: ApprovalCalls;
  readonly conversations: ConversationCalls;
  readonly writeSessions: WriteSessionCalls;
  readonly changes: ChangeCalls;
  readonly plans: PlanCalls;
  readonly traces: TraceCalls;
  readonly toolOutputs: ToolOutputCalls;
  readonly health: HealthCalls;
};

export type HealthCalls = {
  live(options?: CallOptions): Promise<LiveAnswer>;
  /** Rejects with UNEXPECTED_ANSWER (status 503) while the server is not ready. */
  ready(options?: CallOptions): Promise<ReadyAnswer>;
};

/** Calls of one server. Nothing is sent until the first one. */
export function createOrionClient(options: ClientOptions): OrionClient {
  const connection = new Connection(options);
  return {
    messages: messageCalls(connection),
    turns: turnCalls(connection),
    approvals: approvalCalls(connection),
    conversations: conversationCalls(connection),
    writeSessions: writeSessionCalls(connection),
    changes: changeCalls(connection),
    plans: planCalls(connection),
    traces: traceCalls(connection),
    toolOutputs: toolOutputCalls(connection),
    health: {
      live: (call) => get(connection, '/health/live', call),
      ready: (call) => get(connection, '/health/ready', call),
    },
  };
}

export { createOrionClient } from './client.ts';
export type { HealthCalls, OrionClient } from './client.ts';
export { OrionClientError } from './client-error.ts';
export type { ClientErrorCode, ClientErrorFacts } from './client-error.ts';
export type { ApprovalCalls } from './calls/approvals.ts';
export type { ChangeCalls, KeyedOptions, PlanCalls, WriteSessionCalls } from './calls/files.ts';
export type {
  ConversationCalls,
  ScopedOptions,
  ToolOutputCalls,
  TraceCalls,
} from './calls/records.ts';
export type { MessageCalls, SendOptions, TurnCalls, TurnsQuery } from './calls/turns.ts';
export type { CallOptions, ClientOptions } from './connection.ts';
export { TurnEvents } from './turn-events.ts';
export type { TurnEventsOptions } from './turn-events.ts';

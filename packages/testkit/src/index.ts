export { ADAPTER_SCENARIOS, API_KEY_CANARY, describeAdapterContract } from './adapter-contract.ts';
export type { AdapterScenario, AdapterUnderTest } from './adapter-contract.ts';
export { describeConversationStoreContract } from './conversation-store-contract.ts';
export { createFakeClock } from './fake-clock.ts';
export type { FakeClock } from './fake-clock.ts';
export { callsReply, createFakeAdapter, textReply, toolCall } from './fake-adapter.ts';
export type { FakeAdapter, FakeReply, SentRequest } from './fake-adapter.ts';
export { createFakeToolRegistry, readTool } from './fake-tool-registry.ts';
export type { FakeTool, FakeToolRegistry } from './fake-tool-registry.ts';
export { createFakeTrace } from './fake-trace.ts';
export type { FakeTrace } from './fake-trace.ts';
export { startPostgres } from './postgres/start-postgres.ts';
export type { TestPostgres } from './postgres/start-postgres.ts';
export { testPostgresUrl } from './postgres/test-postgres-url.ts';
export {
  describeProtocolContract,
  expectValidHistory,
  NATIVE_DIALECT,
} from './protocol-contract.ts';
export type { ModelDialect, ProtocolContractOptions } from './protocol-contract.ts';
export { collect, createProtocolContext, outcomeOf, textOf } from './protocol-context.ts';
export { describeToolOutputStoreContract } from './tool-output-store-contract.ts';
export { describeToolRegistryContract } from './tool-registry-contract.ts';
export { describeTraceStoreContract } from './trace-store-contract.ts';
export { describeTurnLogContract } from './turn-log-contract.ts';
export { describeWorkspaceContract } from './workspace-contract.ts';
export { planOperations, planResult, planTexts } from './write-plan-reference.ts';
export type { ReferenceOperation } from './write-plan-reference.ts';

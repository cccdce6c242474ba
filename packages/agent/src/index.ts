export { loadConfiguration, recoveryProvider, requireProvider } from './config/configuration.ts';
export type {
  ApproveChoice,
  Configuration,
  ConversationChoice,
  RecoverChoice,
} from './config/configuration.ts';
export type { ConfigurationFlags, ConfigurationRequest } from './config/configuration-sources.ts';
export { chooseProtocol } from './config/protocol-choice.ts';
export type { ProtocolChoice, ProtocolQuestion } from './config/protocol-choice.ts';
export { DEFAULT_SETTINGS, settingsFromEnvironment } from './config/settings.ts';
export type { Settings } from './config/settings.ts';
export { loadProjects } from './config/projects.ts';
export type { ProjectFolder } from './config/projects.ts';
export { distrustWorkspace, trustWorkspace } from './config/trust-workspace.ts';
export type { TrustReport, TrustRequest } from './config/trust-workspace.ts';
export { approvalNotFound } from './approvals/approval-desk.ts';
export { readDiffs } from './read-diffs.ts';
export { createOrion } from './create-orion.ts';
export { diagnose } from './doctor/doctor.ts';
export type { DiagnosisRequest, Finding } from './doctor/doctor.ts';
export type {
  ApprovalCalls,
  ChangedFileDiff,
  CommandOptions,
  ContextRequest,
  FinalizeRequest,
  FoundConversation,
  McpOptions,
  NotStored,
  Orion,
  OrionOptions,
  OwnedTurnRequest,
  PlanRequest,
  ProviderIdentity,
  ProviderOptions,
  RecoverRequest,
  TelemetryOptions,
  ToolListing,
  TurnRequest,
} from './orion.ts';
export { costOf } from './config/prices.ts';
export type { Price, Prices } from './config/prices.ts';
export type { ContextPart, ContextReport } from './context/context-report.ts';
export type { Instructions } from './context/instructions.ts';
export type { Attachment } from './mentions/attachments.ts';
export { inspectMcpServer } from './mcp/lazy-client.ts';
export type { PromptHistory } from './prompts/prompt-history.ts';
export type { QueuedPrompt, QueuedPrompts } from './prompts/queued-prompts.ts';
export type { OutputQuestion } from './store/ask-output.ts';
export type { BeginUploadOptions, WriteSessions } from './write-sessions/write-sessions.ts';
export { runEventOf } from './store/log-entry.ts';
export { listRecordedTurns } from './store/recorded-turns.ts';
export type { RecordedTurn } from './store/recorded-turns.ts';
export { formatTimeline, formatTraceLine, openStore, toExportLine } from '@orion/trace-store';
export type { ForeignStore, Store } from '@orion/trace-store';
export type { ChangeProposal, ChangeReviewer, ReviewAnswer, ReviewRequest } from '@orion/core';
export { createWritePlanTool } from '@orion/core';
export type { WritePlanTool, WritePlanToolOptions } from '@orion/core';
export { createPatternMatcher, createWorkspace } from '@orion/workspace';

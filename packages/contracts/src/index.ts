export type {
  Approval,
  ApprovalAction,
  ApprovalDecision,
  ApprovalFilter,
  ApprovalNews,
  ApprovalOutcome,
  NewApproval,
  Approvals,
  ApprovalState,
  ApprovalVerdict,
  DecideOutcome,
  FileDiff,
  ProposedChange,
  WriteAction,
} from './approvals.ts';
export { limitedSignal, sleep, systemClock } from './clock.ts';
export type { Clock, LimitedSignal } from './clock.ts';
export { commandWord } from './command-word.ts';
export { BEGIN_TOOL_NAME, DONE_MARKER } from './constants.ts';
export { defined } from './defined.ts';
export { ERROR_CODES, OrionError, toErrorInfo } from './errors.ts';
export type { ErrorCode, ErrorInfo, OrionErrorOptions } from './errors.ts';
export type {
  ApprovalAnswer,
  ApprovalsAnswer,
  ApprovalsQuery,
  DecideRequest,
} from './http/approvals.ts';
export type {
  ChangeDiffAnswer,
  ChangesAnswer,
  ChangesQuery,
  UndoChangeRequest,
} from './http/changes.ts';
export type { PlanApplyRequest, PlanPreviewAnswer, PlanPreviewRequest } from './http/plans.ts';
export type {
  ConversationAnswer,
  ConversationQuery,
  ConversationsAnswer,
  ConversationsQuery,
  ShownMessage,
} from './http/conversations.ts';
export type { HttpErrorBody } from './http/errors.ts';
export type {
  OutputAnswer,
  OutputCountAnswer,
  OutputCountRequest,
  OutputExtractAnswer,
  OutputExtractRequest,
  OutputPart,
  OutputQuery,
  OutputSampleAnswer,
  OutputSampleRequest,
  OutputsAnswer,
  OutputScope,
  OutputsQuery,
  OutputStatsAnswer,
  OutputStatsQuery,
  WholeOutput,
} from './http/tool-outputs.ts';
export type {
  TraceAnswer,
  TracedEvent,
  TracedTurn,
  TracedTurnsAnswer,
  TracesQuery,
} from './http/traces.ts';
export type { StatusAnswer } from './http/status.ts';
export type { DiskState, LiveAnswer, ReadyAnswer, ServiceState } from './http/health.ts';
export type {
  BeginUpload,
  BeginUploadRequest,
  CorrectUpload,
  DiscardedUpload,
  FinalizeUpload,
  OpenUpload,
  RecoverUpload,
  UploadAnswer,
  UploadCorrections,
  UploadDiff,
  UploadsAnswer,
  UploadStatus,
  WrittenUpload,
} from './http/write-sessions.ts';
export type {
  CancelAnswer,
  MessageAnswer,
  MessageRequest,
  TurnEventsAnswer,
  TurnListAnswer,
  TurnReset,
  TurnStreamEvent,
} from './http/turns.ts';
export type {
  PageChallengeAnswer,
  PageChallengeRequest,
  PageLinkAnswer,
  PageSessionAnswer,
  PageSessionRequest,
  PageSignedOut,
} from './http/page.ts';
export type { JsonObject, JsonValue } from './json.ts';
export type {
  FinishReason,
  LlmAdapter,
  LlmEvent,
  ModelLimits,
  ResponseFormat,
  SendOptions,
  Usage,
} from './llm.ts';
export type {
  AssistantMessage,
  Message,
  SystemMessage,
  ToolMessage,
  UserMessage,
} from './messages.ts';
export { createTurnState } from './protocol.ts';
export type {
  CallProgress,
  ModelSpending,
  PendingCalls,
  ProtocolConfig,
  ProtocolContext,
  ProtocolEvent,
  ProtocolLimits,
  ProtocolName,
  ProtocolOutcome,
  ProtocolStrategy,
  TurnBudget,
  TurnProgress,
  TurnState,
  TurnStop,
} from './protocol.ts';
export type {
  PausedSession,
  RunCorrections,
  RunEvent,
  RunEventBase,
  RunEventBody,
  StopReason,
  TurnStatus,
} from './run-event.ts';
export { createToolNames } from './tool-names.ts';
export type { ToolNames } from './tool-names.ts';
export type { KeptArgument, ProviderData, ToolCall } from './tool-call.ts';
export type {
  Mode,
  Tool,
  CommandAction,
  McpAction,
  McpPart,
  ToolAction,
  ToolContext,
  ToolConversation,
  ToolDefinition,
  ToolExecutionContext,
  ToolFailure,
  ToolOutput,
  ToolProgress,
  ToolRegistry,
  ToolResult,
  ToolSuccess,
  ToolTraits,
} from './tools.ts';
export type { TraceEvent, TraceFilter, TraceInput, TraceRecorder, TraceStore } from './trace.ts';
export type {
  ByteSource,
  CommitPart,
  CommitRequest,
  PrepareRequest,
  PreparedCommit,
} from './workspace/commits.ts';
export type {
  FileList,
  FileSelection,
  ProtectedChange,
  ProtectedEntry,
  ProtectedPaths,
  ProtectedReport,
  ProjectInstructions,
  ReadRange,
  RefusedFile,
  SearchedFile,
  SearchedLine,
  SearchReport,
  SearchRequest,
  TextEncodingName,
  TextExcerpt,
} from './workspace/files.ts';
export type {
  PageAccess,
  ServerAddress,
  ServerToken,
  WorkspaceServerFiles,
} from './workspace/server-files.ts';
export type { ScratchFile, SavedScratchFile } from './workspace/scratch-files.ts';
export type {
  ListedText,
  TextList,
  TextListLimits,
  WorkspaceTextLists,
} from './workspace/text-lists.ts';
export type { PlanCommitOutcome, PlanCommitRequest } from './workspace/plans.ts';
export type {
  ClaimedContent,
  DecidedCommit,
  NewStoredSession,
  SessionAppend,
  SessionAppended,
  SessionClaim,
  SessionContent,
  SessionOwner,
  SessionPiece,
  SessionTextName,
  StoredSession,
  TextPlace,
  TextPlaces,
} from './workspace/session-content.ts';
export type {
  ClaimedSession,
  CleanReport,
  SaveResult,
  SessionBytes,
  SessionHandle,
  SessionListing,
  SessionStatus,
  SessionStore,
} from './workspace/sessions.ts';
export type {
  FileVersion,
  RecordedChange,
  RecordedFile,
  UndoneFile,
  UndoReport,
  UndoRequest,
} from './workspace/undo.ts';
export type { RecordPlace, SharedRecord, SharedRecords } from './workspace/shared-records.ts';
export type { Workspace } from './workspace/workspace.ts';
export type { InvalidPlace, InvalidTextCode, TextCorrection, TextRepair } from './validation.ts';
export type { EditLocation, InsertLocation, MarkerType, ReplaceLocation } from './edit-location.ts';
export type {
  PatternMatch,
  PatternMatcher,
  PatternMatches,
  PatternSearch,
} from './pattern-matcher.ts';
export type {
  PlanChange,
  PlanContent,
  PlanOperationResult,
  PlanOperationStatus,
  PlanReceipt,
  PlanReport,
  WritePlan,
  WritePlanOperation,
} from './write-plan.ts';
export { ANSWER_WORDS, isSessionQuestion } from './session-question.ts';
export type { AnswerWord, EndCandidate, SessionQuestion } from './session-question.ts';
export { WRITE_OPERATIONS } from './write-session.ts';
export type {
  CommitResult,
  LineEnding,
  PlanOperationType,
  Seam,
  SessionMetadata,
  SessionRecord,
  SessionStateName,
  AllowedTarget,
  ForeignEncoding,
  TargetSnapshot,
  TurnRecord,
  ValidationSummary,
  WriteOperation,
  WriteReceipt,
  WritingOutcome,
  WritingRecord,
} from './write-session.ts';
export { KeysInUse, REDACTED } from './keys-in-use.ts';
export type { Redact, RedactedStream } from './keys-in-use.ts';
export type {
  ConversationPart,
  ConversationPlace,
  ConversationSave,
  ConversationStore,
  ConversationSummary,
  SaveOutcome,
  StoredConversation,
  TurnFence,
} from './conversation-store.ts';
export type {
  StoredToolOutput,
  ToolOutputFilter,
  ToolOutputRecord,
  ToolOutputStore,
} from './tool-output-store.ts';
export {
  inkEndOf,
  inkStartOf,
  isBlankCode,
  isBlankOrLineFeed,
  isBlankText,
} from './text/blanks.ts';
export { isCount, isFields, isTextOrNull, parseFields } from './text/fields.ts';
export type { Fields } from './text/fields.ts';
export { BYTE_ORDER_MARK, countLineFeeds, CrlfConverter, TextTally } from './text/line-endings.ts';
export {
  countCodePoints,
  cutText,
  encodeWtf8,
  firstCodePoints,
  isHighSurrogate,
  isLowSurrogate,
} from './text/surrogates.ts';
export { JsonReader, MAX_JSON_DEPTH, jsonErrorPosition } from './text/json-reader.ts';
export type { JsonState, JsonStrings } from './text/json-reader.ts';
export { findMentions, mentionAt, mentionOf } from './text/mentions.ts';
export type { Mention } from './text/mentions.ts';
export { bestPaths, indexPaths } from './text/path-search.ts';
export type { PathIndex } from './text/path-search.ts';
export { nestsDeeper } from './text/nesting.ts';
export { isIgnoredWhenDrawn, quotedName, visibleName, visibleProse } from './text/invisible.ts';
export type { ShowCharacter } from './text/invisible.ts';
export { cutToColumns } from './text/width.ts';
export type {
  AppendOutcome,
  FinishOutcome,
  FollowedTurn,
  TurnAppend,
  TurnClaim,
  TurnLog,
  TurnLogEntry,
  TurnLogEvent,
  TurnNews,
} from './turn-log.ts';
export type {
  CancelOutcome,
  KeyOutcome,
  NewTurn,
  OwnerNews,
  RequestKey,
  RequestKeys,
  ServedTurn,
  ServedTurnCounts,
  ServedTurnFilter,
  ServedTurns,
  ServedTurnState,
  ServingHold,
  SubmitOutcome,
  TurnAllowance,
  TurnSubmission,
  TurnToRun,
  UnfinishedTurn,
} from './served-turns.ts';
export { fitsLog, formatEventId, parseEventId } from './turn-position.ts';
export type { TurnPosition } from './turn-position.ts';
export type {
  CompleteAttempt,
  QueueLimits,
  QueuePlace,
  RunningLimits,
  TurnPriority,
  StoreTransaction,
  TransactionOutcome,
  TurnAttempt,
  TurnHandler,
  TurnQueue,
} from './turn-queue.ts';
export { TurnText } from './turn-text.ts';

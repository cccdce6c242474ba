export { createWritePlanTool } from './write-plan-tool.ts';
export type { WritePlanTool, WritePlanToolOptions } from './write-plan-tool.ts';
export type { FinalizeFacts, FinalizeOutcome } from './write-plan/finalize-session.ts';
export { recoveredReceipt } from './write-plan/session-receipt.ts';
export { answeredCorrections } from './validation/correction-answers.ts';
export type { CorrectionAnswer } from './validation/correction-answers.ts';
export type { Omission } from './validation/omissions.ts';
export { repairedText } from './validation/repaired-text.ts';
export { describeInvalid } from './validation/validate-session-text.ts';
export type { NeedsCorrections } from './validation/validate-session-text.ts';
export type { PlanOptions, PlanStep } from './write-plan/apply-plan.ts';
export { readBeginRequest } from './write-plan/begin-request.ts';
export type { BeginRequest, BegunSession } from './write-plan/begin-request.ts';
export { MAX_BEGIN_ARGUMENT_BYTES } from './write-plan/begin-tool.ts';
export { wholeTextChange } from './write-plan/whole-text.ts';
export type { WholeTextChange } from './write-plan/whole-text.ts';
export type {
  ApprovalPolicy,
  ChangeProposal,
  ChangeReviewer,
  ReviewAnswer,
  ReviewRequest,
} from './write-plan/review.ts';
export { advance, createSession, recordOf, restoreSession } from './write-session/advance.ts';
export {
  isOpen,
  MAX_CORRECTION_ROUNDS,
  openQuestionOf,
  stateNameOf,
} from './write-session/control.ts';
export type { ControlState, MessageEnd } from './write-session/control.ts';
export { fileEndOf, receiptNotesOf } from './write-session/session.ts';
export { answerOptions, questionLine } from './write-session/questions/questions.ts';
export type { CommandAnswer } from './write-session/questions/question-row.ts';
export type {
  PromptReason,
  ReceiptNotes,
  SessionEffect,
  SessionInput,
  SessionSettings,
  SessionStep,
  TimerName,
  WriteSession,
} from './write-session/session.ts';
export {
  createDoneScan,
  endDoneScan,
  scanForDone,
} from './write-session/text/markers/done-scan.ts';
export type { DoneScan } from './write-session/text/markers/done-scan.ts';
export type { InnerDone } from './write-session/text/markers/inner-done.ts';
export {
  appendToSummary,
  createSummary,
  restartSummary,
  summaryOfBytes,
} from './write-session/text/content-summary.ts';
export type { ContentSummary, LineEndingText } from './write-session/text/content-summary.ts';
export { isShortened } from './write-plan/unified-diff/format.ts';
export { diffVersions } from './write-plan/unified-diff/read-diff.ts';

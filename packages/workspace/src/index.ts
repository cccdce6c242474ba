export { createWorkspace, DEFAULT_WORKSPACE_SETTINGS } from './create-workspace.ts';
export type {
  WorkspaceEventSink,
  WorkspaceOptions,
  WorkspaceSettings,
} from './create-workspace.ts';
export { inspectPlace } from './inspect-place.ts';
export type { InspectedPlace } from './inspect-place.ts';
export { createProgramLog } from './program-log.ts';
export type { ProgramLog } from './program-log.ts';
export { createPatternMatcher } from './plan/pattern-matcher.ts';
export { loadSessionKey } from './session-dir/session-key.ts';
export type { SessionKey } from './session-dir/session-key.ts';
export type { ConfirmProtectedPath } from './path-policy/path-policy.ts';
export type { BackupManifest } from './commit/backup-manifest.ts';
export type { ProcessIdentity } from './ownership/process-identity.ts';
export { readUserInstructions } from './reading/read-instructions.ts';
export { readForeignFile, readTypedFile } from './reading/foreign-file.ts';
export type { ForeignFile } from './reading/foreign-file.ts';
export type { SharedState } from './stored/shared-state.ts';

export { BaseProtocol } from './base/base-protocol.ts';
export { DEFAULT_PROTOCOL_CONFIG, resolveProtocolConfig } from './base/config.ts';
export type { ProtocolConfigInput } from './base/config.ts';
export { validateContext } from './base/context.ts';
export { findExecuted, recordCommittedBegin, recordExecuted } from './calls/executed-calls.ts';
export { createContentProtocol } from './content/content-protocol.ts';
export { createProtocol, normaliseProtocolName, PROTOCOL_NAMES } from './create-protocol.ts';
export { createStandardProtocol } from './standard/standard-protocol.ts';
export { createTwoStageProtocol } from './two-stage/two-stage-protocol.ts';

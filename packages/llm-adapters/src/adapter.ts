/** For adapters in other packages: what all adapters share, and the formats of answers. */
export { bearer, checkOptions, endpoint } from './adapter-options.ts';
export type { AdapterOptions, CheckedOptions } from './adapter-options.ts';
export { MessageFormat } from './anthropic/message-format.ts';
export {
  createCallIds,
  historicArguments,
  isBlank,
  splitSystem,
  toolNamesOf,
} from './conversation.ts';
export type { CallIds } from './conversation.ts';
export { ChunkFormat } from './openai-compatible/chunk-format.ts';
export { ResponseFormat } from './openai-responses/response-format.ts';
export { assistantParts, ownData, ReturnedParts } from './provider-data.ts';
export type { DataOwner } from './provider-data.ts';
export type { OptionalParameters } from './refused-parameters.ts';
export { requestParameters } from './request-parameters.ts';
export type { RequestDefaults, RequestParameters } from './request-parameters.ts';
export type { Body } from './stream/body.ts';
export { invalidStream, truncated } from './stream/message-events.ts';
export type { MessageEvents } from './stream/message-events.ts';
export { textField, tokenCount } from './stream/payloads.ts';
export type { WireFormat } from './stream/payloads.ts';
export { HttpFailure, postJson } from './stream/post-json.ts';
export type { AnswerHeaders, JsonPost } from './stream/post-json.ts';
export { createStreamingAdapter } from './streaming-adapter.ts';
export type { Provider } from './streaming-adapter.ts';

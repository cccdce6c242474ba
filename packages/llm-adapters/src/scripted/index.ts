export { createScriptedAdapter } from './adapter.ts';
export type { ScriptedAdapter, ScriptedAdapterOptions } from './adapter.ts';
export { closedPort, startByteServer } from './byte-server.ts';
export type { Answer, ByteServer, ReceivedRequest } from './byte-server.ts';
export { generateLines } from './document.ts';
export { checkRequest } from './requests/check.ts';
export type { WireName } from './requests/check.ts';
export type { ProviderRequest, RequestMessage } from './requests/provider-request.ts';
export { runScriptedProvider } from './run.ts';
export type { RunScriptedProviderOptions } from './run.ts';
export { parseScript } from './script.ts';
export type {
  Behaviour,
  Continuation,
  ContinuationVariant,
  CountMatch,
  DocumentContent,
  DocumentReply,
  Fault,
  FaultKind,
  Reply,
  Script,
  ScriptedCall,
  Shape,
  TextMatch,
  When,
} from './script.ts';
export { startScriptedProvider } from './server.ts';
export type { RecordedRequest, ScriptedProvider, ScriptedProviderOptions } from './server.ts';

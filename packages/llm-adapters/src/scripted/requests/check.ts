import { checkChatRequest, readChatRequest } from './chat.ts';
import type { ChatRequest } from './chat.ts';
import { checkMessagesRequest, readMessagesRequest } from './messages.ts';
import type { ProviderRequest } from './provider-request.ts';
import { checkResponsesRequest, readResponsesRequest } from './responses.ts';

export type WireName = 'chat' | 'responses' | 'messages';

/** The wire format that a path stands for. */
export function wireOf(path: string): WireName | undefined {
  if (path.endsWith('/chat/completions')) return 'chat';
  if (path.endsWith('/responses')) return 'responses';
  return path.endsWith('/messages') ? 'messages' : undefined;
}

type RequestFormat = {
  /** Everything that a strict server would refuse, in words; empty for a valid request. */
  readonly check: (body: unknown) => readonly string[];
  /** Only for a body that `check` has nothing against. */
  readonly read: (body: unknown) => ProviderRequest;
};

export const REQUEST_FORMATS: Readonly<Record<WireName, RequestFormat>> = {
  chat: { check: checkChatRequest, read: (body) => readChatRequest(body as ChatRequest) },
  responses: { check: checkResponsesRequest, read: readResponsesRequest },
  messages: { check: checkMessagesRequest, read: readMessagesRequest },
};

export function checkRequest(path: string, body: unknown): readonly string[] {
  const wire = wireOf(path);
  return wire === undefined ? [`no request is sent to ${path}`] : REQUEST_FORMATS[wire].check(body);
}

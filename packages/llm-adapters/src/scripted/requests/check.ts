import { readChatRequest } from './chat.ts';
import { readMessagesRequest } from './messages.ts';
import { readResponsesRequest } from './responses.ts';
import type { RequestReader } from './schema-parts.ts';

export type WireName = 'chat' | 'responses' | 'messages';

/** The wire format of a path. */
export function wireOf(path: string): WireName | undefined {
  if (path.endsWith('/chat/completions')) return 'chat';
  if (path.endsWith('/responses')) return 'responses';
  return path.endsWith('/messages') ? 'messages' : undefined;
}

export const REQUEST_READERS: Readonly<Record<WireName, RequestReader>> = {
  chat: readChatRequest,
  responses: readResponsesRequest,
  messages: readMessagesRequest,
};

/** What a strict server would refuse, in words; empty for a valid request. */
export function checkRequest(path: string, body: unknown): readonly string[] {
  const wire = wireOf(path);
  if (wire === undefined) return [`no request is sent to ${path}`];
  return REQUEST_READERS[wire](body).violations;
}

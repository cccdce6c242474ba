import type { AssistantMessage, ErrorInfo, Message } from '@orion/contracts';

import { isBlank, splitSystem } from './conversation.ts';
import { isRefusal } from './provider-error.ts';

/**
 * Templates of local models: "System message must be at the beginning", "Conversation roles must alternate". Mistral:
 * "Unexpected role 'user' after role 'tool'", "Expected last role User or Tool".
 */
const NAMES_ROLES =
  /\bsystem message must\b|\balternat(?:e|ing)\b|\b(?:unexpected|expected last) role\b|\broles are supported\b/i;

/** Whether a server refused a conversation because of the order of its roles. */
export function refusesRoles(error: ErrorInfo): boolean {
  return isRefusal(error) && NAMES_ROLES.test(error.message);
}

/** Stands between the results of calls and the next user message. */
const INTERLUDE: AssistantMessage = { role: 'assistant', content: 'OK.' };

/**
 * A conversation in the order that the strictest servers accept.
 *
 * 1. System messages are at the beginning only; later ones become user messages.
 * 2. User and assistant alternate: neighbours of one role are merged.
 * 3. The results of calls are followed by the assistant, never by the user.
 */
export function strictRoles(messages: readonly Message[]): readonly Message[] {
  const { system, rest } = splitSystem(messages);
  const ordered: Message[] = [];
  for (const message of rest) {
    const next: Message =
      message.role === 'system' ? { role: 'user', content: message.content } : message;
    if (next.role !== 'tool' && isBlank(next.content) && !hasCalls(next)) continue;
    const last = ordered.at(-1);
    if (last?.role === 'tool' && next.role === 'user') ordered.push(INTERLUDE);
    if (last === undefined || last.role !== next.role || next.role === 'tool' || hasCalls(last)) {
      ordered.push(next);
    } else {
      const content = [last.content, next.content].filter((text) => !isBlank(text)).join('\n\n');
      ordered[ordered.length - 1] = { ...last, ...next, content };
    }
  }
  return [...system.map((content): Message => ({ role: 'system', content })), ...ordered];
}

function hasCalls(message: Message): boolean {
  return message.role === 'assistant' && (message.toolCalls ?? []).length > 0;
}

import type { ErrorCode, ErrorInfo, RunEvent } from '@orion/contracts';

import { inCommandWords } from '../rendering/command-hints.ts';
import type { Wording } from '../rendering/wording.ts';
import { shellWording } from '../rendering/wording.ts';

/** Next steps inside a conversation, in place of those of the shell. */
const CHAT_HINTS: Readonly<Partial<Record<ErrorCode, string>>> = {
  USAGE: 'See /help.',
  MODEL_MISSING: 'Name a model: /model <name>.',
  PROTOCOL_UNSUPPORTED: 'Choose another protocol with /protocol.',
  PROVIDER_UNREACHABLE: 'Check the network and the base URL, then send it again.',
  PROVIDER_RATE_LIMIT: 'Wait a little, then send it again.',
  PROVIDER_ERROR: 'The provider failed; send it again.',
  STREAM_TRUNCATED: 'The provider closed the stream before its end mark; send it again.',
  STREAM_BROKEN: 'The connection to the provider broke; send it again.',
  STREAM_STALLED: 'The provider stopped sending; send it again.',
  SESSION_NOT_FOUND: 'See /writes.',
  CHANGE_NOT_FOUND: 'See /changes.',
  CONVERSATION_NOT_FOUND: 'See /resume.',
};

/** A next step that is an option or a command of the shell for a session. A text saved elsewhere is known to those alone. */
const SHELL_STEP = /--on-conflict=|`(?:orion recover-session (?!--from )|--finalize`)/u;

/** The error as a conversation words it. */
export function inChatWords(error: ErrorInfo): ErrorInfo {
  const worded = inCommandWords(error, CHAT_HINTS);
  return SHELL_STEP.test(worded.hint ?? '')
    ? { ...worded, hint: '/writes shows what you can do with it.' }
    : worded;
}

export function eventInChatWords(event: RunEvent): RunEvent {
  if (event.type !== 'error' && event.type !== 'tool_result') return event;
  return event.error === undefined ? event : { ...event, error: inChatWords(event.error) };
}

/** `place`: what a command of the shell needs to find the workspace from here. */
export function chatWording(place: string): Wording {
  return {
    place,
    undo: '/undo',
    next: (session) =>
      // A text that could not be saved in its place is known to the shell alone.
      session.rescued_text === undefined
        ? [
            `  Session ${session.session_id}: /continue goes on with it; /writes shows the other options.`,
          ]
        : shellWording(place).next(session),
  };
}

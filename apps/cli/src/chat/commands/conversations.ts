import { OrionError } from '@orion/contracts';
import type { ConversationSummary, Message } from '@orion/contracts';

import { conversationNotFound } from '../../commands/conversations.ts';
import { usage } from '../../command-line/usage.ts';
import { formatAge, plural } from '../../terminal/format.ts';
import { shortPath } from '../start.ts';
import type { ChatTools } from '../tools.ts';
import type { ChatCommand } from './command.ts';

const LISTED = 100;
/** Of a conversation that is resumed: enough for its last words. */
const SHOWN_BYTES = 64 * 1024;

const begin: ChatCommand = {
  name: 'new',
  argument: '',
  summary: 'begins a new conversation',
  beside: false,
  run(tools) {
    tools.turns.goTo(null);
    tools.line('The next prompt begins a new conversation.');
    return Promise.resolve();
  },
};

const resume: ChatCommand = {
  name: 'resume',
  argument: '[id]',
  summary: 'goes on with another conversation',
  beside: false,
  async run(tools, argument, signal) {
    const id = argument === '' ? await pickConversation(tools, signal) : argument;
    if (id === null) return;
    const found = await tools.orion.store.conversations.load(id, { maxBytes: SHOWN_BYTES });
    if (found === null) throw conversationNotFound(id);
    tools.turns.goTo(id);
    showLastWords(tools, found.history);
    tools.line(`Going on with: ${found.title}`);
    if (found.openSessionId !== null) {
      tools.line('It has an unfinished file: /continue goes on with it.', 'warning');
    }
  },
  complete: async (tools) =>
    (await list(tools)).map(({ conversationId: value, title }) => ({
      value,
      label: value,
      detail: title,
    })),
};

const rename: ChatCommand = {
  name: 'rename',
  argument: '<title>',
  summary: 'gives this conversation another title',
  beside: true,
  async run({ orion, turns, line }, title) {
    if (title === '') throw usage('A title is missing.', 'Type it after /rename.');
    const id = turns.conversationId;
    const isRenamed = id !== null && (await orion.store.conversations.rename(id, title));
    if (!isRenamed) {
      throw new OrionError({
        code: 'CONVERSATION_NOT_FOUND',
        message: 'This conversation is not stored yet.',
        hint: 'Rename it after its first answer.',
      });
    }
    line(`Its title is now: ${title}`);
  },
};

export const conversationCommands: readonly ChatCommand[] = [begin, resume, rename];

async function list({ orion, configuration }: ChatTools): Promise<readonly ConversationSummary[]> {
  const projectId = configuration.projectId ?? (orion.sharesStore ? orion.projectId : null);
  return orion.store.conversations.list({
    limit: LISTED,
    ...(projectId === null ? {} : { projectId }),
  });
}

async function pickConversation(tools: ChatTools, signal: AbortSignal): Promise<string | null> {
  const now = Date.now();
  const conversations = await list(tools);
  if (conversations.length === 0) {
    tools.line('There are no conversations.');
    return null;
  }
  const items = conversations.map((one) => ({
    value: one.conversationId,
    label: one.title,
    detail: [
      `${formatAge(now - one.updatedAt)} ago`,
      plural(one.messages, 'message'),
      ...(one.openSessionId === null ? [] : ['1 unfinished']),
    ].join(', '),
  }));
  const text = `Conversations of ${shortPath(tools.configuration.workspace, tools.context)}`;
  const answer = await tools.ask({ kind: 'pick', text, items }, signal);
  return answer?.value ?? null;
}

/** What was said last, so that one knows where one is. */
function showLastWords({ face }: ChatTools, history: readonly Message[]): void {
  const last = history.findLastIndex(({ role }) => role === 'user');
  for (const message of last === -1 ? [] : history.slice(last)) {
    if (message.role === 'user') {
      face.print({ kind: 'prompt', text: message.content, attached: [] });
    } else if (message.role === 'assistant' && message.content !== '') {
      face.say(message.content);
      face.endSaying();
    }
  }
}

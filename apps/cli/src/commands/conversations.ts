import { cutToColumns, OrionError, type Message } from '@orion/contracts';

import type { TurnOptions } from '../command-line/options.ts';
import type { CommandContext } from '../process/context.ts';
import { withPlace } from '../rendering/write-lines.ts';
import { formatAge, formatCount } from '../terminal/format.ts';
import { sanitize, sanitizeLine, sanitizeProse } from '../terminal/sanitize.ts';
import { placeOf } from './place.ts';
import { printJson, printList } from './with-orion.ts';
import { withStore } from './with-store.ts';

const LISTED = 100;
const TITLE_COLUMNS = 60;
/** Of a tool's result, which is for the model. */
const SHOWN_RESULT = 500;

/** `orion conversations list`: a table on stdout, or with `--json` one object. */
export async function listConversationsCommand(
  context: CommandContext,
  options: TurnOptions,
): Promise<void> {
  const now = Date.now();
  await withStore(context, options, async ({ configuration, store, project }) => {
    await printList(context, configuration, {
      name: 'conversations',
      items: await store.conversations.list({ limit: LISTED, ...project }),
      none: 'There are no conversations.',
      headings: ['ID', 'AGE', 'MESSAGES', 'OPEN SESSION', 'TITLE'],
      cells: (one) => [
        sanitizeLine(one.conversationId),
        formatAge(now - one.updatedAt),
        formatCount(one.messages),
        sanitizeLine(one.openSessionId ?? '-'),
        cutToColumns(sanitizeProse(one.title), TITLE_COLUMNS).text,
      ],
    });
  });
}

/** `orion conversations show <id>`: its messages on stdout. */
export async function showConversationCommand(
  context: CommandContext,
  conversationId: string,
  options: TurnOptions,
): Promise<void> {
  await withStore(context, options, async ({ configuration, store }) => {
    const conversation = await store.conversations.load(conversationId);
    if (conversation === null) throw conversationNotFound(conversationId);
    if (configuration.json) {
      await printJson(context, conversation);
      return;
    }
    const { stdout } = context;
    for (const message of conversation.history) {
      const text = `${paragraph(message)}\n\n`;
      await stdout.write(stdout.isTerminal ? sanitize(text) : text);
    }
    if (conversation.openSessionId !== null) {
      const command = withPlace(
        `orion recover-session ${conversation.openSessionId}`,
        placeOf(context, configuration.workspace),
      );
      context.screen.line(`A write session was left open: ${command}`, 'warning');
    }
  });
}

function paragraph(message: Message): string {
  switch (message.role) {
    case 'system':
    case 'user':
      return `${message.role}:\n${message.content}`;
    case 'assistant': {
      const calls = (message.toolCalls ?? []).map((call) => `[${call.name} ${call.arguments}]`);
      const parts = [message.content, ...calls].filter((part) => part !== '');
      return `assistant:\n${parts.join('\n')}`;
    }
    case 'tool': {
      const { content } = message;
      const shown =
        content.length > SHOWN_RESULT
          ? `${content.slice(0, SHOWN_RESULT)} … (${formatCount(content.length)} characters)`
          : content;
      return `${message.toolName}:\n${shown}`;
    }
    default:
      return message satisfies never;
  }
}

export function conversationNotFound(conversationId: string): OrionError {
  return new OrionError({
    code: 'CONVERSATION_NOT_FOUND',
    message: `There is no conversation ${JSON.stringify(conversationId)}.`,
  });
}

import { OrionError, type ConversationSummary, type Message } from '@orion/contracts';

import type { CommandContext } from '../process/context.ts';
import { EXIT } from '../process/exit-code.ts';
import type { CommandResult } from '../process/finish.ts';
import { formatAge, formatCount } from '../terminal/format.ts';
import { sanitizeLine, sanitizeProse } from '../terminal/sanitize.ts';
import { alignColumns } from '../terminal/table.ts';
import { shorten } from '../terminal/width.ts';
import { withStore, type StoreOptions } from './with-store.ts';

export type ListConversationsOptions = StoreOptions;

const LISTED = 100;
const TITLE_COLUMNS = 60;
/** Of a tool's result, which is for the model. */
const SHOWN_RESULT = 500;

/** `orion conversations list`: a table on stdout, or with `--json` one object. */
export async function listConversationsCommand(
  context: CommandContext,
  options: ListConversationsOptions,
): Promise<CommandResult> {
  await withStore(context, options, async ({ configuration, store, projectId }) => {
    const conversations = await store.conversations.list({
      limit: LISTED,
      ...(projectId === null ? {} : { projectId }),
    });
    if (configuration.json) {
      await context.stdout.write(`${JSON.stringify({ version: 1, conversations })}\n`);
    } else if (conversations.length === 0) {
      context.screen.line('There are no conversations.');
    } else {
      await context.stdout.write(table(conversations));
    }
  });
  return { exitCode: EXIT.done };
}

function table(conversations: readonly ConversationSummary[]): string {
  const now = Date.now();
  const rows = conversations.map((one) => [
    sanitizeLine(one.conversationId),
    formatAge(now - one.updatedAt),
    formatCount(one.messages),
    sanitizeLine(one.openSessionId ?? '-'),
    shorten(sanitizeProse(one.title), TITLE_COLUMNS).text,
  ]);
  return alignColumns([['ID', 'AGE', 'MESSAGES', 'OPEN SESSION', 'TITLE'], ...rows]);
}

/** `orion conversations show <id>`: its messages on stdout. */
export async function showConversationCommand(
  context: CommandContext,
  conversationId: string,
  options: StoreOptions,
): Promise<CommandResult> {
  await withStore(context, options, async ({ configuration, store }) => {
    const conversation = await store.conversations.load(conversationId);
    if (conversation === null) throw conversationNotFound(conversationId);
    if (configuration.json) {
      await context.stdout.write(`${JSON.stringify({ version: 1, ...conversation })}\n`);
      return;
    }
    for (const message of conversation.history) {
      await context.screen.text(`${paragraph(message)}\n\n`);
    }
    if (conversation.openSessionId !== null) {
      context.screen.line(
        `A write session was left open: orion recover-session ${conversation.openSessionId}`,
        'warning',
      );
    }
  });
  return { exitCode: EXIT.done };
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

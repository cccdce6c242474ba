import type { ChatCommand } from './command.ts';

export const conversationCommands: readonly ChatCommand[] = [
  {
    name: 'new',
    argument: '',
    summary: 'begins a new conversation',
    beside: false,
    run(tools) {
      tools.turns.conversationId = null;
      tools.line('A new conversation begins with the next prompt.');
      return Promise.resolve();
    },
  },
];

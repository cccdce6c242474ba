import { alignColumns } from '../../terminal/table.ts';
import type { ChatTools } from '../tools.ts';
import type { ChatCommand } from './command.ts';

const KEYS: readonly (readonly [key: string, does: string])[] = [
  ['Enter', 'sends; during a turn it waits for the end of it'],
  ['Shift-Enter, Alt-Enter, Ctrl-J, \\ Enter', 'new line'],
  ['Up, Down', 'earlier prompts; Up takes a waiting one back'],
  ['Ctrl-R', 'searches earlier prompts'],
  ['Tab', 'completes commands, @files and ids'],
  ['Ctrl-G', 'the prompt in $VISUAL or $EDITOR'],
  ['Esc', 'stops the turn'],
  ['Ctrl-C', 'stops the turn; clears what is typed; twice leaves'],
  ['Ctrl-D', 'leaves'],
  ['Ctrl-Z', 'suspends'],
];

export const generalCommands: readonly ChatCommand[] = [
  {
    name: 'help',
    argument: '',
    summary: 'keys and commands',
    beside: true,
    async run(tools) {
      const { COMMANDS } = await import('./table.ts');
      const rows = COMMANDS.map(({ name, argument, summary }) => [
        `/${name}${argument === '' ? '' : ` ${argument}`}`,
        summary,
      ]);
      verbatim(
        tools,
        alignColumns([...KEYS, ...rows])
          .trimEnd()
          .split('\n'),
      );
      tools.line('A prompt that begins with a slash is typed with two: //etc/hosts.', 'faint');
    },
  },
  {
    name: 'exit',
    argument: '',
    summary: 'leaves',
    beside: true,
    run: (tools) => Promise.resolve(tools.leave()),
  },
];

/** Lines that are copied as they are. */
export function verbatim({ face }: ChatTools, lines: readonly string[]): void {
  if (lines.length === 0) return;
  face.print({ kind: 'verbatim', lines: lines.map((text) => ({ text, tone: 'notice' })) });
}

import { usage } from '../../command-line/usage.ts';
import type { TypedInput } from '../typed-input.ts';
import { choice } from '../asking.ts';
import type { ChatTools } from '../tools.ts';
import type { ChatCommand } from './command.ts';
import { answerCommands } from './answers.ts';
import { changeCommands } from './changes.ts';
import { choiceCommands } from './choices.ts';
import { conversationCommands } from './conversations.ts';
import { helpCommands, leaveCommands } from './general.ts';
import { inspectCommands } from './inspect.ts';
import { writeCommands } from './writes.ts';

/** Every command of a conversation, in the order of the help. */
export const COMMANDS: readonly ChatCommand[] = [
  ...helpCommands,
  ...conversationCommands,
  ...choiceCommands,
  ...writeCommands,
  ...changeCommands,
  ...inspectCommands,
  ...answerCommands,
  ...leaveCommands,
];

const BY_NAME = new Map(COMMANDS.map((command) => [command.name, command]));

/** Whether what was typed does not wait for the end of a turn; what is unknown is asked about at once. */
export function runsBeside(name: string): boolean {
  return BY_NAME.get(name)?.beside ?? true;
}

export async function runCommand(
  tools: ChatTools,
  { name, argument, typed }: Extract<TypedInput, { kind: 'command' }>,
  signal: AbortSignal,
): Promise<void> {
  const command = BY_NAME.get(name);
  if (command !== undefined) {
    if (argument !== '' && command.argument === '')
      throw usage(`/${name} takes no argument.`, `Send /${name} alone.`);
    return command.run(tools, argument, signal);
  }
  const similar = COMMANDS.filter((each) => each.name.startsWith(name)).map(
    (each) => `/${each.name}`,
  );
  const meant = similar.length === 0 ? '' : ` Did you mean ${similar.join(' or ')}?`;
  const question = {
    kind: 'choice',
    text: `There is no command /${name}.${meant} Send it as a prompt?`,
    choices: [choice('(y)es'), choice('(n)o')],
    preset: 'n',
  } as const;
  const answer = await tools.ask(question, signal);
  if (answer?.value === 'y') tools.send(`/${typed.trim()}`);
}

import type { Completion } from '../face.ts';
import type { ChatTools } from '../tools.ts';
import type { ChatCommand } from './command.ts';

const NAME = /^\/(?<name>[^\s/]*)$/u;
const ARGUMENT = /^\/(?<name>[^\s/]+)\s+(?<begun>\S*)$/u;

/** Completes a command, or what follows one; null for anything else. `typed`: up to the caret. */
export async function completeTyped(
  tools: ChatTools,
  commands: readonly ChatCommand[],
  typed: string,
): Promise<Completion | null> {
  const name = NAME.exec(typed)?.groups?.['name'];
  if (name !== undefined) {
    const items = commands
      .filter((command) => command.name.startsWith(name))
      .map(({ name: value, argument, summary }) => ({
        value: `/${value}${argument === '' ? '' : ' '}`,
        label: `/${value} ${argument}`.trimEnd(),
        detail: summary,
      }));
    return items.length === 0 ? null : { from: 0, items };
  }
  const { name: command, begun = '' } = ARGUMENT.exec(typed)?.groups ?? {};
  const found = commands.find((each) => each.name === command);
  if (found?.complete === undefined) return null;
  const items = (await found.complete(tools)).filter(({ value }) => value.startsWith(begun));
  return items.length === 0 ? null : { from: typed.length - begun.length, items };
}

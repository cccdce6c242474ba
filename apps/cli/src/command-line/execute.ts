import { OrionError, toErrorInfo } from '@orion/contracts';
import { CommanderError } from 'commander';

import { usage } from './usage.ts';
import type { CommandContext } from '../process/context.ts';
import { EXIT, exitCodeOf } from '../process/exit-code.ts';
import type { CommandResult } from '../process/finish.ts';
import { inCommandWords } from '../rendering/command-hints.ts';
import { errorLines } from '../rendering/error-lines.ts';
import { EMPTY_SUMMARY } from '../rendering/turn-summary.ts';
import { namedWorkspace, placeOf } from '../commands/place.ts';
import { asSentence } from '../terminal/format.ts';
import type { WorkspaceOptions } from './options.ts';
import { createProgram } from './program.ts';

/** Parses and runs. Never rejects: errors are printed, and are in the result. */
export async function execute(context: CommandContext): Promise<CommandResult> {
  let result: CommandResult = { exitCode: EXIT.done };
  let place = '';
  try {
    const program = createProgram(context, (reported) => {
      result = reported;
    });
    program.hook('preAction', (_, command) => {
      place = placeOf(context, namedWorkspace(context, command.opts<WorkspaceOptions>().cwd));
    });
    const { argv, stdin } = context;
    if (argv.length === 0 && stdin.isTTY !== true) {
      context.screen.block(program.helpInformation());
      throw usage('No command was given.');
    }
    await program.parseAsync(argv.length === 0 ? ['chat'] : [...argv], { from: 'user' });
    return result;
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return { exitCode: EXIT.done };
    const thrown = error instanceof CommanderError ? usageError(context, error) : error;
    const info = inCommandWords(toErrorInfo(thrown));
    for (const line of errorLines(info, place)) context.screen.line(line, 'error');
    const exitCode = exitCodeOf({
      status: null,
      stopReason: null,
      errorCode: info.code,
      sessionOpen: false,
      interrupted: false,
    });
    return { exitCode, summary: EMPTY_SUMMARY };
  }
}

function usageError(context: CommandContext, error: CommanderError): OrionError {
  const command = context.argv[0];
  if (error.code === 'commander.help') {
    const unknown = helpedWith(context.argv);
    if (unknown !== undefined) {
      return usage(`There is no command '${unknown}' to print the help of.`);
    }
    return usage(
      `\`orion ${command ?? ''}\` needs to know what to do.`,
      `See \`orion ${command ?? ''} --help\`.`,
    );
  }
  // Commander's text is `error: …`, with a suggestion on a second line.
  const [message = '', suggestion] = error.message.replace(/^error: /u, '').split('\n');
  const known =
    command !== undefined &&
    /^[a-z-]+$/u.test(command) &&
    error.code !== 'commander.unknownCommand';
  const help = `See \`orion ${known && !command.startsWith('-') ? `${command} ` : ''}--help\`.`;
  return usage(
    asSentence(message),
    suggestion === undefined ? help : `${suggestion.replace(/^\(|\)$/gu, '')} ${help}`,
  );
}

/** The command that `help` was asked for, of the program or of a command that has commands of its own. */
function helpedWith(argv: readonly string[]): string | undefined {
  const [first, second, third] = argv;
  if (first === 'help') return second;
  return second === 'help' ? third : undefined;
}

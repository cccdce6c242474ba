import { Command, InvalidArgumentError } from 'commander';

import type { CommandResult } from '../process/finish.ts';
import type { CommandContext } from '../process/context.ts';
import type { RecoverSessionOptions } from '../commands/recover-session.ts';
import { VERSION } from '../version.ts';
import * as help from './help.ts';
import {
  addOutputOptions,
  addPathOptions,
  addProviderOptions,
  addWorkspaceOption,
  choice,
  type TurnOptions,
  type WorkspaceOptions,
} from './options.ts';

/** The command line: every command loads its own part only when it runs. `report` receives how it ended. */
export function createProgram(
  context: CommandContext,
  report: (result: CommandResult) => void,
): Command {
  const program = new Command('orion')
    .description('An agent runtime whose writes cannot be lost.')
    .version(VERSION, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print help')
    .helpCommand('help [command]', 'print the help of a command')
    .addHelpText('after', help.PROGRAM)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => void context.stdout.write(text),
      writeErr: (text) => {
        context.screen.block(text);
      },
      getOutHelpWidth: () => context.stdout.columns(),
      getErrHelpWidth: () => context.stderr.columns(),
      getOutHasColors: () => false,
      getErrHasColors: () => false,
      // The error is told once, by whoever catches it.
      outputError: () => undefined,
    });

  const run = program
    .command('run')
    .argument('[prompt]', 'what to do; `-` or nothing reads it from stdin');
  run.description('one turn: ask, let the model work, exit').addHelpText('after', help.RUN);
  addWorkspaceOption(run);
  addProviderOptions(run);
  run
    .option('--protocol <name>', 'how a turn goes: standard')
    .addOption(
      choice('--mode <mode>', 'plan only reads, act may write (default: act)', ['plan', 'act']),
    )
    .option('--project-id <id>', 'stands on every event of the turn')
    .addOption(
      choice(
        '--recover <when>',
        'an interrupted write session is offered first (default: ask on a terminal, else no)',
        ['ask', 'yes', 'no'],
      ),
    );
  addPathOptions(run);
  addOutputOptions(run);
  run.action(async (prompt: string | undefined, options: TurnOptions) => {
    const { runCommand } = await import('../commands/run.ts');
    report(await runCommand(context, prompt ?? null, options));
  });

  const recover = program
    .command('recover-session')
    .argument('<id>', 'a session of `orion list-sessions`, or one that was put aside')
    .description('go on with an interrupted write session, or end it')
    .addHelpText('after', help.RECOVER_SESSION);
  addWorkspaceOption(recover);
  recover
    .option('--finalize', 'write what is saved, without a model')
    .option('--end-at <line>', 'with --finalize: the file ends before this line', lineNumber)
    .addOption(
      choice('--answer <answer>', 'with --finalize: answers an open question', [
        'keep',
        'strip',
        'done',
      ]),
    )
    .addOption(
      choice(
        '--on-conflict <what>',
        'with --finalize: what to do with a file that was changed meanwhile',
        ['overwrite', 'keep-both'],
      ),
    )
    .option('--discard', 'put the session aside; its text stays recoverable for 30 days')
    .option('--out <file>', 'copy the saved text to a new file');
  addProviderOptions(recover);
  addPathOptions(recover);
  addOutputOptions(recover);
  recover.action(async (id: string, options: RecoverSessionOptions) => {
    const { recoverSessionCommand } = await import('../commands/recover-session.ts');
    report(await recoverSessionCommand(context, id, options));
  });

  const list = program
    .command('list-sessions')
    .description('write sessions that are open or were interrupted');
  addWorkspaceOption(list);
  list.option('--json', 'as one JSON object on stdout').addHelpText('after', help.LIST_SESSIONS);
  list.action(async (options: WorkspaceOptions & { json?: boolean }) => {
    const { listSessionsCommand } = await import('../commands/list-sessions.ts');
    report(await listSessionsCommand(context, options));
  });

  const clean = program
    .command('clean-sessions')
    .description('put old interrupted write sessions aside');
  addWorkspaceOption(clean);
  clean
    .option('--all', 'those of the last hour too')
    .option('--yes', 'do not ask')
    .option('--json', 'as one JSON object on stdout')
    .addHelpText('after', help.CLEAN_SESSIONS);
  clean.action(
    async (options: WorkspaceOptions & { all?: boolean; yes?: boolean; json?: boolean }) => {
      const { cleanSessionsCommand } = await import('../commands/clean-sessions.ts');
      report(await cleanSessionsCommand(context, options));
    },
  );

  const demo = program
    .command('demo')
    .description(
      'the whole story without a key: a file streams, the process is killed, the file is recovered',
    )
    .option('--keep', 'keep the temporary folder')
    .addHelpText('after', help.DEMO);
  demo.action(async (options: { keep?: boolean }) => {
    const { demoCommand } = await import('../demo/demo.ts');
    report(await demoCommand(context, options));
  });

  // The demo's own model server: a process that survives the kill.
  program.command('demo-provider <document>', { hidden: true }).action(async (document: string) => {
    const { demoProviderCommand } = await import('../demo/provider.ts');
    report(await demoProviderCommand(context, document));
  });

  return program;
}

function lineNumber(text: string): number {
  const line = Number(text);
  if (!/^\d+$/u.test(text) || !Number.isSafeInteger(line) || line < 1) {
    throw new InvalidArgumentError('It must be a line number, counted from 1.');
  }
  return line;
}

import { ANSWER_WORDS } from '@orion/contracts';
import { Command, InvalidArgumentError } from 'commander';

import type { CommandResult } from '../process/finish.ts';
import type { CommandContext } from '../process/context.ts';
import type { ApplyPlanOptions } from '../commands/apply-plan.ts';
import type { ListConversationsOptions } from '../commands/conversations.ts';
import type { RecoverSessionOptions } from '../commands/recover-session.ts';
import type { ExportTracesOptions } from '../commands/traces.ts';
import type { TrustOptions } from '../commands/trust.ts';
import type { UndoOptions } from '../commands/undo.ts';
import { VERSION } from '../version.ts';
import * as help from './help.ts';
import {
  addApproveOption,
  addBudgetOptions,
  addOutputOptions,
  addOmissionOption,
  addPathOptions,
  addProviderOptions,
  addWorkspaceOption,
  choice,
  type TurnOptions,
  type WorkspaceOptions,
} from './options.ts';

type Report = (result: CommandResult) => void;

/** The command line: every command loads its own part only when it runs. `report` receives how it ended. */
export function createProgram(context: CommandContext, report: Report): Command {
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
    .option('--protocol <name>', 'how a turn goes: standard (default), two-stage or controller')
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
    )
    .option('--continue', 'go on with the latest conversation of this workspace')
    .option('--resume <id>', 'go on with a conversation of `orion conversations list`');
  addBudgetOptions(run);
  addApproveOption(run);
  addPathOptions(run);
  addOmissionOption(run);
  addOutputOptions(run);
  run.action(async (prompt: string | undefined, options: TurnOptions) => {
    const { runCommand } = await import('../commands/run.ts');
    report(await runCommand(context, prompt ?? null, options));
  });

  const recover = program
    .command('recover-session')
    .argument('[id]', 'a session of `orion list-sessions`, or one that was put aside')
    .description('go on with an interrupted write session, or end it')
    .addHelpText('after', help.RECOVER_SESSION);
  addWorkspaceOption(recover);
  recover
    .option(
      '--from <file>',
      'instead of an id: a text in the temporary folder, as printed when its own disk could not hold it',
    )
    .option('--finalize', 'write what is saved, without a model')
    .option(
      '--end-at <line>',
      'with --finalize: the file ends before this line, one that was asked about',
      lineNumber,
    )
    .addOption(
      choice('--answer <answer>', 'with --finalize: answers an open question', ANSWER_WORDS),
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
  addBudgetOptions(recover);
  recover.option('--max-bytes <n>', 'the limit of the size of the file, instead of the one set');
  addApproveOption(recover);
  addPathOptions(recover);
  addOmissionOption(recover);
  addOutputOptions(recover);
  recover.action(async (id: string | undefined, options: RecoverSessionOptions) => {
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
    .option('--all', 'those of the last hour too, and locks that nobody holds')
    .option('--yes', 'do not ask')
    .option('--json', 'as one JSON object on stdout')
    .addHelpText('after', help.CLEAN_SESSIONS);
  clean.action(
    async (options: WorkspaceOptions & { all?: boolean; yes?: boolean; json?: boolean }) => {
      const { cleanSessionsCommand } = await import('../commands/clean-sessions.ts');
      report(await cleanSessionsCommand(context, options));
    },
  );

  const plan = program
    .command('apply-plan')
    .argument('<plan.json>', 'a write plan; `-` reads it from stdin')
    .description('change files as a write plan says: all of it, or nothing');
  addWorkspaceOption(plan);
  plan.option('--dry-run', 'change nothing; show what would happen, and a diff');
  addApproveOption(plan);
  addPathOptions(plan);
  plan.option('--json', 'as one JSON object on stdout').addHelpText('after', help.APPLY_PLAN);
  plan.action(async (file: string, options: ApplyPlanOptions) => {
    const { applyPlanCommand } = await import('../commands/apply-plan.ts');
    report(await applyPlanCommand(context, file, options));
  });

  const undo = program
    .command('undo')
    .argument('[id]', 'a change of `orion undo --list`; the latest one when left out')
    .description('give files the bytes back that they had before a change');
  addWorkspaceOption(undo);
  undo
    .option('--list', 'show the changes that can be taken back')
    .option('--force', 'also a file that was edited since; that version is kept, too');
  addPathOptions(undo);
  undo.option('--json', 'as one JSON object on stdout').addHelpText('after', help.UNDO);
  undo.action(async (id: string | undefined, options: UndoOptions) => {
    const { undoCommand } = await import('../commands/undo.ts');
    report(await undoCommand(context, id, options));
  });

  const trust = program
    .command('trust')
    .description("accept the workspace's orion.config.json as it is now, and take over its store");
  addWorkspaceOption(trust);
  trust
    .option('--revoke', 'take it back')
    .option('--json', 'as one JSON object on stdout')
    .addHelpText('after', help.TRUST);
  trust.action(async (options: TrustOptions) => {
    const { trustCommand } = await import('../commands/trust.ts');
    report(await trustCommand(context, options));
  });

  addConversations(program, context, report);
  addTraces(program, context, report);

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

function addConversations(program: Command, context: CommandContext, report: Report): void {
  const conversations = program
    .command('conversations')
    .description('what was said in earlier turns')
    .addHelpText('after', help.CONVERSATIONS);
  const list = conversations.command('list').description('the newest 100 stored conversations');
  addWorkspaceOption(list);
  list
    .option('--project-id <id>', 'only those of this project')
    .option('--json', 'as one JSON object on stdout');
  list.action(async (options: ListConversationsOptions) => {
    const { listConversationsCommand } = await import('../commands/conversations.ts');
    report(await listConversationsCommand(context, options));
  });
  const show = conversations
    .command('show')
    .argument('<id>', 'a conversation of `orion conversations list`')
    .description('the messages of one, as a model reads them');
  addWorkspaceOption(show);
  show.option('--json', 'as one JSON object on stdout');
  show.action(async (id: string, options: WorkspaceOptions & { json?: boolean }) => {
    const { showConversationCommand } = await import('../commands/conversations.ts');
    report(await showConversationCommand(context, id, options));
  });
}

function addTraces(program: Command, context: CommandContext, report: Report): void {
  const trace = program
    .command('trace')
    .description('what happened inside earlier turns')
    .addHelpText('after', help.TRACE);
  const list = trace.command('list').description('the newest 100 recorded turns');
  addWorkspaceOption(list);
  list
    .option('--project-id <id>', 'only those of this project')
    .option('--json', 'as one JSON object on stdout');
  list.action(async (options: ListConversationsOptions) => {
    const { listTracesCommand } = await import('../commands/traces.ts');
    report(await listTracesCommand(context, options));
  });
  const show = trace
    .command('show')
    .argument('<request_id>', 'a turn of `orion trace list`')
    .description('one turn as a timeline: phases, model calls, tools and writes');
  addWorkspaceOption(show);
  show.option('--json', 'as one JSON object on stdout');
  show.action(async (id: string, options: WorkspaceOptions & { json?: boolean }) => {
    const { showTraceCommand } = await import('../commands/traces.ts');
    report(await showTraceCommand(context, id, options));
  });
  const exported = trace
    .command('export')
    .description('all recorded events as lines of JSON on stdout, oldest first');
  addWorkspaceOption(exported);
  exported
    .option('--request <id>', 'only those of this turn')
    .option('--project-id <id>', 'only those of this project')
    .option('--json', 'changes nothing: lines of JSON are the only form');
  exported.action(async (options: ExportTracesOptions) => {
    const { exportTracesCommand } = await import('../commands/traces.ts');
    report(await exportTracesCommand(context, options));
  });
}

function lineNumber(text: string): number {
  const line = Number(text);
  if (!/^\d+$/u.test(text) || !Number.isSafeInteger(line) || line < 1) {
    throw new InvalidArgumentError('It must be a line number, counted from 1.');
  }
  return line;
}

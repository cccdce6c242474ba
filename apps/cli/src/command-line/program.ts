import { ANSWER_WORDS } from '@orion/contracts';
import { Command, InvalidArgumentError } from 'commander';

import type { CommandResult } from '../process/finish.ts';
import type { CommandContext } from '../process/context.ts';
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
} from './options.ts';

/** Lets a command do what `load` loads when it is called, with its arguments and options. */
type Runs = (
  command: Command,
  load: () => Promise<(context: CommandContext, ...given: never[]) => Promise<CommandResult>>,
) => void;

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

  const runs: Runs = (command, load) => {
    command.action(async (...given: unknown[]) => {
      const run = await load();
      report(await run(context, ...(given as never[])));
    });
  };
  for (const add of [
    addRun,
    addRecoverSession,
    addSessions,
    addChanges,
    addTrust,
    addConversations,
    addTraces,
    addDemo,
  ]) {
    add(program, runs);
  }
  return program;
}

function addRun(program: Command, runs: Runs): void {
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
  runs(run, async () => (await import('../commands/run.ts')).runCommand);
}

function addRecoverSession(program: Command, runs: Runs): void {
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
  runs(recover, async () => (await import('../commands/recover-session.ts')).recoverSessionCommand);
}

function addSessions(program: Command, runs: Runs): void {
  const list = program
    .command('list-sessions')
    .description('write sessions that are open or were interrupted');
  addWorkspaceOption(list);
  list.option('--json', 'as one JSON object on stdout').addHelpText('after', help.LIST_SESSIONS);
  runs(list, async () => (await import('../commands/list-sessions.ts')).listSessionsCommand);

  const clean = program
    .command('clean-sessions')
    .description('put old interrupted write sessions aside');
  addWorkspaceOption(clean);
  clean
    .option('--all', 'those of the last hour too, and locks that nobody holds')
    .option('--yes', 'do not ask')
    .option('--json', 'as one JSON object on stdout')
    .addHelpText('after', help.CLEAN_SESSIONS);
  runs(clean, async () => (await import('../commands/clean-sessions.ts')).cleanSessionsCommand);
}

/** Of files, beside what a model writes. */
function addChanges(program: Command, runs: Runs): void {
  const plan = program
    .command('apply-plan')
    .argument('<plan.json>', 'a write plan; `-` reads it from stdin')
    .description('change files as a write plan says: all of it, or nothing');
  addWorkspaceOption(plan);
  plan.option('--dry-run', 'change nothing; show what would happen, and a diff');
  addApproveOption(plan);
  addPathOptions(plan);
  plan.option('--json', 'as one JSON object on stdout').addHelpText('after', help.APPLY_PLAN);
  runs(plan, async () => (await import('../commands/apply-plan.ts')).applyPlanCommand);

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
  runs(undo, async () => (await import('../commands/undo.ts')).undoCommand);
}

function addTrust(program: Command, runs: Runs): void {
  const trust = program
    .command('trust')
    .description("accept the workspace's orion.config.json as it is now, and take over its store");
  addWorkspaceOption(trust);
  trust
    .option('--revoke', 'take it back')
    .option('--json', 'as one JSON object on stdout')
    .addHelpText('after', help.TRUST);
  runs(trust, async () => (await import('../commands/trust.ts')).trustCommand);
}

function addDemo(program: Command, runs: Runs): void {
  const demo = program
    .command('demo')
    .description(
      'the whole story without a key: a file streams, the process is killed, the file is recovered',
    )
    .option('--keep', 'keep the temporary folder')
    .addHelpText('after', help.DEMO);
  runs(demo, async () => (await import('../demo/demo.ts')).demoCommand);

  // The demo's own model server: a process that survives the kill.
  const provider = program.command('demo-provider <document>', { hidden: true });
  runs(provider, async () => (await import('../demo/provider.ts')).demoProviderCommand);
}

function addConversations(program: Command, runs: Runs): void {
  const conversations = program
    .command('conversations')
    .description('what was said in earlier turns')
    .addHelpText('after', help.CONVERSATIONS);
  const list = conversations.command('list').description('the newest 100 stored conversations');
  addWorkspaceOption(list);
  list
    .option('--project-id <id>', 'only those of this project')
    .option('--json', 'as one JSON object on stdout');
  runs(list, async () => (await import('../commands/conversations.ts')).listConversationsCommand);
  const show = conversations
    .command('show')
    .argument('<id>', 'a conversation of `orion conversations list`')
    .description('the messages of one, as a model reads them');
  addWorkspaceOption(show);
  show.option('--json', 'as one JSON object on stdout');
  runs(show, async () => (await import('../commands/conversations.ts')).showConversationCommand);
}

function addTraces(program: Command, runs: Runs): void {
  const trace = program
    .command('trace')
    .description('what happened inside earlier turns')
    .addHelpText('after', help.TRACE);
  const list = trace.command('list').description('the newest 100 recorded turns');
  addWorkspaceOption(list);
  list
    .option('--project-id <id>', 'only those of this project')
    .option('--json', 'as one JSON object on stdout');
  runs(list, async () => (await import('../commands/traces.ts')).listTracesCommand);
  const show = trace
    .command('show')
    .argument('<request_id>', 'a turn of `orion trace list`')
    .description('one turn as a timeline: phases, model calls, tools and writes');
  addWorkspaceOption(show);
  show.option('--json', 'as one JSON object on stdout');
  runs(show, async () => (await import('../commands/traces.ts')).showTraceCommand);
  const exported = trace
    .command('export')
    .description('all recorded events as lines of JSON on stdout, oldest first');
  addWorkspaceOption(exported);
  exported
    .option('--request <id>', 'only those of this turn')
    .option('--project-id <id>', 'only those of this project')
    .option('--json', 'changes nothing: lines of JSON are the only form');
  runs(exported, async () => (await import('../commands/traces.ts')).exportTracesCommand);
}

function lineNumber(text: string): number {
  const line = Number(text);
  if (!/^\d+$/u.test(text) || !Number.isSafeInteger(line) || line < 1) {
    throw new InvalidArgumentError('It must be a line number, counted from 1.');
  }
  return line;
}

import { ANSWER_WORDS } from '@orion/contracts';
import { Command, InvalidArgumentError } from 'commander';

import type { CommandContext } from '../process/context.ts';
import { EXIT } from '../process/exit-code.ts';
import type { CommandResult } from '../process/finish.ts';
import { VERSION } from '../version.ts';
import * as help from './help.ts';
import { addOutputs } from './outputs-options.ts';
import type { Runs } from './runs.ts';
import { addServe } from './serve-options.ts';
import {
  addApproveOption,
  addBudgetOptions,
  addCommand,
  addJsonEvents,
  addJsonOption,
  addPathOptions,
  addProjectOption,
  addProviderOptions,
  addPlainOption,
  addTurnOptions,
  choice,
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
      writeErr: (text) => context.screen.block(text),
      getOutHelpWidth: () => context.stdout.columns(),
      getErrHelpWidth: () => context.stderr.columns(),
      getOutHasColors: () => false,
      getErrHasColors: () => false,
      // Whatever catches the error reports it, once.
      outputError: () => undefined,
    });

  const runs: Runs = (command, load) => {
    command.action(async (...given: unknown[]) => {
      const run = await load();
      report((await run(context, ...(given as never[]))) ?? { exitCode: EXIT.done });
    });
  };
  for (const add of [
    addRun,
    addChat,
    addServe,
    addRecoverSession,
    addSessions,
    addChanges,
    addTrust,
    addDoctor,
    addMcp,
    addConversations,
    addTraces,
    addOutputs,
    addCompletion,
    addDemo,
  ]) {
    add(program, runs);
  }
  return program;
}

function addRun(program: Command, runs: Runs): void {
  const run = addCommand(program, 'run', 'run one turn: ask, let the model work, exit')
    .argument('[prompt]', 'what to do; `-` or nothing reads it from stdin')
    .addHelpText('after', help.RUN);
  addJsonEvents(addPlainOption(addTurnOptions(addConversationOptions(run))));
  runs(run, async () => (await import('../commands/run.ts')).runCommand);
}

function addChat(program: Command, runs: Runs): void {
  const chat = addCommand(program, 'chat', 'talk on this terminal (also `orion` alone)')
    .addHelpText('beforeAll', help.CHAT_FIRST_LINE)
    .addHelpText('after', help.CHAT)
    .option('--plain', 'print lines and redraw nothing, as screen readers need it')
    .option('--no-bell', 'do not ring when a turn has ended');
  addTurnOptions(addConversationOptions(chat));
  runs(chat, async () => (await import('../commands/chat.ts')).chatCommand);
}

/** What `run` and `chat` have: the model, the protocol, the conversation. */
function addConversationOptions(command: Command): Command {
  addProviderOptions(command)
    .option('--protocol <name>', 'how a turn proceeds: standard (default), two-stage or controller')
    .addOption(
      choice('--mode <mode>', 'plan only reads; act may write (default: act)', ['plan', 'act']),
    )
    .option('--project-id <id>', 'the project of the turn, named in each of its events')
    .addOption(
      choice(
        '--recover <when>',
        'whether to recover an interrupted write session first (default: ask on a terminal, else no)',
        ['ask', 'yes', 'no'],
      ),
    )
    .option('--continue', 'continue the latest conversation of this workspace')
    .option('--resume <id>', 'continue a conversation from `orion conversations list`');
  return addBudgetOptions(command);
}

function addRecoverSession(program: Command, runs: Runs): void {
  const description = 'continue an interrupted write session, or end it';
  const recover = addCommand(program, 'recover-session', description)
    .argument('[id]', 'a session from `orion list-sessions`, or one that was put aside')
    .addHelpText('after', help.RECOVER_SESSION)
    .option(
      '--from <file>',
      'instead of an id: a text in the temporary folder, as printed when it could not be saved in its place',
    )
    .option('--finalize', 'write what is saved, without a model')
    .option(
      '--end-at <line>',
      'with --finalize: end the file before this line, which the question named',
      lineNumber,
    )
    .addOption(
      choice('--answer <answer>', 'with --finalize: answer the open question', ANSWER_WORDS),
    )
    .addOption(
      choice('--on-conflict <what>', 'with --finalize: what to do if the file has changed since', [
        'overwrite',
        'keep-both',
      ]),
    )
    .option('--discard', 'put the session aside; its text stays recoverable for 30 days')
    .option('--out <file>', 'copy the saved text to a new file');
  addBudgetOptions(addProviderOptions(recover));
  recover.option('--max-bytes <n>', 'the size limit of the file, in place of the configured one');
  addJsonEvents(addPlainOption(addTurnOptions(recover)));
  runs(recover, async () => (await import('../commands/recover-session.ts')).recoverSessionCommand);
}

function addSessions(program: Command, runs: Runs): void {
  const listed = 'list the write sessions that are open or were interrupted';
  const list = addCommand(program, 'list-sessions', listed).addHelpText(
    'after',
    help.LIST_SESSIONS,
  );
  runs(addJsonOption(list), async () => {
    return (await import('../commands/list-sessions.ts')).listSessionsCommand;
  });

  const clean = addCommand(program, 'clean-sessions', 'put old interrupted write sessions aside')
    .addHelpText('after', help.CLEAN_SESSIONS)
    .option('--all', 'include those of the last hour, and stale locks')
    .option('--yes', 'do not ask');
  runs(addJsonOption(clean), async () => {
    return (await import('../commands/clean-sessions.ts')).cleanSessionsCommand;
  });
}

/** Of files, beside what a model writes. */
function addChanges(program: Command, runs: Runs): void {
  const applied = 'apply a write plan: all of it, or nothing';
  const plan = addCommand(program, 'apply-plan', applied)
    .argument('<plan.json>', 'a write plan; `-` reads it from stdin')
    .addHelpText('after', help.APPLY_PLAN)
    .option('--dry-run', 'change nothing; show what would happen, and a diff');
  addJsonOption(addPathOptions(addApproveOption(plan)));
  runs(plan, async () => (await import('../commands/apply-plan.ts')).applyPlanCommand);

  const undone = 'restore files to what they were before a change';
  const undo = addCommand(program, 'undo', undone)
    .argument('[id]', 'a change from `orion undo --list` (default: the latest)')
    .addHelpText('after', help.UNDO)
    .option('--list', 'show the changes that can be undone')
    .option('--force', 'also restore files that were edited since; those versions are kept, too');
  addJsonOption(addPathOptions(undo));
  runs(undo, async () => (await import('../commands/undo.ts')).undoCommand);
}

function addTrust(program: Command, runs: Runs): void {
  const accepted = "accept the workspace's orion.config.json as it is now, and take over its store";
  const trust = addCommand(program, 'trust', accepted)
    .addHelpText('after', help.TRUST)
    .option('--revoke', 'withdraw the acceptance');
  runs(addJsonOption(trust), async () => (await import('../commands/trust.ts')).trustCommand);
}

function addDoctor(program: Command, runs: Runs): void {
  const inspected = 'check everything that a turn depends on, and say what to do';
  const doctor = addCommand(program, 'doctor', inspected)
    .addHelpText('after', help.DOCTOR)
    .option('--online', 'also ask the provider for a few words, and start the MCP servers');
  runs(addJsonOption(addProviderOptions(doctor)), async () => {
    return (await import('../commands/doctor.ts')).doctorCommand;
  });
}

function addMcp(program: Command, runs: Runs): void {
  const mcp = program
    .command('mcp')
    .description('show the MCP servers whose tools a model may call')
    .addHelpText('after', help.MCP);
  const load = (): Promise<typeof import('../commands/mcp.ts')> => import('../commands/mcp.ts');
  const list = addCommand(mcp, 'list', 'list the configured servers, without starting them');
  runs(addJsonOption(list), async () => (await load()).listMcpServersCommand);
  const test = addCommand(mcp, 'test', 'start one, print its tools, and stop it');
  addJsonOption(test.argument('<name>', 'a server from `orion mcp list`'));
  runs(test, async () => (await load()).testMcpServerCommand);
}

function addCompletion(program: Command, runs: Runs): void {
  const completion = program
    .command('completion')
    .description('print a script that lets a shell complete this command')
    .addArgument(program.createArgument('<shell>', 'your shell').choices(['bash', 'zsh', 'fish']))
    .addHelpText('after', help.COMPLETION);
  runs(completion, async () => (await import('../completion/shells.ts')).completionCommand);

  // What the script asks at each Tab.
  const complete = program.command('complete [words...]', { hidden: true });
  runs(complete, async () => (await import('../completion/complete.ts')).completeCommand);
}

function addDemo(program: Command, runs: Runs): void {
  const demo = program
    .command('demo')
    .description(
      'show a recovery without a key: a file streams, the process is killed, the file is recovered',
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
    .description('show what was said in earlier turns')
    .addHelpText('after', help.CONVERSATIONS);
  const load = (): Promise<typeof import('../commands/conversations.ts')> =>
    import('../commands/conversations.ts');
  const list = addCommand(conversations, 'list', 'list the newest 100 stored conversations');
  addJsonOption(addProjectOption(list));
  runs(list, async () => (await load()).listConversationsCommand);
  const show = addCommand(
    conversations,
    'show',
    'print the messages of one, as a model reads them',
  );
  addJsonOption(show.argument('<id>', 'a conversation from `orion conversations list`'));
  runs(show, async () => (await load()).showConversationCommand);
}

function addTraces(program: Command, runs: Runs): void {
  const trace = program
    .command('trace')
    .description('show what happened in earlier turns')
    .addHelpText('after', help.TRACE);
  const load = (): Promise<typeof import('../commands/traces.ts')> =>
    import('../commands/traces.ts');
  const list = addCommand(trace, 'list', 'list the newest 100 recorded turns');
  addJsonOption(addProjectOption(list));
  runs(list, async () => (await load()).listTracesCommand);
  const timeline = 'draw one turn as a timeline: phases, model calls, tools and writes';
  const show = addCommand(trace, 'show', timeline);
  addJsonOption(show.argument('<request_id>', 'a turn from `orion trace list`'));
  runs(show, async () => (await load()).showTraceCommand);
  const lines = 'print all recorded events as lines of JSON on stdout, oldest first';
  const exported = addCommand(trace, 'export', lines).option(
    '--request <id>',
    'only events of this turn',
  );
  addProjectOption(exported).option('--json', 'no effect: the output is always lines of JSON');
  runs(exported, async () => (await load()).exportTracesCommand);
}

function lineNumber(text: string): number {
  const line = Number(text);
  if (!/^\d+$/u.test(text) || !Number.isSafeInteger(line) || line < 1) {
    throw new InvalidArgumentError('It must be a line number, counted from 1.');
  }
  return line;
}

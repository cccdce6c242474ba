import { formatTraceLine } from '@orion/agent';
import type { Configuration, NotStored, Orion, OrionOptions } from '@orion/agent';
import { defined, toErrorInfo, type RunEvent } from '@orion/contracts';

import type { CommandContext } from '../process/context.ts';
import { exitCodeOf, type ExitCode } from '../process/exit-code.ts';
import { watchSignals } from '../process/interruption.ts';
import { finishOutput, type CommandResult } from '../process/finish.ts';
import { leaveProcess } from '../process/leave-process.ts';
import { eventInCommandWords, inCommandWords } from '../rendering/command-hints.ts';
import { errorLines, inPlace } from '../rendering/error-lines.ts';
import { notStoredLines } from '../rendering/not-stored-line.ts';
import { addToSummary, EMPTY_SUMMARY, type TurnSummary } from '../rendering/turn-summary.ts';
import { actionReview } from './approve-action.ts';
import { approval } from './approve-change.ts';
import { protectedPathQuestion } from './confirm-protected.ts';
import { placeOf } from './place.ts';
import { openForTurns, providerOf } from './with-orion.ts';
import { createAnswerScreen } from '../rendering/answer-screen.ts';
import { wantsPlain } from '../terminal/plain-wanted.ts';
import { createJsonView, createTerminalView, type TurnView } from '../rendering/turn-view.ts';
import { shellWording } from '../rendering/wording.ts';

const LAST_WORDS_MS = 500;

export type TurnTools = {
  readonly orion: Orion;
  /** Aborted when the person interrupts. */
  readonly signal: AbortSignal;
  /** Shows a turn to its end. */
  readonly show: (events: AsyncIterable<RunEvent>) => Promise<void>;
};

export type TurnSetup = {
  readonly context: CommandContext;
  readonly configuration: Configuration;
  /** Whether a model may be asked. */
  readonly withModel: boolean;
  readonly json: boolean;
};

/**
 * Runs what a command does with Orion: opened before, closed after, interrupted in order, and its end reported
 * as it was, whether it ended by itself, by an error or by a signal.
 */
export async function runWithOrion(
  setup: TurnSetup,
  body: (tools: TurnTools) => Promise<void>,
): Promise<CommandResult> {
  const { context, json } = setup;
  const { screen } = context;
  const approve = approval(context, setup.configuration.approve, 'turn');
  const view = createView(setup);
  let summary: TurnSummary = EMPTY_SUMMARY;
  let turnIsRunning = false;
  let committing = false;
  let isOver = false;
  let left = false;

  const interruption = watchSignals({
    onInterrupt: () => {
      // Before a turn there is nothing to save, and the command ends with an error that says so.
      if (!turnIsRunning) return;
      screen.line('Interrupted: saving what has arrived. Ctrl-C again stops at once.', 'warning');
    },
    exit: () => leaveNow(null, leaveProcess),
    kill: () => {
      const kill = (): void => void process.kill(process.pid, 'SIGKILL');
      if (isOver) kill();
      else leaveNow(null, kill);
    },
    isCommitting: () => committing,
  });
  const { signal } = interruption;
  // A reader that does not read must not keep a turn from ending.
  signal.addEventListener('abort', () => context.stdout.hurry());

  /** Ends the process without waiting for the turn; what is known by now decides the exit code. */
  function leaveNow(failure: unknown, leave: (exitCode: ExitCode) => void): void {
    if (left) return;
    left = true;
    const code = exitCode(summary, failure, signal.aborted);
    // Nor must it keep the process from ending.
    setTimeout(leave, LAST_WORDS_MS, code);
    void finishOutput(context, { exitCode: code, summary }, json).then(leave);
  }

  // A defect outside of the turn: what was saved stays, and the end is reported like any other.
  function crash(error: unknown): void {
    tellFailure(error, setup);
    leaveNow(error, leaveProcess);
  }
  process.on('uncaughtException', crash);

  async function show(events: AsyncIterable<RunEvent>): Promise<void> {
    turnIsRunning = true;
    for await (const given of events) {
      const event = eventInCommandWords(given);
      summary = addToSummary(summary, event);
      if (event.type === 'write_session') {
        committing = event.status === 'session_active.finalizing';
      }
      const slow = view.show(event);
      if (slow !== undefined) await slow;
    }
  }

  let notStored: NotStored | undefined;
  let thrown: unknown = null;
  try {
    const orion = await openRuntime(setup, approve, signal);
    interruption.onStop(() => orion.close());
    try {
      await body({ orion, signal, show });
    } finally {
      view.end();
      notStored = await closeOrion(orion, setup);
    }
  } catch (error) {
    thrown = error;
    tellFailure(error, setup);
  } finally {
    isOver = true;
    await interruption.dispose();
    process.off('uncaughtException', crash);
  }
  // The process is about to end, and has said its last words.
  if (left) await new Promise<never>(() => undefined);
  return {
    exitCode: exitCode(summary, thrown, signal.aborted),
    summary,
    ...defined({ notStored }),
  };
}

function openRuntime(
  { context, configuration, withModel }: TurnSetup,
  approve: NonNullable<OrionOptions['approve']>,
  signal: AbortSignal,
): Promise<Orion> {
  const provider = providerOf(configuration);
  return openForTurns(configuration, {
    approve,
    ...(context.interactive && approve !== 'never' && actionReview(context)),
    ...protectedPathQuestion(context, signal),
    ...defined({ provider: withModel ? provider : undefined }),
    ...(configuration.verbose && {
      onTrace: (event) => context.screen.line(formatTraceLine(event), 'faint'),
    }),
  });
}

/** Says what no turn could; answers with what is not stored, undefined where all is. */
async function closeOrion(
  orion: Orion,
  { context, configuration }: TurnSetup,
): Promise<NotStored | undefined> {
  const { screen } = context;
  const place = placeOf(context, configuration.workspace);
  await orion.close();
  for (let notice = orion.takeNotice(); notice !== null; notice = orion.takeNotice()) {
    screen.line(inPlace(notice, place), 'warning');
  }
  const notStored = orion.notStored();
  const lines = notStoredLines(notStored);
  for (const line of lines) screen.line(line, 'warning');
  return lines.length === 0 ? undefined : notStored;
}

function tellFailure(error: unknown, { context, configuration }: TurnSetup): void {
  const { screen } = context;
  const info = inCommandWords(toErrorInfo(error));
  for (const line of errorLines(info, placeOf(context, configuration.workspace)))
    screen.line(line, 'error');
  if (info.code === 'INTERNAL_ERROR' && configuration.verbose && error instanceof Error) {
    screen.block(error.stack ?? '', 'faint');
  }
}

function exitCode(summary: TurnSummary, failure: unknown, interrupted: boolean): ExitCode {
  const { status, lastError } = summary;
  const ended = failure === null ? (status === 'error' ? lastError : null) : toErrorInfo(failure);
  return exitCodeOf({
    status,
    stopReason: summary.stopReason,
    errorCode: ended?.code ?? null,
    sessionOpen: summary.sessionOpen,
    // A turn that came to its own end was not interrupted, however late the signal came.
    interrupted: interrupted && status === null,
  });
}

function createView({ context, configuration, json }: TurnSetup): TurnView {
  const { showContent, quiet } = configuration;
  const { screen, stdout, stderr, environment } = context;
  const shared = {
    screen:
      stdout.isTerminal && !wantsPlain(environment, configuration.plain)
        ? createAnswerScreen({ screen, stdout, colors: (environment['NO_COLOR'] ?? '') === '' })
        : { ...screen, content: (text: string) => screen.text(text) },
    wording: shellWording(placeOf(context, configuration.workspace)),
    now: () => performance.now(),
  };
  if (!json) return createTerminalView({ ...shared, quiet, showContent });
  // A person watches only if the lines of JSON go elsewhere.
  const watched = stderr.isTerminal && !stdout.isTerminal;
  const beside = createTerminalView({ ...shared, quiet: quiet || !watched, showContent: false });
  return createJsonView({ stdout, showContent, beside });
}

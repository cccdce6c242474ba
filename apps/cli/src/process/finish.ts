import type { NotStored } from '@orion/agent';

import { resultLine } from '../rendering/result-line.ts';
import type { TurnSummary } from '../rendering/turn-summary.ts';
import { jsonLine } from '../terminal/sanitize.ts';
import type { CommandContext } from './context.ts';
import { EXIT, type ExitCode } from './exit-code.ts';
import { leaveProcess, STOP_SIGNALS } from './leave-process.ts';

/** How a command ended: the summary of its turn, where it is one that runs turns. */
export type CommandResult = {
  readonly exitCode: ExitCode;
  readonly summary?: TurnSummary;
  /** Left out when all of it was stored, or nothing is known of it. */
  readonly notStored?: NotStored;
};

/** With `--json`, the last line; then everything that was written goes out. Answers the final exit code. */
export async function finishOutput(
  context: CommandContext,
  result: CommandResult,
  json: boolean,
): Promise<ExitCode> {
  const { stdout, stderr, screen } = context;
  // The outcome is final: a signal during a slow write still gives its exit code.
  const leave = (): void => leaveProcess(result.exitCode);
  for (const signal of STOP_SIGNALS) process.on(signal, leave);
  screen.clearProgress();
  if (json && result.summary !== undefined) {
    const line = resultLine(result.summary, result.exitCode, result.notStored);
    await stdout.write(jsonLine(JSON.stringify(line)));
  }
  await stdout.flush();
  const failure = stdout.failure();
  if (failure !== null) screen.line(`orion: stdout: ${failure.message}`, 'error');
  await stderr.flush();
  return failure !== null && result.exitCode === EXIT.done ? EXIT.failure : result.exitCode;
}

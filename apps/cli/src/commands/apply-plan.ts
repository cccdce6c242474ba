import { createReadStream } from 'node:fs';
import { resolve } from 'node:path';

import type { PlanReport } from '@orion/contracts';
import { defined, OrionError, type OrionErrorOptions } from '@orion/contracts';

import type { TurnOptions } from '../command-line/options.ts';
import type { CommandContext } from '../process/context.ts';
import { EXIT } from '../process/exit-code.ts';
import type { CommandResult } from '../process/finish.ts';
import { watchSignals } from '../process/interruption.ts';
import { leaveProcess } from '../process/leave-process.ts';
import { inCommandWords } from '../rendering/command-hints.ts';
import { diffLines } from '../terminal/diff-text.ts';
import { sanitizeLine } from '../terminal/sanitize.ts';
import { approval } from './approve-change.ts';
import { protectedPathQuestion } from './confirm-protected.ts';
import { configure } from './configure.ts';
import { openOrion, printJson } from './with-orion.ts';

export type ApplyPlanOptions = TurnOptions & { readonly dryRun?: boolean };

/** A plan holds the text of files, but no person or model writes more than this into one. */
const MAX_PLAN_BYTES = 64 * 1024 * 1024;

/** `orion apply-plan <plan.json>`: runs a write plan, or with `--dry-run` shows what it would do. */
export async function applyPlanCommand(
  context: CommandContext,
  file: string,
  options: ApplyPlanOptions,
): Promise<CommandResult> {
  const { dryRun } = options;
  const configuration = await configure(context, options);
  const approve = approval(context, configuration.approve, 'plan');
  const plan = await readPlan(context, file);
  let applying = false;
  const interruption = watchSignals({
    onInterrupt: () => undefined,
    exit: () => leaveProcess(EXIT.interrupted),
    kill: () => process.kill(process.pid, 'SIGKILL'),
    isCommitting: () => applying && dryRun !== true,
  });
  const orion = await openOrion(configuration, {
    approve,
    ...protectedPathQuestion(context, interruption.signal),
  });
  interruption.onStop(() => orion.close());
  let report: PlanReport;
  try {
    await orion.housekeep();
    applying = true;
    const { signal } = interruption;
    const done = await orion.applyPlan(plan, { signal, ...defined({ dryRun }) });
    report = { ...done, results: done.results.map(inOwnWords) };
  } finally {
    applying = false;
    await interruption.dispose();
    await orion.close();
  }
  // Printed when everything is closed: a slow reader holds nothing up.
  await (configuration.json ? printJson(context, report) : showReport(context, report));
  return { exitCode: report.status === 'failed' ? EXIT.failure : EXIT.done };
}

function inOwnWords(result: PlanReport['results'][number]): PlanReport['results'][number] {
  return result.error === null ? result : { ...result, error: inCommandWords(result.error) };
}

async function showReport({ stdout, screen }: CommandContext, report: PlanReport): Promise<void> {
  for (const warning of report.warnings) screen.line(warning, 'warning');
  for (const line of report.text.split('\n')) {
    await stdout.write(`${stdout.isTerminal ? sanitizeLine(line) : line}\n`);
  }
  for (const { error } of report.results) {
    if (error?.hint !== undefined) screen.line(`${error.code}: ${error.hint}`);
  }
  for (const change of report.changes) {
    if (change.not_kept.length > 0) {
      screen.line(`${change.target_file}: not kept: ${change.not_kept.join(', ')}`, 'warning');
    }
    if (change.diff === undefined) continue;
    if (stdout.isTerminal) {
      for await (const line of diffLines(linesOf(change.diff), change.crlf === true))
        await stdout.write(`${line}\n`);
    } else {
      await stdout.write(change.diff);
    }
    if (change.diff_cut === true) {
      screen.line(`${change.target_file}: the rest of its diff is left out.`, 'warning');
    }
  }
}

async function* linesOf(text: string): AsyncGenerator<string, void> {
  if (text !== '') yield* text.slice(0, -1).split('\n');
}

async function readPlan(context: CommandContext, file: string): Promise<unknown> {
  const name = file === '-' ? 'The plan on stdin' : `The plan ${JSON.stringify(file)}`;
  const invalid = (what: string, more: Pick<OrionErrorOptions, 'hint' | 'cause'>): OrionError =>
    new OrionError({ code: 'INVALID_PLAN', message: `${name} ${what}`, ...more });
  const bytes = await readBytes(context, file, name);
  if (bytes.length > MAX_PLAN_BYTES) {
    const hint = 'Divide it into several plans.';
    throw invalid(`has more than ${MAX_PLAN_BYTES} bytes.`, { hint });
  }
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (cause) {
    throw invalid('is not valid UTF-8.', { cause });
  }
  try {
    return JSON.parse(text) as unknown;
  } catch (cause) {
    throw invalid(`is not valid JSON: ${(cause as Error).message}`, { cause });
  }
}

/** All of it, or as much as shows that it is too much. */
async function readBytes(context: CommandContext, file: string, name: string): Promise<Buffer> {
  const stream: AsyncIterable<Uint8Array> =
    file === '-' ? context.stdin : createReadStream(resolve(context.currentDirectory, file));
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  try {
    for await (const chunk of stream) {
      bytes += chunk.length;
      chunks.push(chunk);
      if (bytes > MAX_PLAN_BYTES) break;
    }
  } catch (cause) {
    const { code = 'unknown reason' } = cause as NodeJS.ErrnoException;
    throw new OrionError({
      code: 'USAGE',
      message: `${name} cannot be read (${code}).`,
      hint: 'Name a JSON file, or `-` for stdin.',
      cause,
    });
  }
  return Buffer.concat(chunks);
}

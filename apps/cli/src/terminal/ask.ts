import { approvalPrompt, isYes, readApproval } from './answers.ts';
import type { Approval } from './answers.ts';
import type { Screen } from './screen.ts';

/** A person does not pause so long within a line, nor a terminal within a paste. */
const QUIET_MS = 100;
/** Ctrl-C, where the terminal passes it on as a character. */
const INTERRUPT = '\u0003';

/** Where a person is asked. */
export type Asker = { readonly screen: Screen; readonly stdin: NodeJS.ReadStream };

/**
 * Asks, and returns the line that the person types then, without its line ending; null at the end of the input. Rejects
 * with the signal's reason when it is aborted.
 *
 * On a terminal, the question is asked when everything before it was shown and nothing is being typed: what was typed
 * earlier, or follows the answer in a paste, answers nothing (B18).
 */
export async function askForLine(
  { screen, stdin }: Asker,
  question: string,
  signal: AbortSignal,
): Promise<string | null> {
  if (stdin.isTTY === true) {
    await untilAborted(screen.flush(), signal);
    await discardTyped(stdin, signal);
  }
  screen.ask(question);
  const typed = await readTypedLine(stdin, signal);
  if (typed !== null) screen.answered();
  return typed;
}

/**
 * Reads and drops what is typed until nothing comes any more. Line editing is switched off meanwhile: with it, a line
 * without its end could not be read yet.
 */
async function discardTyped(stdin: NodeJS.ReadStream, signal: AbortSignal): Promise<void> {
  const { promise: quiet, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, QUIET_MS);
  const onData = (chunk: string): void => {
    timer.refresh();
    if (chunk.includes(INTERRUPT)) process.kill(process.pid, 'SIGINT');
  };
  const onEnd = (): void => resolve();
  const wasRaw = stdin.isRaw;
  stdin.setEncoding('utf8').on('data', onData).on('end', onEnd).on('error', onEnd);
  try {
    stdin.setRawMode(true).resume();
    await untilAborted(quiet, signal);
  } finally {
    clearTimeout(timer);
    stdin.pause().setRawMode(wasRaw);
    stdin.off('data', onData).off('end', onEnd).off('error', onEnd);
  }
}

async function untilAborted(settled: Promise<void>, signal: AbortSignal): Promise<void> {
  const aborted = Promise.withResolvers<never>();
  const onAbort = (): void => aborted.reject(signal.reason as Error);
  if (signal.aborted) onAbort();
  signal.addEventListener('abort', onAbort);
  try {
    await Promise.race([settled, aborted.promise]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

function readTypedLine(stdin: NodeJS.ReadStream, signal: AbortSignal): Promise<string | null> {
  return new Promise((resolve, reject) => {
    let typed = '';
    const finish = (settle: () => void): void => {
      stdin.off('data', onData).off('end', onEnd).off('error', onEnd).pause();
      signal.removeEventListener('abort', onAbort);
      settle();
    };
    const onData = (chunk: string): void => {
      typed += chunk;
      const end = typed.search(/[\r\n]/u);
      if (end !== -1) finish(() => resolve(typed.slice(0, end)));
    };
    const onEnd = (): void => finish(() => resolve(typed === '' ? null : typed));
    const onAbort = (): void => finish(() => reject(signal.reason as Error));
    if (signal.aborted) {
      reject(signal.reason as Error);
      return;
    }
    if (stdin.readableEnded) {
      resolve(null);
      return;
    }
    signal.addEventListener('abort', onAbort);
    stdin.setEncoding('utf8');
    stdin.on('data', onData).on('end', onEnd).on('error', onEnd);
    stdin.resume();
  });
}

/** Asks whether something may happen, until there is an answer; no answer at all is a no. */
export async function askApproval<Other extends string = never>(
  asker: Asker,
  question: string,
  others: Readonly<Partial<Record<Other, string>>>,
  signal: AbortSignal,
): Promise<Approval | Other> {
  for (;;) {
    const typed = await askForLine(asker, approvalPrompt(question, others), signal);
    if (typed === null) return { approved: false, reason: 'nobody answered' };
    const answer = readApproval(typed, others);
    if (answer !== null) return answer;
    asker.screen.line('This is not one of the answers.');
  }
}

/** Asks a question that only a yes answers with yes; no answer at all is a no. */
export async function confirm(
  asker: Asker,
  question: string,
  signal: AbortSignal,
): Promise<boolean> {
  return isYes((await askForLine(asker, question, signal)) ?? '');
}

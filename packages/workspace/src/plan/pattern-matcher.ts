/**
 * Runs regular expressions of models and plans in a thread that can be stopped.
 *
 * R1. JavaScript's regular expressions backtrack. Some never finish in a useful time and block their thread, so they
 *     never run in this one.
 * R2. An expression that exceeds the limit is stopped together with its thread.
 */
import { Worker } from 'node:worker_threads';
import { OrionError } from '@orion/contracts';
import type { Clock, PatternMatcher, PatternMatches, PatternSearch } from '@orion/contracts';

/** Per call of `match`, in milliseconds. */
export const PATTERN_LIMIT_MS = 250;
/** For the start of the thread, even on a busy machine. */
const START_LIMIT_MS = 10_000;
const GRACE_MS = 20;
const MAX_PATTERN_LENGTH = 1000;
const MAX_HEAP_MIB = 128;

/** Plain JavaScript in a string, because every form of packaging would have to locate a separate file. */
const PROGRAM = `
const { parentPort, workerData } = require('node:worker_threads');
const { pattern, listed } = workerData;
function compile() {
  try { return new RegExp(pattern, 'gu'); } catch {}
  // Without this flag, some common but unnecessary escapes are valid.
  return new RegExp(pattern, 'g');
}
let expression;
try { expression = compile(); } catch (error) { parentPort.postMessage({ invalid: error.message }); }
if (expression !== undefined) {
  parentPort.on('message', (lines) => {
    let count = 0;
    const matches = [];
    for (let line = 0; line < lines.length; line++) {
      const text = lines[line];
      expression.lastIndex = 0;
      for (let found = expression.exec(text); found !== null; found = expression.exec(text)) {
        count++;
        const end = found.index + found[0].length;
        if (matches.length < listed) matches.push({ line, start: found.index, end });
        if (found[0].length === 0) expression.lastIndex++;
      }
    }
    parentPort.postMessage({ count, matches });
  });
  parentPort.postMessage({ ready: true });
}
`;

type Answer = { readonly ready: true } | { readonly invalid: string } | PatternMatches;

export function createPatternMatcher(
  clock: Clock,
  limits: { readonly matchMs?: number; readonly listed?: number } = {},
): PatternMatcher {
  const { matchMs = PATTERN_LIMIT_MS, listed = 5 } = limits;
  return {
    async open(pattern) {
      if (pattern.length > MAX_PATTERN_LENGTH) {
        throw invalidPattern(`has more than ${MAX_PATTERN_LENGTH} characters`);
      }
      const thread = new Thread(pattern, listed, clock);
      try {
        const answer = await thread.answer(START_LIMIT_MS);
        if ('invalid' in answer) {
          throw invalidPattern(`is not valid: ${answer.invalid}`);
        }
      } catch (error) {
        await thread.close();
        throw error;
      }
      return searchIn(thread, matchMs);
    },
  };
}

function searchIn(thread: Thread, limitMs: number): PatternSearch {
  return {
    async match(lines) {
      if (lines.length === 0) return { count: 0, matches: [] };
      thread.send(lines);
      const answer = await thread.answer(limitMs);
      if (!('matches' in answer)) throw new Error('the thread of a pattern answered out of turn');
      return answer;
    },
    close: () => thread.close(),
  };
}

/** Handles one request at a time. */
class Thread {
  readonly #worker: Worker;
  readonly #clock: Clock;
  #arrived: Answer | null = null;
  #failure: Error | null = null;
  #wake: () => void = () => undefined;

  constructor(pattern: string, listed: number, clock: Clock) {
    this.#clock = clock;
    this.#worker = new Worker(PROGRAM, {
      eval: true,
      workerData: { pattern, listed },
      env: {},
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MIB },
    });
    this.#worker.on('message', (answer: Answer) => {
      this.#arrived = answer;
      this.#wake();
    });
    this.#worker.on('error', (error) => {
      this.#failure = error;
      this.#wake();
    });
    this.#worker.on('exit', () => {
      this.#failure ??= new Error('the thread of a pattern has ended');
      this.#wake();
    });
  }

  send(lines: readonly string[]): void {
    this.#arrived = null;
    this.#worker.postMessage(lines);
  }

  async answer(limitMs: number): Promise<Answer> {
    let cancel = (): void => undefined;
    try {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
        cancel = this.#clock.schedule(limitMs, () => {
          // An answer that arrived while this thread was busy is processed before it counts as late.
          cancel = this.#clock.schedule(GRACE_MS, resolve);
        });
        if (this.#arrived !== null || this.#failure !== null) resolve();
      });
    } finally {
      cancel();
      this.#wake = (): void => undefined;
    }
    const answer = this.#arrived;
    this.#arrived = null;
    if (answer !== null) return answer;
    await this.close();
    // An expression that exhausts the memory of the thread is as hopeless as one that never finishes.
    throw new OrionError({
      code: 'MARKER_TIMEOUT',
      message: `The expression took longer than ${limitMs} ms and was stopped.`,
      ...(this.#failure === null ? {} : { cause: this.#failure }),
    });
  }

  async close(): Promise<void> {
    await this.#worker.terminate();
  }
}

function invalidPattern(why: string): OrionError {
  return new OrionError({
    code: 'INVALID_OPERATION',
    message: `The expression ${why}.`,
    hint: 'Correct it, or use a marker of type string.',
  });
}

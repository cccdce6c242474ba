/** Runs regular expressions of plans in a thread that can be stopped. */
import { OrionError } from '@orion/contracts';
import type { Clock, PatternMatcher, PatternMatches, PatternSearch } from '@orion/contracts';
import {
  COMPILE,
  KillableThread,
  MAX_PATTERN_LENGTH,
  START_LIMIT_MS,
  ThreadStopped,
} from '../thread/killable-thread.ts';

/** Per call of `match`, in milliseconds. */
export const PATTERN_LIMIT_MS = 250;
const PROGRAM = `${COMPILE}
const { parentPort, workerData } = require('node:worker_threads');
const { pattern, listed } = workerData;
let expression;
try { expression = compile(pattern, 'g'); } catch (error) { parentPort.postMessage({ invalid: error.message }); }
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
      const thread = new KillableThread<Answer>(PROGRAM, { pattern, listed }, clock);
      try {
        const answer = await answerOf(thread, START_LIMIT_MS);
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

function searchIn(thread: KillableThread<Answer>, limitMs: number): PatternSearch {
  return {
    async match(lines) {
      if (lines.length === 0) return { count: 0, matches: [] };
      thread.send(lines);
      const answer = await answerOf(thread, limitMs);
      if (!('matches' in answer)) throw new Error('the thread of a pattern answered out of turn');
      return answer;
    },
    close: () => thread.close(),
  };
}

async function answerOf(thread: KillableThread<Answer>, limitMs: number): Promise<Answer> {
  try {
    return await thread.answer(limitMs);
  } catch (error) {
    if (!(error instanceof ThreadStopped)) throw error;
    // An expression that exhausts the memory of the thread is as hopeless as one that never finishes.
    throw new OrionError({
      code: 'MARKER_TIMEOUT',
      message: `The expression took longer than ${limitMs} ms and was stopped.`,
      ...(error.cause === null ? {} : { cause: error.cause }),
    });
  }
}

function invalidPattern(why: string): OrionError {
  return new OrionError({
    code: 'INVALID_OPERATION',
    message: `The expression ${why}.`,
    hint: 'Correct it, or use a marker of type string.',
  });
}

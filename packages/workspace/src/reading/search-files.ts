/** Searches the files of a workspace for an expression of a model (R284). */
import { sep } from 'node:path';
import { OrionError, systemClock } from '@orion/contracts';
import type { SearchedFile, SearchReport, SearchRequest } from '@orion/contracts';
import { hasDescriptorPaths } from '../disk/anchored-directory.ts';
import type { PathPolicy } from '../path-policy/path-policy.ts';
import {
  KillableThread,
  MAX_PATTERN_LENGTH,
  START_LIMIT_MS,
  ThreadStopped,
} from '../thread/killable-thread.ts';
import { withinLines } from './line-pattern.ts';
import { selectFiles } from './list-files.ts';
import type { SelectedFiles } from './list-files.ts';
import { requiredText } from './required-text.ts';
import { SEARCH_PROGRAM } from './search-program.ts';
import type { SearchData } from './search-program.ts';

const LIMITS = {
  maxMatches: 200,
  maxFileBytes: 10 * 1024 * 1024,
  maxLineLength: 64 * 1024,
  maxShownLength: 400,
} as const;
const MAX_CONTEXT_LINES = 10;
const SEARCH_LIMIT_MS = 10_000;

type Counts = SearchReport['leftOut'] & {
  readonly searched: number;
  /** The file in which there are more matches than may be listed. */
  readonly more: string | null;
};

type Answer =
  | { readonly ready: true }
  | { readonly invalid: string }
  | { readonly file: SearchedFile; readonly matches: number }
  | { readonly counts: Counts };

/** `limitMs`: of the whole search, always by the real time. */
export async function searchFiles(
  policy: PathPolicy,
  request: SearchRequest,
  limitMs: number = SEARCH_LIMIT_MS,
): Promise<SearchReport> {
  const data = await searchDataOf(policy, request);
  const selected = await selectFiles(policy, request);
  const thread = new KillableThread<Answer>(SEARCH_PROGRAM, data, systemClock);
  try {
    const answer = await thread.answer(START_LIMIT_MS, request.signal);
    if ('invalid' in answer) throw invalidPattern(`is not valid: ${answer.invalid}`);
    return await new Search(thread, data.progress, limitMs, request.signal).run(selected);
  } catch (error) {
    if (request.signal?.aborted !== true) throw error;
    throw new OrionError({ code: 'ABORTED', message: 'The search was stopped.', cause: error });
  } finally {
    await thread.close();
  }
}

async function searchDataOf(policy: PathPolicy, request: SearchRequest): Promise<SearchData> {
  const { pattern, syntax, ignoreCase = false, contextLines = 0 } = request;
  if (pattern === '') throw invalidPattern('is empty');
  if (pattern.length > MAX_PATTERN_LENGTH) {
    throw invalidPattern(`has more than ${MAX_PATTERN_LENGTH} characters`);
  }
  const isLiteral = syntax === 'literal';
  if (isLiteral && /[\r\n]/u.test(pattern)) throw invalidPattern('has a line break');
  const expression = isLiteral ? pattern.replaceAll(/[\\^$.*+?()[\]{}|/]/gu, '\\$&') : pattern;
  const root = policy.root.endsWith(sep) ? policy.root : policy.root + sep;
  return {
    ...LIMITS,
    root,
    hasDescriptorPaths: await hasDescriptorPaths(),
    pattern: expression,
    scan: isLiteral ? expression : withinLines(expression),
    needle: ignoreCase ? null : needleOf(request),
    ignoreCase,
    contextLines: Math.min(contextLines, MAX_CONTEXT_LINES),
    progress: new Int32Array(new SharedArrayBuffer(4)),
  };
}

function needleOf({ pattern, syntax }: SearchRequest): string | null {
  if (syntax === 'regex') return requiredText(pattern);
  // oxlint-disable-next-line no-control-regex -- the range is that of ASCII
  return /^[\u0000-\u007f]*$/u.test(pattern) ? pattern : null;
}

class Search {
  readonly #thread: KillableThread<Answer>;
  readonly #progress: Int32Array;
  readonly #endsAt: number;
  readonly #signal: AbortSignal | undefined;
  readonly #files: SearchedFile[] = [];
  readonly #leftOut = { binary: 0, tooLarge: 0, unreadable: 0, longLines: 0 };
  #matches = 0;
  #searched = 0;
  #stopped: SearchReport['stopped'] = null;

  constructor(
    thread: KillableThread<Answer>,
    progress: Int32Array,
    limitMs: number,
    signal: AbortSignal | undefined,
  ) {
    this.#thread = thread;
    this.#progress = progress;
    this.#endsAt = systemClock.monotonic() + limitMs;
    this.#signal = signal;
  }

  async run({ walk, batches }: SelectedFiles): Promise<SearchReport> {
    /** The next batch is listed while the thread searches this one. */
    let searching: Promise<void> = Promise.resolve();
    for await (const batch of batches) {
      await searching;
      if (this.#stopped !== null) break;
      searching = this.#search(batch);
      searching.catch(() => undefined);
    }
    await searching;
    if (walk.truncated) this.#stopped ??= { reason: 'files', at: null };
    return {
      files: this.#files,
      matches: this.#matches,
      searched: this.#searched,
      leftOut: this.#leftOut,
      stopped: this.#stopped,
      refused: walk.refused,
    };
  }

  async #search(batch: readonly string[]): Promise<void> {
    this.#thread.send(batch);
    try {
      for (;;) {
        const left = Math.max(0, this.#endsAt - systemClock.monotonic());
        const answer = await this.#thread.answer(left, this.#signal);
        if ('counts' in answer) return this.#count(answer.counts);
        if (!('file' in answer)) throw new Error('the thread of a search answered out of turn');
        this.#files.push(answer.file);
        this.#matches += answer.matches;
      }
    } catch (error) {
      if (!(error instanceof ThreadStopped) || this.#signal?.aborted === true) throw error;
      const reason = error.cause === null ? 'time' : 'memory';
      this.#stopped = { reason, at: batch[Atomics.load(this.#progress, 0)] ?? null };
    }
  }

  #count({ searched, more, ...leftOut }: Counts): void {
    this.#searched += searched;
    for (const [reason, count] of Object.entries(leftOut)) {
      this.#leftOut[reason as keyof typeof leftOut] += count;
    }
    if (more !== null) this.#stopped = { reason: 'matches', at: more };
  }
}

function invalidPattern(why: string): OrionError {
  return new OrionError({
    code: 'INVALID_TOOL_ARGUMENTS',
    message: `The expression ${why}.`,
    hint: 'Correct it, or search for literal text.',
  });
}

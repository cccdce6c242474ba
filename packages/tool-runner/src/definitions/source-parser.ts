import { OrionError } from '@orion/contracts';
import type { Clock } from '@orion/contracts';

import { KillableWorker } from '../worker/killable-worker.ts';
import type { WorkerAnswer } from '../worker/killable-worker.ts';
import type { DefinitionsMessage, DefinitionsReply } from './definitions-worker.ts';
import type { LanguageId } from './languages.ts';
import type { FileDefinitions } from './list-definitions.ts';

/** The memory of the grammars is not part of it: `definitions-worker.ts` limits that. */
const MAX_HEAP_MIB = 256;

export type ParsedSource =
  | { readonly kind: 'parsed'; readonly definitions: FileDefinitions }
  /** The source itself is to blame. */
  | { readonly kind: 'stopped'; readonly because: 'time' | 'memory' }
  /** The time of the caller is over. */
  | { readonly kind: 'late' };

/** Parses sources one after another in a thread. What ends the thread costs the next source a new one. */
export class SourceParser {
  readonly #worker: KillableWorker;
  readonly #clock: Clock;
  readonly #signal: AbortSignal;
  readonly #loaded = new Set<LanguageId>();

  constructor(entry: string, { clock, signal }: { clock: Clock; signal: AbortSignal }) {
    this.#worker = new KillableWorker(entry, { maxHeapMib: MAX_HEAP_MIB, clock });
    this.#clock = clock;
    this.#signal = signal;
  }

  /** `fileMs`: for this source once its grammar is loaded. `endsAt`: of the clock's monotonic time. */
  async parse(
    language: LanguageId,
    source: string,
    { fileMs, endsAt }: { readonly fileMs: number; readonly endsAt: number },
  ): Promise<ParsedSource> {
    if (!this.#loaded.has(language)) {
      const loaded = await this.#ask({ language }, this.#left(endsAt));
      if (loaded.kind === 'stopped') return { kind: 'late' };
      this.#loaded.add(language);
    }
    const left = this.#left(endsAt);
    const answer = await this.#ask({ language, source }, Math.min(fileMs, left));
    if (answer.kind === 'stopped') {
      const isLate = answer.because === 'time' && left < fileMs;
      return isLate ? { kind: 'late' } : answer;
    }
    const reply = answer.value as DefinitionsReply;
    if (reply.kind === 'definitions') return { kind: 'parsed', definitions: reply.definitions };
    await this.close();
    return { kind: 'stopped', because: 'memory' };
  }

  async close(): Promise<void> {
    this.#loaded.clear();
    await this.#worker.close();
  }

  #left(endsAt: number): number {
    return Math.max(0, endsAt - this.#clock.monotonic());
  }

  async #ask(
    message: DefinitionsMessage,
    milliseconds: number,
  ): Promise<
    | Extract<WorkerAnswer, { kind: 'answer' }>
    | { readonly kind: 'stopped'; readonly because: 'time' | 'memory' }
  > {
    const answer = await this.#worker.ask(() => Promise.resolve(message), {
      milliseconds,
      signal: this.#signal,
    });
    if (answer.kind === 'answer') return answer;
    this.#loaded.clear();
    const { because } = answer;
    if (because !== 'abort') return { kind: 'stopped', because };
    throw new OrionError({ code: 'ABORTED', message: 'The call was cancelled.' });
  }
}

import { limitedSignal } from '@orion/contracts';
import type { Clock, LimitedSignal, LlmEvent, ModelSpending, TurnStop } from '@orion/contracts';
import type { Allowance } from './allowance.ts';

/** What a token is taken for while the provider has not counted: about four characters of English or of code. */
const CHARACTERS_PER_TOKEN = 4;

/** More than an adapter can have read ahead of its reader: one that says more has not closed its request. */
const LAST_WORDS_CHARACTERS = 512 * 1024;

/**
 * Watches one model call: counts what it streams into the turn's spending, and says when it has had enough.
 *
 * 1. The count of the provider replaces the estimate once the message is over. Of a call that was left or broke
 *    off it may be that of the beginning, so that the larger of the two counts.
 * 2. A count never cuts a call: it stands before the end of a message that is whole by then. What it says counts
 *    for the next call.
 * 3. Past its time the signal is aborted, so that a provider that has gone silent ends too.
 * 4. After `leave` everything still counts, and no limit cuts it: it has been read, or it ends soon.
 * 5. `end` must be called, as often as one likes; it leaves no timer behind.
 */
export class CallMeter {
  readonly #clock: Clock;
  readonly #spending: ModelSpending;
  readonly #allowance: Allowance;
  readonly #startedAt: number;
  readonly #tokensBefore: number;
  readonly #limited: LimitedSignal;
  #characters = 0;
  /** Of the arguments of the calls that are not yet complete, by their index. */
  readonly #arguments = new Map<number, number>();
  #reported: number | null = null;
  /** The message is over, so that the provider has counted all of it. */
  #finished = false;
  #cut: TurnStop | null = null;
  /** At how many characters the call was left. */
  #leftAt: number | null = null;
  #ended = false;

  constructor(clock: Clock, spending: ModelSpending, allowance: Allowance, outer: AbortSignal) {
    this.#clock = clock;
    this.#spending = spending;
    this.#allowance = allowance;
    this.#startedAt = clock.monotonic();
    this.#tokensBefore = spending.tokens;
    spending.calls += 1;
    this.#limited = limitedSignal(outer, clock, allowance.milliseconds, () => {
      this.#cut ??= allowance.onTime;
    });
  }

  /** For the adapter: aborted with the given signal, when the time is up, and by `leave`. */
  get signal(): AbortSignal {
    return this.#limited.signal;
  }

  /** The limit that this call ran into. */
  get cut(): TurnStop | null {
    return this.#cut;
  }

  /** Counts an event; true when the call is to be left now. */
  count(event: LlmEvent): boolean {
    switch (event.type) {
      case 'text-delta':
      case 'reasoning-delta':
        this.#characters += event.text.length;
        break;
      case 'tool-call-start':
        this.#characters += event.name.length;
        break;
      case 'tool-call-delta':
        this.#characters += event.argumentsDelta.length;
        this.#arguments.set(
          event.index,
          (this.#arguments.get(event.index) ?? 0) + event.argumentsDelta.length,
        );
        break;
      case 'tool-call-end': {
        // A provider that sends calls whole sends no deltas.
        const counted = this.#arguments.get(event.index) ?? 0;
        this.#characters += Math.max(0, event.call.arguments.length - counted);
        this.#arguments.delete(event.index);
        break;
      }
      case 'usage':
        this.#reported = Math.max(this.#reported ?? 0, event.usage.outputTokens);
        return this.#cut !== null;
      case 'finish':
        this.#finished = true;
        return this.#cut !== null;
      case 'error':
        return this.#cut !== null;
    }
    if (this.#leftAt !== null) return this.#characters > this.#leftAt + LAST_WORDS_CHARACTERS;
    if (this.#tokens() > this.#allowance.tokens) this.#cut ??= this.#allowance.onTokens;
    return this.#cut !== null;
  }

  /** Nothing more is wanted of the call: its request is closed, which is no limit. */
  leave(): void {
    this.#leftAt ??= this.#characters;
    this.#limited.abort();
  }

  end(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#limited.end();
    this.#spending.milliseconds += this.#clock.monotonic() - this.#startedAt;
    this.#spending.tokens = this.#tokensBefore + this.#tokens();
  }

  #tokens(): number {
    // A server that leaves its count at 0 has not counted, and no call is free.
    const estimate = Math.max(1, Math.ceil(this.#characters / CHARACTERS_PER_TOKEN));
    if (this.#reported === null || this.#reported === 0) return estimate;
    return this.#finished ? this.#reported : Math.max(this.#reported, estimate);
  }
}

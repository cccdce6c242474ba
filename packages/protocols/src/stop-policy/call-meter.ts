import { limitedSignal } from '@orion/contracts';
import type { Clock, LimitedSignal, LlmEvent, ModelSpending, TurnStop } from '@orion/contracts';
import type { Allowance } from './allowance.ts';

/** The estimate until the provider reports a count: a token is about four characters of English or code. */
const CHARACTERS_PER_TOKEN = 4;

/** More than an adapter can have read ahead. An adapter that sends more has not closed its request. */
const LAST_WORDS_CHARACTERS = 512 * 1024;

/**
 * Meters one model call: adds what it streams to the turn's spending, and reports when a limit is reached.
 *
 * 1. The provider's count replaces the estimate when the message is complete. If a call was left or broke off, the
 *    count may cover only its beginning, so the larger of the two applies.
 * 2. A provider's count never cuts a call, because it arrives when the message is already complete. It applies to the
 *    next call.
 * 3. When the time is up, the signal is aborted, so that a silent provider ends too. What the adapter had received by
 *    then is still to come (`hasLastWords`).
 * 4. After `leave` everything is still counted, but no limit cuts the call: the rest has been read already or ends
 *    soon.
 * 5. `end` must be called, and may be called repeatedly. It leaves no timer behind.
 */
export class CallMeter {
  readonly #clock: Clock;
  readonly #spending: ModelSpending;
  readonly #allowance: Allowance;
  readonly #startedAt: number;
  readonly #tokensBefore: number;
  readonly #limited: LimitedSignal;
  #characters = 0;
  /** The length of the arguments so far of each incomplete call, by index. */
  readonly #arguments = new Map<number, number>();
  #reported: number | null = null;
  /** The message is complete, so the provider has counted all of it. */
  #finished = false;
  #cut: TurnStop | null = null;
  /** The number of characters at which the call was left. */
  #leftAt: number | null = null;
  /** The number of characters at which the time was up. */
  #lateAt: number | null = null;
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
      this.#lateAt = this.#characters;
    });
  }

  /** For the adapter. Aborted with the outer signal, when the time is up, and by `leave`. */
  get signal(): AbortSignal {
    return this.#limited.signal;
  }

  /** The limit that this call reached, if any. */
  get cut(): TurnStop | null {
    return this.#cut;
  }

  /** Whether the time is up and the adapter may still pass on what it had received. A token limit allows no more text. */
  get hasLastWords(): boolean {
    return this.#lateAt !== null && this.#characters <= this.#lateAt + LAST_WORDS_CHARACTERS;
  }

  /** Counts an event. Returns true if the call must be left now. */
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
        // A provider that sends complete calls sends no deltas.
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

  /** Closes the request because nothing more is needed. This does not count as reaching a limit. */
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
    // A server that reports 0 has not counted, and no call is free.
    const estimate = Math.max(1, Math.ceil(this.#characters / CHARACTERS_PER_TOKEN));
    if (this.#reported === null || this.#reported === 0) return estimate;
    return this.#finished ? this.#reported : Math.max(this.#reported, estimate);
  }
}

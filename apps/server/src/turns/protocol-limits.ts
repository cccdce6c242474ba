import { OrionError } from '@orion/contracts';
import type { Clock } from '@orion/contracts';

import { RateLimit } from '../front-door/rate-limit.ts';
import type { ServerLimits } from '../limits.ts';

export type TurnRates = Pick<
  ServerLimits,
  'standardTurnsPerMinute' | 'twoStageTurnsPerMinute' | 'controllerTurnsPerMinute'
>;

/** How many turns of each protocol may begin (R266). */
export class ProtocolLimits {
  readonly #standard: RateLimit;
  readonly #others: ReadonlyMap<string, RateLimit>;

  constructor(clock: Clock, rates: TurnRates) {
    const perMinute = (turns: number): RateLimit => new RateLimit(clock, turns / 60, turns);
    this.#standard = perMinute(rates.standardTurnsPerMinute);
    this.#others = new Map([
      ['two-stage', perMinute(rates.twoStageTurnsPerMinute)],
      ['controller', perMinute(rates.controllerTurnsPerMinute)],
    ]);
  }

  /** Counts a turn that begins. Throws RATE_LIMITED. */
  admit(protocol: string): void {
    const seconds = (this.#others.get(protocol) ?? this.#standard).take();
    if (seconds === null) return;
    throw new OrionError({
      code: 'RATE_LIMITED',
      message: `This process cannot begin more turns of the protocol ${protocol} at the moment.`,
      retryable: true,
      details: { retryAfterSeconds: seconds },
    });
  }
}

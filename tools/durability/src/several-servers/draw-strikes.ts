/** Which faults strike one run, one after the other, and when: all of it follows from a seed. */
import { createRandom } from '@orion/common';
import type { Random } from '@orion/common';

const KINDS = ['kill', 'term', 'freeze', 'postgres', 'lost-answer', 'clock'] as const;
type Kind = (typeof KINDS)[number];

export type Strike = {
  /** From the first turn on. It is later if the one before is not over. */
  readonly atMs: number;
} & (
  | {
      readonly kind: 'kill' | 'term';
      /** In [0, 1): which of the processes that are there. */
      readonly place: number;
    }
  | { readonly kind: 'freeze'; readonly place: number; readonly forMs: number }
  | { readonly kind: 'postgres' | 'lost-answer'; readonly forMs: number }
  /** What the clock of another process is wrong by. */
  | { readonly kind: 'clock'; readonly place: number; readonly seconds: number }
);

const STRIKES = 10;
const FROM_MS = 1_500;
const TO_MS = 20_000;
const FROZEN_MS = { min: 2_000, max: 20_000 };
const AWAY_MS = { min: 1_000, max: 4_000 };
const CUT_MS = 1_000;
const DAY_SECONDS = 86_400;
const SHIFTS_SECONDS = [31 * DAY_SECONDS, -31 * DAY_SECONDS, 40, -40];

/** Each kind strikes once or twice. */
export function drawStrikes(seed: number): readonly Strike[] {
  const random = createRandom(seed);
  const more = shuffled(KINDS, random).slice(0, STRIKES - KINDS.length);
  const kinds = shuffled([...KINDS, ...more], random);
  const moments = kinds.map(() => random.between(FROM_MS, TO_MS)).toSorted((a, b) => a - b);
  return kinds.map((kind, index) => strikeOf(kind, moments[index] ?? TO_MS, random));
}

function strikeOf(kind: Kind, atMs: number, random: Random): Strike {
  switch (kind) {
    case 'kill':
    case 'term':
      return { atMs, kind, place: random.next() };
    case 'freeze': {
      const forMs = random.between(FROZEN_MS.min, FROZEN_MS.max);
      return { atMs, kind, place: random.next(), forMs };
    }
    case 'postgres':
      return { atMs, kind, forMs: random.between(AWAY_MS.min, AWAY_MS.max) };
    case 'lost-answer':
      return { atMs, kind, forMs: CUT_MS };
    case 'clock':
      return { atMs, kind, place: random.next(), seconds: random.pick(SHIFTS_SECONDS) };
  }
}

function shuffled<Item>(items: readonly Item[], random: Random): readonly Item[] {
  return items
    .map((item) => ({ item, order: random.next() }))
    .toSorted((a, b) => a.order - b.order)
    .map(({ item }) => item);
}

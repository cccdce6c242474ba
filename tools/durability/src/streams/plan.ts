import { createRandom } from '@orion/common';

import { SHAPES } from './shapes.ts';
import type { StreamShape } from './shapes.ts';

/**
 * When a kill falls: after the start of the process, at a random part of the stream (and a random time later, so
 * that no kill is in step with what was sent), or after the last byte.
 */
export type Moment =
  | { readonly kind: 'start'; readonly afterMs: number }
  | { readonly kind: 'stream'; readonly part: number; readonly afterMs: number }
  | { readonly kind: 'end'; readonly afterMs: number };

export type KillPlan = {
  readonly seed: number;
  readonly shape: StreamShape;
  readonly moment: Moment;
};

/** Everything about a kill follows from its seed. */
export function planKill(seed: number): KillPlan {
  const random = createRandom(seed);
  const shape = random.pick(SHAPES);
  return { seed, shape, moment: chooseMoment(random.next(), random.next(), random.next()) };
}

const LONGEST_START_MS = 500;
const LONGEST_DELAY_MS = 20;
const LONGEST_END_MS = 60;

function chooseMoment(kind: number, place: number, delay: number): Moment {
  if (kind < 0.1) return { kind: 'start', afterMs: place * LONGEST_START_MS };
  if (kind < 0.2) return { kind: 'end', afterMs: place * LONGEST_END_MS };
  return { kind: 'stream', part: place, afterMs: delay * LONGEST_DELAY_MS };
}

import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';

import type { Clock } from '@orion/contracts';

import type { Chance } from './chance.ts';

type Source = { readonly clock: Pick<Clock, 'now' | 'monotonic'>; readonly chance: Chance };

/**
 * Takes ids, times and chance of this whole program from `source`: what the product asks Node for itself would otherwise
 * differ from run to run. For a program that does nothing else; it cannot be taken back.
 */
export function takeOverBuiltins(source: () => Source): void {
  crypto.randomUUID = () => {
    const { chance } = source();
    const hex = Array.from({ length: 32 }, () => chance.between(0, 15).toString(16)).join('');
    // The version and the variant, as of any random one.
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20)}`;
  };
  syncBuiltinESMExports();
  Math.random = () => source().chance.next();
  Date.now = () => source().clock.now();
  performance.now = () => source().clock.monotonic();
}

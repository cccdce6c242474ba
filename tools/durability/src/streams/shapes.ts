import type { Random } from '@orion/common';
import type { Fault, Shape } from '@orion/llm-adapters/scripted';

import { endlessLine, textDocument, wideDocument } from './documents.ts';

/** A document and the way in which it flows. */
export type StreamShape = {
  readonly name: string;
  readonly target: string;
  document(random: Random): string;
  /** The flow until the kill; the recovery's is as fast as it can be. */
  flow(random: Random): Shape;
  /** What the provider does wrong until the kill. */
  readonly faults?: readonly Fault[];
};

export const SHAPES: readonly StreamShape[] = [
  {
    name: 'flat out',
    target: 'notes/flat-out.md',
    document: (random) => textDocument(random, random.between(4_000, 16_000), '\n'),
    flow: (random) => ({
      chunk: { min: 1, max: random.between(8, 80) },
      ...cuts(random, 4_000, 64_000),
    }),
  },
  {
    // About two events a line.
    name: '100 lines/s',
    target: 'notes/slow.md',
    document: (random) => textDocument(random, 300, '\n'),
    flow: (random) => ({
      chunk: { min: 1, max: 46 },
      eventsPerSecond: 200,
      ...cuts(random, 1, 200),
    }),
  },
  {
    name: 'endless line',
    target: 'dist/app.min.js',
    document: (random) => endlessLine(random, random.between(600_000, 1_000_000)),
    flow: (random) => ({
      chunk: { min: 1, max: 400 },
      eventsPerSecond: random.between(1_500, 4_000),
      ...cuts(random, 500, 9_000),
    }),
  },
  {
    name: 'CRLF',
    target: 'notes/windows.txt',
    document: (random) => textDocument(random, random.between(2_000, 5_000), '\r\n'),
    flow: (random) => ({
      chunk: { min: 1, max: 40 },
      eventsPerSecond: random.between(2_000, 8_000),
      ...cuts(random, 100, 5_000),
    }),
  },
  {
    name: 'multi-byte',
    target: 'notes/wide.md',
    document: (random) => wideDocument(random, random.between(1_500, 3_000)),
    flow: (random) => ({
      chunk: { min: 1, max: 12 },
      splitSurrogates: true,
      eventsPerSecond: random.between(3_000, 10_000),
      ...cuts(random, 60, 900),
    }),
  },
  {
    // The kill also falls into replies whose place is not proven yet.
    name: 'continued',
    target: 'notes/continued.md',
    document: (random) => textDocument(random, 3_000, '\n'),
    flow: (random) => ({
      chunk: { min: 1, max: 40 },
      eventsPerSecond: 4_000,
      ...cuts(random, 100, 3_000),
    }),
    faults: [
      { kind: 'length', reply: [1, 2, 3, 4], at: { lines: 500 } },
      { kind: 'disconnect', reply: [5], at: { lines: 300 } },
    ],
  },
];

/** Pieces of the body, cut anywhere; the largest differs from kill to kill. */
function cuts(random: Random, smallest: number, largest: number): Shape {
  return {
    bytes: { min: 1, max: random.between(smallest, largest) },
    seed: random.between(1, 1_000_000),
  };
}

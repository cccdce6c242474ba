import { createRandom } from '@orion/common';

import { ANSWERS, coreWays, DRESSES } from './answers.ts';
import type { Answer, Dress } from './answers.ts';
import type { Task } from './campaign.ts';
import { DOCUMENTS } from './documents.ts';
import type { Document } from './documents.ts';
import { FIRSTS } from './firsts.ts';

/** Parts of `first/answer/document/dress`; one that is left out or `*` means all. */
export type Only = readonly (string | undefined)[];

/** Every first message, way of answering, document and dress, or those that `only` names. */
export function wholeMatrix(only: Only = []): readonly Task[] {
  const [first, answer, document, dress] = only;
  const ways = pick(ANSWERS, answer).flatMap((one) =>
    pick(DRESSES, dress).map((other) => ({ answer: one, dress: other })),
  );
  return pick(FIRSTS, first).flatMap((one) =>
    pick(DOCUMENTS, document).map((other) => ({ first: one, document: other, ways })),
  );
}

/** Every first message of every document, and the ways of answering that the goal is measured with. */
export function coreMatrix(): readonly Task[] {
  const ways = coreWays();
  return wholeMatrix().map((task) => ({ ...task, ways }));
}

/**
 * So many runs of the matrix, chosen by the seed, so that each first message, each way of answering, each document
 * and each dress occurs as often as any other.
 */
export function sampleMatrix(count: number, seed: number): readonly Task[] {
  const random = createRandom(seed).next;
  const first = dealer(FIRSTS, random);
  const answer = dealer(ANSWERS, random);
  const document = dealer(DOCUMENTS, random);
  const dress = dealer(DRESSES, random);
  return Array.from({ length: count }, () => ({
    first: first(),
    document: document(),
    ways: [{ answer: answer(), dress: dress() }],
  }));
}

export function sizeOf(tasks: readonly Task[]): number {
  return tasks.reduce((sum, { ways }) => sum + ways.length, 0);
}

function pick<Item extends Answer | Dress | Document | { readonly name: string }>(
  items: readonly Item[],
  name: string | undefined,
): readonly Item[] {
  if (name === undefined || name === '' || name === '*') return items;
  const found = items.filter((item) => item.name === name);
  if (found.length > 0) return found;
  throw new Error(`there is no ${name} among: ${items.map((item) => item.name).join(' | ')}`);
}

/** Gives one after the other, in a new order each time when all were given. */
function dealer<Item>(items: readonly Item[], random: () => number): () => Item {
  let left: Item[] = [];
  return () => {
    if (left.length === 0) left = shuffled(items, random);
    return left.pop() as Item;
  };
}

function shuffled<Item>(items: readonly Item[], random: () => number): Item[] {
  return items
    .map((item) => ({ item, order: random() }))
    .toSorted((one, other) => one.order - other.order)
    .map(({ item }) => item);
}

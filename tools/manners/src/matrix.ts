import { ANSWERS, DRESSES } from './answers.ts';
import type { Answer, Dress } from './answers.ts';
import type { Task } from './campaign.ts';
import { DOCUMENTS } from './documents.ts';
import type { Document } from './documents.ts';
import { FIRSTS } from './firsts.ts';
import { createRandom } from './random.ts';

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

/**
 * So many runs of the matrix, chosen by the seed, so that each first message, each way of answering, each document
 * and each dress occurs as often as any other.
 */
export function sampleMatrix(count: number, seed: number): readonly Task[] {
  const random = createRandom(seed);
  const firsts = shuffled(FIRSTS, random);
  const answers = shuffled(ANSWERS, random);
  const documents = shuffled(DOCUMENTS, random);
  const dresses = shuffled(DRESSES, random);
  return Array.from({ length: count }, (_, index) => {
    // One step of the second list more whenever the first one begins again: no combination comes twice early.
    const round = Math.floor(index / firsts.length);
    return {
      first: at(firsts, index),
      document: at(documents, index + round),
      ways: [{ answer: at(answers, index + round), dress: at(dresses, index + round) }],
    };
  });
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

function at<Item>(items: readonly Item[], index: number): Item {
  return items[index % items.length] as Item;
}

function shuffled<Item>(items: readonly Item[], random: () => number): readonly Item[] {
  return items
    .map((item) => ({ item, order: random() }))
    .toSorted((one, other) => one.order - other.order)
    .map(({ item }) => item);
}

import { readFileSync } from 'node:fs';

import type { Mutant } from './mutants.ts';

/** A change after which the program does the same: nothing can notice it. */
export type Equivalent = {
  readonly file: string;
  /** The changed lines as a report prints them. */
  readonly from: string;
  readonly to: string;
  readonly reason: string;
};

export function readEquivalents(): readonly Equivalent[] {
  const text = readFileSync(new URL('../equivalent.json', import.meta.url), 'utf8');
  return JSON.parse(text) as Equivalent[];
}

/** The mutants that remain, and the entries of the package that no mutant matches any more. */
export function withoutEquivalents(
  mutants: readonly Mutant[],
  equivalents: readonly Equivalent[],
): { readonly mutants: readonly Mutant[]; readonly stale: readonly Equivalent[] } {
  const keyOf = ({ file, from, to }: Equivalent | Mutant): string => [file, from, to].join('\0');
  const known = new Set(equivalents.map(keyOf));
  const all = new Set(mutants.map(keyOf));
  return {
    mutants: mutants.filter((mutant) => !known.has(keyOf(mutant))),
    stale: equivalents.filter((each) => !all.has(keyOf(each))),
  };
}

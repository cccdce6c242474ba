import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import { rgPath } from '@vscode/ripgrep';

import { measure, runProgram } from './measure.ts';
import { spreadOf } from './statistics.ts';
import type { Spread } from './statistics.ts';

const PROGRAM = fileURLToPath(new URL('./programs/search.ts', import.meta.url));
const WORKSPACE = new URL('../../../packages/workspace/dist/index.js', import.meta.url).href;

type Search = {
  readonly pattern: string;
  readonly syntax: 'literal' | 'regex';
  readonly ignoreCase: boolean;
};

const SEARCHES: readonly Search[] = [
  { pattern: 'function needleOf', syntax: 'literal', ignoreCase: false },
  { pattern: 'FUNCTION needleof', syntax: 'literal', ignoreCase: true },
  { pattern: 'needleOf\\d+', syntax: 'regex', ignoreCase: false },
  { pattern: '^function\\s+\\w+Of\\d+', syntax: 'regex', ignoreCase: false },
  { pattern: 'needleOf5|haystackOf', syntax: 'regex', ignoreCase: false },
  { pattern: '[a-z]+Of(?:0|50|100)\\(', syntax: 'regex', ignoreCase: false },
];

export type SearchTime = Search & {
  readonly matches: number;
  readonly orionMs: Spread;
  readonly ripgrepMs: Spread;
  readonly ratio: Spread;
};

/** Searches the same tree alternately; ripgrep's time includes its start, ours the start of a thread. */
export async function compareSearches(root: string, folder: string, runs: number) {
  const results: SearchTime[] = [];
  for (const search of SEARCHES) {
    const pairs: { readonly orion: number; readonly ripgrep: number }[] = [];
    let found = 0;
    for (let run = 0; run < runs; run += 1) {
      const ripgrep = await runRipgrep(search, root);
      const args = [PROGRAM, WORKSPACE, root, JSON.stringify([search]), '1'];
      const { stdout } = await runProgram({ args, folder });
      const [[orion] = []] = JSON.parse(stdout) as { ms: number; matches: number }[][];
      if (orion?.matches !== ripgrep.matches)
        throw new Error('the searches differ in what they find');
      found = orion.matches;
      pairs.push({ orion: orion.ms, ripgrep: ripgrep.ms });
    }
    results.push({
      ...search,
      matches: found,
      orionMs: spreadOf(pairs.map(({ orion }) => orion)),
      ripgrepMs: spreadOf(pairs.map(({ ripgrep }) => ripgrep)),
      ratio: spreadOf(pairs.map(({ orion, ripgrep }) => orion / ripgrep)),
    });
  }
  return results;
}

async function runRipgrep({ pattern, syntax, ignoreCase }: Search, root: string) {
  const options = [
    ...(syntax === 'literal' ? ['--fixed-strings'] : []),
    ...(ignoreCase ? ['--ignore-case'] : []),
  ];
  const began = performance.now();
  const { stdout } = await promisify(execFile)(rgPath, [
    ...options,
    '--line-number',
    '--',
    pattern,
    root,
  ]);
  return { ms: performance.now() - began, matches: stdout.trimEnd().split('\n').length };
}

/** The peak memory of a process that runs every search once. */
export async function searchMemory(root: string, folder: string): Promise<number> {
  const args = [PROGRAM, WORKSPACE, root, JSON.stringify(SEARCHES), '1'];
  return (await measure({ args, folder })).peakMiB;
}

import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { measure } from './measure.ts';

const PROGRAM = fileURLToPath(new URL('./programs/write-invalid.ts', import.meta.url));
const CORE = new URL('../../../packages/core/dist/index.js', import.meta.url).href;
const WORKSPACE = new URL('../../../packages/workspace/dist/index.js', import.meta.url).href;

export type MemoryResult = {
  readonly text: string;
  readonly mebibytes: number;
  readonly peakMiB: number;
  readonly invalid: number;
  /** Validation, the search for the places, replacement and commit. */
  readonly finalizeMs: number;
};

/** Texts by the distance in bytes from one invalid place to the next; 0: there is none. */
const TEXTS: readonly (readonly [string, number])[] = [
  ['valid', 0],
  ['one byte of 4,000 invalid', 4000],
  ['one byte of 10 invalid', 10],
  ['nothing but half characters', 3],
];

/** What a process needs to write texts of these sizes, each in a process of its own. */
export async function measureMemory(
  folder: string,
  sizes: readonly number[],
): Promise<readonly MemoryResult[]> {
  const results: MemoryResult[] = [];
  for (const [text, every] of TEXTS) {
    for (const mebibytes of sizes) {
      const root = join(folder, 'root');
      await mkdir(root);
      const args = [PROGRAM, CORE, WORKSPACE, root, String(mebibytes), String(every)];
      const { peakMiB, stdout } = await measure({ args, folder });
      const figures = JSON.parse(stdout) as { found: number; replaced: number; ms: number };
      if (figures.found !== figures.replaced) throw new Error('not every place was replaced');
      if (figures.found === 0 && every > 0) throw new Error('nothing invalid was found');
      results.push({ text, mebibytes, peakMiB, invalid: figures.found, finalizeMs: figures.ms });
      await rm(root, { recursive: true });
    }
  }
  return results;
}

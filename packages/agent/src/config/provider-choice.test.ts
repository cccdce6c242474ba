import { readFile } from 'node:fs/promises';

import { ERROR_CODES } from '@orion/contracts';
import { PROVIDER_NAMES } from '@orion/llm-adapters';
import { expect, test } from 'vitest';

import { VENDORS } from './provider-choice.ts';

const read = (path: string): Promise<string> =>
  readFile(new URL(`../../../../${path}`, import.meta.url), 'utf8');

test('every place that names the providers names all of them', async () => {
  expect([...Object.keys(VENDORS), 'scripted']).toEqual(PROVIDER_NAMES);
  const vendors = Object.keys(VENDORS);
  for (const [place, text, names] of [
    ['hint', ERROR_CODES.PROVIDER_UNKNOWN, PROVIDER_NAMES],
    ['options', await read('apps/cli/src/command-line/options.ts'), PROVIDER_NAMES],
    // The scripted one is for tests and the demo.
    ['guide', await read('docs/guides/providers.md'), vendors],
  ] as const) {
    expect([place, ...names.filter((name) => !text.includes(name))]).toEqual([place]);
  }
});

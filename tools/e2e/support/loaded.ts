import { mkdir, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

import { expect } from 'vitest';

import type { Sandbox } from './sandbox.ts';

/** The text of all scripts that a command loads, by Node's own record. `name` is that of a new folder. */
export async function textOfLoaded(
  machine: Sandbox,
  name: string,
  args: readonly string[],
): Promise<string> {
  const folder = join(machine.root, name);
  await mkdir(folder);
  await machine.run(args, { env: { NODE_V8_COVERAGE: folder } });
  const urls: string[] = [];
  for (const record of await readdir(folder)) {
    const { result } = JSON.parse(await readFile(join(folder, record), 'utf8')) as {
      readonly result: readonly { readonly url: string }[];
    };
    urls.push(...result.map(({ url }) => url).filter((url) => url.startsWith('file:')));
  }
  expect(urls.length).toBeGreaterThan(0);
  const texts = await Promise.all(urls.map((url) => readFile(new URL(url), 'utf8')));
  return texts.join('\n');
}

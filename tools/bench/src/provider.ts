import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import type { RecordedRequest, Script } from '@orion/llm-adapters/scripted';

import { endTogether } from './end-together.ts';

export type Provider = {
  readonly url: string;
  /** Everything that was asked so far. */
  requests(): Promise<readonly RecordedRequest[]>;
  close(): void;
};

export async function startProvider(folder: string, script: Script): Promise<Provider> {
  const path = join(folder, 'script.json');
  await writeFile(path, JSON.stringify(script));
  const program = fileURLToPath(new URL('./programs/provider.ts', import.meta.url));
  const child = spawn(process.execPath, ['--conditions=@orion/source', program, path], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  endTogether(child);
  const [line] = (await once(child.stdout.setEncoding('utf8'), 'data')) as [string];
  const url = line.trim();
  return {
    url,
    requests: async () =>
      (await (await fetch(new URL('/requests', url))).json()) as readonly RecordedRequest[],
    close: () => child.kill(),
  };
}

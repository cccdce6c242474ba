import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';

import { expect, it } from 'vitest';

/** Hazard: this process has all the files open that it may. */

const PROGRAM = fileURLToPath(new URL('testing/few-descriptors.ts', import.meta.url));

async function withFree(free: number): Promise<unknown> {
  const line = `ulimit -n 64; exec "$0" --conditions=@orion/source "$@"`;
  const child = spawn('/bin/sh', ['-c', line, process.execPath, PROGRAM, String(free)], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [out, errors] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close'),
  ]);
  return errors === '' ? JSON.parse(out) : errors;
}

// How many a program takes to be started is up to Node: each number is another place in which there is none left.
for (const free of [0, 4, 8])
  it(
    `with ${free} free, what can be started is ended in time`,
    { tags: free === 4 ? ['long'] : [] },
    async () => {
      expect(await withFree(free)).toEqual({
        command: expect.stringMatching(free === 0 ? /EMFILE/u : /^timeout$|EMFILE/u),
        background: expect.stringMatching(free === 0 ? /EMFILE/u : /^exited$|EMFILE/u),
        server: expect.stringMatching(free === 0 ? /EMFILE/u : /^started$|EMFILE/u),
        left: 0,
      });
    },
  );

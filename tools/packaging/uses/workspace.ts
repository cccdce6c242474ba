// prints: 7 "a line\n" gone
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createWorkspace } from '@orion/workspace';

const root = await realpath(await mkdtemp(join(tmpdir(), 'orion-use-')));
const workspace = await createWorkspace({
  root,
  clock: {
    now: () => Date.now(),
    monotonic: () => performance.now(),
    schedule(milliseconds: number, callback: () => void) {
      const timer = setTimeout(callback, milliseconds);
      return () => clearTimeout(timer);
    },
  },
});
const expected = await workspace.checkTarget('a.txt', 'create');
const receipt = await workspace.commit({
  target: 'a.txt',
  operation: 'create',
  parts: [
    {
      kind: 'new',
      source: async function* source() {
        yield Buffer.from('a line\n');
      },
    },
  ],
  eol: 'match',
  expected,
  changeId: 'use',
  journal: () => Promise.resolve(),
});
const written = await readFile(join(root, 'a.txt'), 'utf8');
await workspace.undo({ id: 'use' });
const left = existsSync(join(root, 'a.txt')) ? 'there' : 'gone';
console.log(receipt.bytes, JSON.stringify(written), left);
await workspace.close();
await rm(root, { recursive: true, force: true });

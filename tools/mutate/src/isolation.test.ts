import { fork, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { expect, onTestFinished, test } from 'vitest';

import { isolationFor } from './isolation.ts';

/** Hazard: a mutant that ends what is none of its business. */

const KILLS = { package: 'p', code: new Map([['p/kill.ts', 'process.kill(-group);']]) };
const HARMLESS = { package: 'p', code: new Map([['p/a.ts', 'const a = 1;']]) };
const isPossible =
  spawnSync('bwrap', ['--ro-bind', '/', '/', '--unshare-pid', 'true']).status === 0;

test.runIf(isPossible)('a lane sees and reaches only what it has started', async () => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'orion-isolation-')));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const program = join(folder, 'looks.cjs');
  writeFileSync(
    program,
    `const pids = require('node:fs').readdirSync('/proc').map(Number).filter(Number.isInteger);
    process.send({ pids, own: process.pid, said: process.argv[2] });
    process.on('message', () => process.disconnect());`,
  );
  const isolation = isolationFor(KILLS, process.env['PATH']);
  if (isolation === null) throw new Error('no isolation');
  const child = fork(program, ['said'], isolation);
  const [{ pids, own, said }] = await once(child, 'message');
  expect(said).toBe('said');
  // bubblewrap's own first process, and this one.
  expect(pids).toEqual([1, own]);
  child.send('end');
  expect(await once(child, 'exit')).toEqual([0, null]);
});

test('code that sends signals is not mutated where that is not possible', () => {
  const nowhere = '/nonexistent';
  expect(() => isolationFor(KILLS, nowhere)).toThrow(/^p\/kill\.ts sends signals.* mutate p$/u);
  expect(isolationFor(HARMLESS, nowhere)).toBeNull();
});

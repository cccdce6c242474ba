import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';

import { test } from './support/test.ts';

test('the demo shows the whole story: exit 0, two equal hashes, and nothing left behind', async ({
  machine,
}) => {
  const temporary = join(machine.root, 'tmp');
  await mkdir(temporary);
  const ended = await machine.run(['demo'], { env: { TMPDIR: temporary } });
  expect(ended.exitCode, ended.stdout + ended.stderr).toBe(0);
  const output = ended.stdout + ended.stderr;
  const hashes = [...output.matchAll(/^ +(?:document|file) +sha256 ([0-9a-f]{64})$/gmu)];
  expect(hashes).toHaveLength(2);
  expect(hashes[0]?.[1]).toBe(hashes[1]?.[1]);
  expect(output).toMatch(/A document of 2\d,\d{3} lines/u);
  expect(output).toContain('kill -9');
  expect((await readdir(temporary)).filter((name) => name !== 'node-compile-cache')).toEqual([]);
});

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

import { expect, onTestFinished, test } from 'vitest';

const FAULTS = fileURLToPath(new URL('../faults/main.ts', import.meta.url));

/** A different share of all faults would be tried with another number; the whole is `npm run faults`. */
const EVERY = 251;

test('A3: a failing call leaves the old bytes or the new ones, nothing behind, and a retry that succeeds', async () => {
  const child = spawn(
    process.execPath,
    ['--conditions=@orion/source', FAULTS, '--no-real', '--every', String(EVERY)],
    { stdio: ['ignore', 'pipe', 'pipe'] },
  );
  onTestFinished(() => void child.kill());
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  }
  const [exitCode] = (await once(child, 'close')) as [number | null];
  expect(exitCode, output).toBe(0);
  const [, faults = '0', struck = '-1'] =
    /(\d+) faults, (\d+) reached the code, 0 failed/u.exec(output) ?? [];
  expect(Number(faults), output).toBeGreaterThan(50);
  expect(struck).toBe(faults);
}, 120_000);

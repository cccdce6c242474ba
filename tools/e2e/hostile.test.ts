import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

import { expect, onTestFinished, test } from 'vitest';

const HOSTILE = fileURLToPath(new URL('../hostile/main.ts', import.meta.url));

/** A share of the attacks; the whole is `npm run hostile`. */
const EVERY = 17;

test('B1–B28: what a provider, a repository or another user does is held off', async () => {
  const child = spawn(
    process.execPath,
    ['--conditions=@orion/source', HOSTILE, '--every', String(EVERY)],
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
  const [, made = '0', held = '-1', skipped = '0'] =
    /(\d+) attacks: (\d+) held off, 0 failed, (\d+) skipped/u.exec(output) ?? [];
  expect(Number(made), output).toBeGreaterThan(4);
  expect(Number(held) + Number(skipped), output).toBe(Number(made));
}, 180_000);

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

import { readCount } from '@orion/common';

const { values } = parseArgs({
  options: {
    /** A share of all pairs of deaths. */
    every: { type: 'string', default: '1' },
    /** Which share. */
    seed: { type: 'string' },
  },
});
const every = readCount('every', values.every);
const seed =
  values.seed === undefined
    ? Math.floor(Math.random() * 1_000_000_000)
    : readCount('seed', values.seed);
const ROOT = fileURLToPath(new URL('../../', import.meta.url));

process.stderr.write(`every ${every}, seed ${seed}\n`);
const vitest = spawn(
  process.execPath,
  [
    'node_modules/vitest/vitest.mjs',
    'run',
    'packages/agent/src/turn/continued/every-death.test.ts',
  ],
  {
    cwd: ROOT,
    stdio: 'inherit',
    env: { ...process.env, ORION_DEATHS_EVERY: String(every), ORION_DEATHS_SEED: String(seed) },
  },
);
const [code] = (await once(vitest, 'close')) as [number | null];
process.exitCode = code ?? 1;

// `npm run exits [-- --processes 500 --seed <n>]`: that many ends of processes under load, on two processors.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const { values } = parseArgs({
  options: { processes: { type: 'string', default: '500' }, seed: { type: 'string' } },
});
for (const [name, text] of Object.entries(values)) {
  if (!/^\d+$/.test(text ?? '0')) throw new Error(`--${name} must be a whole number`);
}
const { status } = spawnSync(
  process.execPath,
  ['node_modules/vitest/vitest.mjs', 'run', '--project', 'e2e', 'tools/e2e/exits.test.ts'],
  {
    cwd: fileURLToPath(new URL('../..', import.meta.url)),
    stdio: 'inherit',
    env: {
      ...process.env,
      ORION_EVERY_TEST: '1',
      ORION_EXITS: values.processes,
      ...(values.seed === undefined ? {} : { ORION_EXITS_SEED: values.seed }),
    },
  },
);
process.exitCode = status ?? 1;

// `npm run fuzz:protocols -- --runs 10000 [--seed n]`: many turns of every protocol against adversarial providers,
// and as many whole turns of the program, files and their receipts included.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const { values } = parseArgs({
  options: { runs: { type: 'string', default: '10000' }, seed: { type: 'string' } },
});
for (const [name, text] of Object.entries(values)) {
  if (!/^-?\d+$/.test(text ?? '0')) throw new Error(`--${name} must be a whole number`);
}
const root = fileURLToPath(new URL('../..', import.meta.url));
const { status } = spawnSync(
  process.execPath,
  [
    'node_modules/vitest/vitest.mjs',
    'run',
    'packages/protocols/src/adversaries.test.ts',
    'packages/agent/src/adversaries.test.ts',
    '--testTimeout=3600000',
    '--reporter=verbose',
  ],
  {
    cwd: root,
    stdio: 'inherit',
    env: {
      ...process.env,
      ORION_FUZZ_RUNS: values.runs,
      ...(values.seed === undefined ? {} : { ORION_FUZZ_SEED: values.seed }),
    },
  },
);
process.exitCode = status ?? 1;

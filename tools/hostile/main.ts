import { parseArgs } from 'node:util';

import { readCount } from '@orion/common';

import {
  ATTACKS,
  OWN_COMMAND,
  formatVerdict,
  make,
  measureHonest,
  whySkipped,
} from './src/index.ts';
import type { Verdict } from './src/index.ts';

const { values } = parseArgs({
  options: {
    /** Attacks whose kind or name contains this. */
    only: { type: 'string' },
    /** Only every nth attack. */
    every: { type: 'string', default: '1' },
    /** Another built command to attack, to see what it does not withstand. */
    cli: { type: 'string', default: OWN_COMMAND },
  },
});

const every = readCount('every', values.every, 1);
const chosen = ATTACKS.filter(
  ({ kind, name }) => values.only === undefined || `${kind} ${name}`.includes(values.only),
).filter((_attack, index) => index % every === 0);

const honest = await measureHonest(values.cli);
process.stdout.write(
  `${chosen.length} attacks; the honest run takes ${(honest.milliseconds / 1000).toFixed(1)} s and ${honest.memory === null ? '?' : Math.round(honest.memory / 1024 / 1024)} MB\n`,
);
const verdicts: Verdict[] = [];
for (const attack of chosen) {
  const skipped = whySkipped(attack);
  const verdict =
    skipped === null
      ? await make(attack, honest, values.cli)
      : { attack, skipped, wrong: [], milliseconds: 0, memory: null };
  verdicts.push(verdict);
  process.stdout.write(`${formatVerdict(verdict)}\n`);
}
const failed = verdicts.filter(({ wrong }) => wrong.length > 0).length;
const skipped = verdicts.filter((verdict) => verdict.skipped !== null).length;
process.stdout.write(
  `${verdicts.length} attacks: ${verdicts.length - failed - skipped} held off, ${failed} failed, ${skipped} skipped\n`,
);
process.exitCode = failed > 0 ? 1 : 0;

// @module-tag long
import { expect, test } from 'vitest';

import { runTool } from './support/tool.ts';

/** Hazard: the clock of a process is a month wrong, and it takes what another one runs or keeps for old. */
test('on Postgres, servers whose clocks are 31 days ahead and behind continue one turn', async (context) => {
  const only = ['--store', 'postgres', '--story', 'words', '--only', 'clock', '--cuts', '0'];
  const { exitCode, output } = await runTool(context, 'durability/resume.ts', only);
  expect(exitCode, output).toBe(0);
  // One that nobody disturbs, and two with clocks that are wrong either way.
  expect(output).toMatch(/^3 turns, 2 interruptions, \d+ s, 0 failed$/mu);
}, 120_000);

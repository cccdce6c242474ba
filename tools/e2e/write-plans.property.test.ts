import { planOperations, planResult, planTexts } from '@orion/testkit';
import type { PlanReport } from '@orion/contracts';
import fc from 'fast-check';
import { expect } from 'vitest';

import { sha256 } from './support/scripts.ts';
import { test } from './support/test.ts';

/** Hazard: what the real command writes is not what its operations say, one after the other. R107, R246. */

test.concurrent('a plan over many files does what its operations do one after the other, and one undo takes it back', async ({
  machine,
}) => {
  const seed = Number(process.env['ORION_SEED'] ?? Math.floor(Math.random() * 2 ** 31));
  const cases = fc
    .sample(
      fc.tuple(planTexts, fc.boolean(), fc.array(planOperations, { minLength: 1, maxLength: 4 })),
      { seed, numRuns: 120 },
    )
    .map(([text, crlf, operations]) => {
      const before = crlf ? text.replaceAll('\n', '\r\n') : text;
      return { before, operations, after: planResult(before, operations) };
    })
    .filter(({ after }) => after !== null)
    .slice(0, 24)
    .map((each, index) => ({ ...each, target: `folder ${index % 7}/${index}.txt` }));
  expect(cases.length, `seed ${seed}`).toBeGreaterThan(8);
  for (const { target, before } of cases) await machine.write(target, before);
  // Operations of different files are interleaved.
  const operations = [0, 1, 2, 3].flatMap((round) =>
    cases.flatMap(({ target, operations: own }) => {
      const operation = own[round];
      return operation === undefined ? [] : [{ ...operation, target_file: target }];
    }),
  );
  const ended = await machine.run(['apply-plan', '-', '--json'], {
    stdin: JSON.stringify({ intent: `seed ${seed}`, operations }),
  });
  expect(ended.exitCode, `seed ${seed}: ${ended.stdout}${ended.stderr}`).toBe(0);
  const report = JSON.parse(ended.stdout) as PlanReport;
  for (const { target, after } of cases) {
    const bytes = await machine.read(target);
    expect(String(bytes), `seed ${seed}, ${target}`).toBe(after);
    const change = report.changes.find((each) => each.target_file === target);
    expect(change?.after, `seed ${seed}, ${target}`).toBe(sha256(bytes));
  }
  const undone = await machine.run(['undo', report.plan_id]);
  expect(undone.exitCode, `seed ${seed}: ${undone.stderr}`).toBe(0);
  for (const { target, before } of cases) {
    expect(String(await machine.read(target)), `seed ${seed}, ${target}`).toBe(before);
  }
});

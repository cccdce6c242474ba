import { test as base } from 'vitest';
import type { TestContext } from 'vitest';

import { createSandbox, type Sandbox } from './sandbox.ts';

/** A test with a machine of its own, which is gone afterwards, whatever became of the test. */
export const test = base.extend<{ machine: Sandbox }>({
  // oxlint-disable-next-line no-empty-pattern -- vitest reads from the pattern which fixtures are needed
  machine: async ({}, use) => {
    const machine = await createSandbox();
    await use(machine);
    await machine.dispose();
  },
});

/** One that `npm test` leaves out, since smaller tests would mostly notice the same; `npm run test:long` runs it. */
export function longTest(
  title: string,
  body: (context: TestContext & { readonly machine: Sandbox }) => Promise<void>,
): void {
  test.concurrent(title, { tags: ['long'] }, body);
}

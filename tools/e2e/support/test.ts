import { test as base } from 'vitest';

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

import type { Fault } from '@orion/llm-adapters/scripted';
import { expect } from 'vitest';

import { continuationCases, cutOff } from './support/continuations.ts';
import { judge } from './support/outcomes.ts';
import { test } from './support/test.ts';

/** Without a proof of the join nothing is written: a length stop never ends in an unverified seam. */
const CASES = continuationCases({
  repeat_extra: ['exact', 'exact', 'exact'],
  polite: ['exact', null, 'exact'],
  restart: ['exact', 'exact', 'exact'],
  refence: ['exact', 'exact', 'exact or paused'],
  no_anchor: ['exact or paused', null, 'exact or paused'],
  start_late: ['exact or paused', 'exact or paused', 'exact or paused'],
  ignore: ['paused', null, 'paused'],
});

for (const given of CASES) {
  const { name, document, allowed, isShare } = given;
  const tags = isShare ? [] : ['long'];
  test.concurrent(
    `R047: a length stop in a long document is overcome: ${name}`,
    { tags },
    async ({ machine }) => {
      // In the middle of a line.
      const fault: Fault = { kind: 'length', reply: 1, at: { characters: 20_017 } };
      const provider = await machine.provider(cutOff(given, fault));

      const ended = await machine.ask(provider);

      expect(allowed, ended.stderr).toContain(await judge(machine, ended, document));
    },
  );
}

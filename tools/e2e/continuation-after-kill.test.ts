// @module-tag long
import type { Fault } from '@orion/llm-adapters/scripted';
import { expect } from 'vitest';

import { continuationCases, cutOff } from './support/continuations.ts';
import { judge } from './support/outcomes.ts';
import { test } from './support/test.ts';

/** Where the process is killed: inside a function of the code, between two sections of the Markdown. */
const KILLED_AT = 1503;

const CASES = continuationCases({
  repeat_extra: ['exact', 'exact', 'exact'],
  polite: ['exact', null, 'exact'],
  restart: ['exact', 'exact', 'exact'],
  // A fence around Markdown that has fences itself can be refused.
  refence: ['exact', 'exact', 'exact or paused'],
  // Not clean enough to be accepted: asked again, then bridged where the rest has lines that are unique.
  no_anchor: ['exact', null, 'exact or paused'],
  start_late: ['exact', 'exact', 'exact or paused'],
  // A refusal in one sentence, which the model then says is no part of the file: it may be too short.
  ignore: ['unverified', null, 'unverified'],
});

for (const given of CASES) {
  const { name, document, allowed, isShare } = given;
  const tags = isShare ? [] : ['long'];
  test.concurrent(
    `R047: a killed write of a long document is continued: ${name}`,
    { tags },
    async ({ machine }) => {
      const fault: Fault = { kind: 'stall', reply: 1, at: { lines: KILLED_AT } };
      const provider = await machine.provider(cutOff(given, fault));
      const before = document.text.split('\n').slice(0, KILLED_AT).join('\n');
      const { session } = await machine.askUntilKilled(provider, Buffer.byteLength(before));

      const ended = await machine.run(['recover-session', session.id]);

      expect(allowed, ended.stderr).toContain(await judge(machine, ended, document));
    },
  );
}

import { expect, test } from 'vitest';

import { client, CONTEXT, never, program } from './testing/made-servers.ts';

/** Hazard: what one turn asks of a server ends the call of another turn, half-way. */

/** As a tool of Python that is no coroutine does: nothing else is answered meanwhile. */
const BLOCKS = `
  send({ method: 'notifications/progress', params: { progressToken: token, progress: 1 } });
  const end = Date.now() + 2_500;
  while (Date.now() < end);
  answer('done');`;

test('a server that is busy with a call is not stopped for its list of tools', async () => {
  const made = client(program({ ACT: BLOCKS }), { startMs: 1_200 });
  const { tools } = await made.offer(never);
  const begun = Promise.withResolvers<void>();
  const called = tools[0]?.execute({}, { ...CONTEXT, onProgress: () => begun.resolve() });
  await begun.promise;
  const meanwhile = await made.offer(never);
  expect(meanwhile.leftOut.join()).toContain('it is busy with a call');
  expect(await called).toMatchObject({ result: { data: 'done' } });
  expect((await made.offer(never)).tools).toHaveLength(tools.length);
  expect(made.started()).toBe(1);
});

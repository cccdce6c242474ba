import { setTimeout as sleep } from 'node:timers/promises';

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

test(
  'a server that is at work on a call that was cancelled is stopped at the second list only',
  { tags: ['long'] },
  async () => {
    const made = client(program({ ACT: BLOCKS.replace('2_500', '4_000') }), { startMs: 1_200 });
    const { tools } = await made.offer(never);
    const cancelled = new AbortController();
    const onProgress = (): void => cancelled.abort();
    const context = { ...CONTEXT, signal: cancelled.signal, onProgress };
    await expect(tools[0]?.execute({}, context)).rejects.toThrow('the call was cancelled');
    expect((await made.offer(never)).leftOut.join()).toContain('it is busy with a call');
    expect((await made.offer(never)).leftOut.join()).toContain(
      'it did not list its tools within 1.2 s.',
    );
    expect(made.started()).toBe(1);
    expect((await made.offer(never)).tools).toHaveLength(tools.length);
    expect(made.started()).toBe(2);
  },
);

test('a server that has answered since a call was cancelled is not spared', async () => {
  const act = `if (globalThis.at = (globalThis.at ?? 0) + 1, at === 1) send({ method: 'notifications/progress', params: { progressToken: token, progress: 1 } });
    else { answer('done'); setTimeout(() => { for (;;); }, 50); }`;
  const made = client(program({ ACT: act }), { startMs: 1_200 });
  const { tools } = await made.offer(never);
  const cancelled = new AbortController();
  const context = { ...CONTEXT, signal: cancelled.signal, onProgress: () => cancelled.abort() };
  await expect(tools[0]?.execute({}, context)).rejects.toThrow('the call was cancelled');
  expect(await tools[0]?.execute({}, CONTEXT)).toMatchObject({ result: { data: 'done' } });
  await sleep(100);
  expect((await made.offer(never)).leftOut.join()).not.toContain('busy');
});

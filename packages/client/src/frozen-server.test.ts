import type { Clock } from '@orion/contracts';
import { createFakeClock } from '@orion/testkit';
import { expect, it } from 'vitest';

import { createOrionClient } from './client.ts';
import type { OrionClient } from './client.ts';
import { failure, json, startScriptedServer } from './testing/scripted-server.ts';
import type { Step } from './testing/scripted-server.ts';

/** Hazard: a server that holds connections open and answers nothing, or asks for an hour of patience, holds up a call. */

const silent: Step = () => undefined;

/** An answer that stops in its middle. */
const stalled: Step = (response) => {
  response.writeHead(200, { 'content-type': 'application/json' });
  response.write('{"turnId":');
};

async function clientOf(clock: Clock, ...steps: readonly Step[]) {
  const server = await startScriptedServer(steps);
  return { server, client: createOrionClient({ url: server.url, token: 'secret', clock }) };
}

it.each([
  ['never begins', silent],
  ['stalls in its middle', stalled],
])('a message whose answer %s is sent again after 15 s under the same name', async (_, step) => {
  const clock = createFakeClock();
  const { server, client } = await clientOf(clock, step, json(202, { turnId: 't' }));
  const sent = client.messages.send({ content: 'a' });
  await expect.poll(() => server.asked.length).toBe(1);
  await clock.advance(14_000);
  expect(server.asked).toHaveLength(1);
  await expect
    .poll(async () => {
      await clock.advance(1_000);
      return server.asked.length;
    })
    .toBe(2);
  expect(await sent).toEqual({ turnId: 't' });
  expect(new Set(server.asked.map(({ headers }) => headers['idempotency-key'])).size).toBe(1);
  expect(clock.monotonic()).toBeLessThan(30_000);
  expect(clock.pending()).toBe(0);
});

it.each<[string, number, (client: OrionClient) => Promise<unknown>]>([
  ['a poll', 40_000, ({ turns }) => turns.poll('t', { wait: 25 })],
  ['the end of a file', 300_000, ({ writeSessions }) => writeSessions.finalize('s')],
  [
    'an append, which is not repeated',
    Number.POSITIVE_INFINITY,
    ({ writeSessions }) => writeSessions.append('s', 0, new Uint8Array(1)),
  ],
])('%s has the time that it may take: %d ms', async (_, milliseconds, call) => {
  const limits: number[] = [];
  const fake = createFakeClock();
  const clock: Clock = {
    ...fake,
    schedule(limit, callback) {
      limits.push(limit);
      return fake.schedule(limit, callback);
    },
  };
  const { client } = await clientOf(clock, json(200, {}));
  await call(client);
  expect(new Set(limits)).toEqual(
    new Set(milliseconds === Number.POSITIVE_INFINITY ? [] : [milliseconds]),
  );
  expect(fake.pending()).toBe(0);
});

it.each([
  ['half an hour', '1800', 1_800_000],
  ['the rest of the day, after which there are tokens again', '86399', 86_399_000],
  ['a thousand million seconds', '1000000000', 1e12],
])('a pause of %s is not waited for, and is told', async (_, seconds, retryAfterMs) => {
  const { server, client } = await clientOf(
    createFakeClock(),
    failure(429, 'RATE_LIMITED', { 'retry-after': seconds }),
  );
  await expect(client.messages.send({ content: 'a' })).rejects.toMatchObject({
    code: 'RATE_LIMITED',
    retryAfterMs,
  });
  expect(server.asked).toHaveLength(1);
});

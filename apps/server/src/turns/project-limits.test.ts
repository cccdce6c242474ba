// What one project asks for leaves room to others.
import { createFakeAdapter, textReply } from '@orion/testkit';
import type { FakeReply } from '@orion/testkit';
import { expect, it } from 'vitest';

import { checkOptions } from '../configuration.ts';
import { limitsOf, runningLimits } from '../project-limits.ts';
import { codeOf, startTestServer } from '../testing/test-server.ts';
import { startTurns } from '../testing/test-turns.ts';

const hanging: FakeReply = async function* ({ options }) {
  await new Promise((resolve) => options.signal?.addEventListener('abort', resolve));
  yield* textReply('late');
};

it('a project has its own limits, those of all others, or the defaults', () => {
  const given = { '*': { running: 5, queued: 6 }, own: { running: 7, tokensPerDay: 8 } };
  expect(limitsOf(given, 'own')).toEqual({ running: 7, queued: 6, tokensPerDay: 8 });
  expect(limitsOf(given, 'constructor')).toEqual({ running: 5, queued: 6, tokensPerDay: null });
  expect(limitsOf({}, 'own')).toEqual({ running: null, queued: 5_000, tokensPerDay: null });
  expect(runningLimits(given)).toEqual({ others: 5, projects: new Map([['own', 7]]) });
  const own = { '*': { running: 5 }, free: { running: null } };
  expect(runningLimits(own)).toEqual({ others: 5, projects: new Map([['free', Infinity]]) });
  expect(runningLimits({}).others).toBe(Infinity);
});

it.each([
  [{ p: { running: 0 } }, 'running is 0'],
  [
    { p: { running: 2 ** 31 } },
    'running is 2147483648, but must be a whole number from 1 to 2147483647.',
  ],
  [{ '*': { queued: 1.5 } }, 'queued is 1.5'],
  [{ '*': { queued: null } }, 'queued is null'],
  [{ p: { tokensPerDay: '7' } }, 'tokensPerDay is "7"'],
  [{ p: { tokens: 1 } }, 'have "tokens"'],
  [{ p: 5 }, 'are not an object'],
  [{ '': {} }, 'are not an object'],
])('%j are no limits', (projectLimits, message) => {
  const check = () => checkOptions({ projectLimits: projectLimits as never });
  expect(check).toThrow(
    expect.objectContaining({
      code: 'CONFIG_INVALID',
      message: expect.stringContaining(message),
    }) as Error,
  );
});

it('a project with as many turns as may run waits, others do not, and interactive turns come first', async () => {
  const { submit, turns } = await startTurns({
    replies: [hanging, hanging, hanging],
    projectLimits: { p: { running: 1 } },
  });
  const send = (conversationId: string, more = {}) => submit({ conversationId, ...more });
  const first = await send('a');
  await expect.poll(() => turns.running()).toBe(1);
  const [batch, second] = [await send('b', { priority: 'batch' }), await send('c')];
  const other = await send('d', { projectId: 'q' });
  await expect.poll(() => turns.running()).toBe(2);
  const stateOf = async (turnId: string) => (await turns.service.find(turnId))?.state;
  await expect.poll(() => stateOf(other)).toBe('running');
  await turns.service.cancel(first);
  await expect.poll(() => stateOf(second)).toBe('running');
  expect(await stateOf(batch)).toBe('queued');
});

it('one with as many turns as may wait is refused, until one of them runs', async () => {
  const { submit, turns } = await startTurns({
    slots: 1,
    replies: [hanging, hanging],
    projectLimits: { '*': { queued: 1 } },
  });
  const first = await submit({ conversationId: 'a' });
  await expect.poll(async () => (await turns.service.find(first))?.state).toBe('running');
  await submit({ conversationId: 'b' });
  const full = { code: 'RATE_LIMITED', retryable: true, details: { retryAfterSeconds: 5 } };
  await expect(submit({ conversationId: 'c' })).rejects.toMatchObject(full);
  await submit({ conversationId: 'd', projectId: 'q' });
  await turns.service.cancel(first);
  await expect.poll(() => submit({ conversationId: 'c' }).catch(() => null)).not.toBeNull();
});

it('what is refused to one project is not taken from the turns that others may begin', async () => {
  const { submit, turns } = await startTurns({
    slots: 1,
    rates: { standardTurnsPerMinute: 4 },
    replies: [hanging, hanging],
    projectLimits: { p: { queued: 1 } },
  });
  await submit({ conversationId: 'a' });
  await expect.poll(() => turns.running()).toBe(1);
  await submit({ conversationId: 'b' });
  const full = { code: 'RATE_LIMITED', message: expect.stringContaining('project') as string };
  for (let again = 0; again < 5; again += 1)
    await expect(submit({ conversationId: 'c' })).rejects.toMatchObject(full);
  await submit({ conversationId: 'd', projectId: 'q' });
});

it('a client is told when the day is over on which its project may go on', async () => {
  const usage = { inputTokens: 90, outputTokens: 10, cachedTokens: 0, reasoningTokens: 0 };
  const spending: FakeReply = async function* () {
    yield { type: 'usage', usage };
    yield* textReply('done');
  };
  const { ask } = await startTestServer(
    { projectLimits: { spent: { tokensPerDay: 100 } } },
    { adapter: createFakeAdapter([spending, textReply('done')]) },
  );
  const send = (projectId: string) =>
    ask('/api/chat/messages', {
      headers: { accept: 'application/json' },
      json: { projectId, content: 'q', conversationId: `of-${projectId}`, priority: 'batch' },
    });
  const { status, json } = await send('spent');
  expect(status).toBe(202);
  const { turnId } = json as { turnId: string };
  await expect
    .poll(async () => (await ask(`/api/turns/${turnId}`)).json)
    .toMatchObject({ state: 'done' });
  const refused = await send('spent');
  expect([refused.status, codeOf(refused.json)]).toEqual([429, 'RATE_LIMITED']);
  const seconds = Number(refused.headers['retry-after']);
  expect(seconds).toBeGreaterThan(0);
  expect(seconds).toBeLessThanOrEqual(86_400);
  expect((await send('other')).status).toBe(202);
});

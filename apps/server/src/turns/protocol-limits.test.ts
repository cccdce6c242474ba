// Turns that begin are limited by their protocol, however it was chosen (R266).
import { createFakeClock, textReply } from '@orion/testkit';
import type { FakeReply } from '@orion/testkit';
import { expect, it } from 'vitest';

import { MESSAGE, startTurns } from '../testing/test-turns.ts';
import { ProtocolLimits } from './protocol-limits.ts';

const RATES = {
  standardTurnsPerMinute: 2,
  twoStageTurnsPerMinute: 60,
  controllerTurnsPerMinute: 1,
};

const hanging: FakeReply = async function* ({ options }) {
  await new Promise((resolve) => options.signal?.addEventListener('abort', resolve));
  yield* textReply('late');
};

function refusalOf(limits: ProtocolLimits, protocol: string): number | null {
  try {
    limits.admit(protocol);
    return null;
  } catch (error) {
    expect(error).toMatchObject({ code: 'RATE_LIMITED', retryable: true });
    return (error as { details: { retryAfterSeconds: number } }).details.retryAfterSeconds;
  }
}

it('as many as in a minute may begin at once, and then one after the other', async () => {
  const clock = createFakeClock();
  const limits = new ProtocolLimits(clock, RATES);
  const admit = (protocol: string) => refusalOf(limits, protocol);
  expect([admit('standard'), admit('standard'), admit('standard')]).toEqual([null, null, 30]);
  expect(admit('one of its own')).toBe(30);
  await clock.advance(29_000);
  expect(admit('standard')).toBe(1);
  await clock.advance(1_000);
  expect([admit('standard'), admit('standard')]).toEqual([null, 30]);
  expect([admit('controller'), admit('controller')]).toEqual([null, 60]);
  expect(Array.from({ length: 61 }, () => admit('two-stage')).at(-1)).toBe(1);
});

it('a turn counts for the protocol that is chosen for it, and one that is refused is not stored', async () => {
  const { submit, ended, turns } = await startTurns({
    rates: { standardTurnsPerMinute: 1, twoStageTurnsPerMinute: 1, controllerTurnsPerMinute: 1 },
    replies: [textReply('one'), textReply('two')],
    settings: { protocolOverrideEnabled: true },
  });
  const limited = { code: 'RATE_LIMITED', message: expect.stringContaining('standard') };
  await ended(await submit());
  await expect(submit()).rejects.toMatchObject(limited);
  await expect(submit({ metadata: { protocol: 'standard' } })).rejects.toMatchObject(limited);
  await submit({ protocol: 'two-stage', conversationId: 'c2' });
  await expect(
    submit({ metadata: { protocol: 'two_stage' }, conversationId: 'c3' }),
  ).rejects.toMatchObject({ message: expect.stringContaining('two-stage') });
  expect(await turns.service.list({ limit: 10 })).toHaveLength(2);
});

it('a repeat with its key takes no place, and one that is new is refused before anything is stored', async () => {
  const { turns, submit, ended } = await startTurns({
    rates: { standardTurnsPerMinute: 2 },
    replies: [textReply('one'), textReply('two'), textReply('three')],
  });
  const send = (key: string, conversationId: string) =>
    turns.service.submit(
      { ...MESSAGE, conversationId },
      { key, route: 'POST /r', bodySha256: 'aa' },
    );
  const { turn } = await send('k', 'a');
  const again = { isRepeat: true, turn: { turnId: turn.turnId } };
  expect(await send('k', 'a')).toMatchObject(again);
  await ended(turn.turnId);
  await ended((await send('k2', 'b')).turn.turnId);
  await expect(submit({ conversationId: 'c' })).rejects.toMatchObject({ code: 'RATE_LIMITED' });
  await expect(send('k3', 'c')).rejects.toMatchObject({ code: 'RATE_LIMITED' });
  expect(await send('k', 'a')).toMatchObject(again);
  expect(await turns.service.list({ limit: 10 })).toHaveLength(2);
  // A refusal is the limit's and not a failure of the store, which the person would be told of.
  const entries = await ended(await submit({ protocol: 'two-stage', conversationId: 'd' }));
  expect(JSON.stringify(entries)).not.toContain('notice');
});

it('a repeat is answered while too many turns wait', async () => {
  const { turns } = await startTurns({
    slots: 1,
    waitingTurns: 1,
    replies: [hanging, hanging],
  });
  const send = (key: string) =>
    turns.service.submit(
      { ...MESSAGE, conversationId: key },
      { key, route: 'POST /r', bodySha256: 'aa' },
    );
  await send('a');
  await expect.poll(() => turns.running()).toBe(1);
  await send('b');
  await expect(send('c')).rejects.toMatchObject({
    code: 'RATE_LIMITED',
    details: { retryAfterSeconds: 5 },
  });
  for (const key of ['a', 'b']) expect(await send(key)).toMatchObject({ isRepeat: true });
  // It has not used up its key either.
  await expect(send('c')).rejects.toMatchObject({ code: 'RATE_LIMITED' });
});

it('an unknown protocol is refused before anything is stored (R179)', async () => {
  const { submit, turns } = await startTurns({ settings: { protocolOverrideEnabled: true } });
  for (const protocol of [null, 'two-stage'] as const) {
    await expect(submit({ protocol, metadata: { protocol: 'none' } })).rejects.toMatchObject({
      code: 'PROTOCOL_UNSUPPORTED',
    });
  }
  expect(await turns.service.list({ limit: 10 })).toEqual([]);
});

import { createHmac } from 'node:crypto';

import type { PageAccess } from '@orion/contracts';
import { createFakeClock } from '@orion/testkit';
import type { FakeClock } from '@orion/testkit';
import { describe, expect, it } from 'vitest';

import { PageSessions } from './page-sessions.ts';

/** Hazard: a link or a session counts for longer, more often or elsewhere than it should (W5 to W10). */

const HOUR = 3_600_000;

function setUp({ token = 'a token of the server' } = {}) {
  const clock = createFakeClock();
  const stored: PageAccess[] = [];
  const latest = (): PageAccess => stored.at(-1) ?? { generation: 0, ended: {} };
  const open = (with_: { token?: string; clock?: FakeClock } = {}): PageSessions =>
    new PageSessions({
      token: with_.token ?? token,
      clock: with_.clock ?? clock,
      access: latest(),
      read: () => Promise.resolve(latest()),
      update: (change) => {
        stored.push(change(latest()));
        return Promise.resolve();
      },
    });
  return { clock, stored, open, sessions: open() };
}

const bearerOf = ({ id, key }: { id: string; key: string }): string => `${id}.${key}`;
const codeOf = (error: unknown): string => (error as { code: string }).code;

describe('a log-in link', () => {
  it('counts once, also after a restart', async () => {
    const { sessions, open } = setUp();
    const code = sessions.makeCode();
    const session = await sessions.redeem(code);
    expect(sessions.accepts(bearerOf(session))).toBe(true);
    await expect(sessions.redeem(code)).rejects.toMatchObject({ code: 'PAGE_LINK_USED' });
    await expect(open().redeem(code)).rejects.toMatchObject({ code: 'PAGE_LINK_USED' });
  });

  it('counts once for two that come at the same time', async () => {
    const { sessions } = setUp();
    const code = sessions.makeCode();
    const outcomes = await Promise.allSettled([sessions.redeem(code), sessions.redeem(code)]);
    expect(outcomes.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
  });

  it('is over after five minutes', async () => {
    const { sessions, clock } = setUp();
    const codes = [sessions.makeCode(), sessions.makeCode()];
    await clock.advance(5 * 60_000);
    await sessions.redeem(codes[0] ?? '');
    await clock.advance(1);
    await expect(sessions.redeem(codes[1] ?? '')).rejects.toMatchObject({
      code: 'PAGE_LINK_INVALID',
    });
  });

  it('holds at this server alone, and as it is', async () => {
    const { sessions, open } = setUp();
    const code = sessions.makeCode();
    await expect(open({ token: 'another token' }).redeem(code)).rejects.toMatchObject({
      code: 'PAGE_LINK_INVALID',
    });
    const later = code.replace(/^[0-9a-z]+/u, (until) =>
      (Number.parseInt(until, 36) + 1).toString(36),
    );
    await expect(sessions.redeem(later)).rejects.toMatchObject({ code: 'PAGE_LINK_INVALID' });
    await sessions.redeem(code);
  });

  it('cannot be guessed, nor locked out by those who try', async () => {
    const { sessions, clock } = setUp();
    const code = sessions.makeCode();
    for (let wrong = 0; wrong < 5; wrong += 1)
      await expect(sessions.redeem('x')).rejects.toMatchObject({ code: 'PAGE_LINK_INVALID' });
    await clock.advance(30_000);
    await expect(sessions.redeem('x')).rejects.toMatchObject({
      code: 'RATE_LIMITED',
      details: { retryAfterSeconds: 30 },
    });
    await sessions.redeem(code);
    for (let used = 0; used < 6; used += 1)
      await expect(sessions.redeem(code)).rejects.toMatchObject({ code: 'PAGE_LINK_USED' });
    await clock.advance(30_000);
    await expect(sessions.redeem('x')).rejects.toMatchObject({ code: 'PAGE_LINK_INVALID' });
  });
});

describe('a session of the page', () => {
  it('outlives a restart, and ends with the token', async () => {
    const { sessions, open } = setUp();
    const bearer = bearerOf(sessions.create());
    expect(open().accepts(bearer)).toBe(true);
    expect(open({ token: 'a new token' }).accepts(bearer)).toBe(false);
  });

  it('begins at once also for a server whose clock is a little behind', () => {
    const { sessions, clock, open } = setUp();
    const bearer = bearerOf(sessions.create());
    const acceptedBehind = (milliseconds: number): boolean =>
      open({ clock: createFakeClock(clock.now() - milliseconds) }).accepts(bearer);
    expect([acceptedBehind(200), acceptedBehind(60_000)]).toEqual([true, false]);
  });

  it.each([
    [
      'another key',
      ({ id, key }: { id: string; key: string }) =>
        `${id}.${key.replace(/.$/u, (last) => (last === '0' ? '1' : '0'))}`,
    ],
    [
      'another id',
      ({ id, key }: { id: string; key: string }) =>
        `${id.replace(/.$/u, (last) => (last === '0' ? '1' : '0'))}.${key}`,
    ],
    ['the id alone', ({ id }: { id: string }) => id],
    ['an empty key', ({ id }: { id: string }) => `${id}.`],
    ['a time that it did not have', ({ id, key }: { id: string; key: string }) => `z${id}.${key}`],
  ])('is not accepted with %s', (_what, change) => {
    const { sessions } = setUp();
    expect(sessions.accepts(change(sessions.create()))).toBe(false);
  });

  it('is over when it was not used for twelve hours', async () => {
    const { sessions, clock } = setUp();
    const bearer = bearerOf(sessions.create());
    await clock.advance(12 * HOUR - 1);
    expect(sessions.accepts(bearer)).toBe(true);
    await clock.advance(12 * HOUR - 1);
    expect(sessions.accepts(bearer)).toBe(true);
    await clock.advance(12 * HOUR);
    expect(sessions.accepts(bearer)).toBe(false);
  });

  it('is over after seven days, however it is used', async () => {
    const { sessions, clock } = setUp();
    const bearer = bearerOf(sessions.create());
    for (let hours = 0; hours < 7 * 24 - 6; hours += 6) {
      await clock.advance(6 * HOUR);
      expect(sessions.accepts(bearer)).toBe(true);
    }
    await clock.advance(6 * HOUR);
    expect(sessions.accepts(bearer)).toBe(false);
  });

  it('ends when it is signed out, for good', async () => {
    const { sessions, open } = setUp();
    const one = sessions.create();
    const other = bearerOf(sessions.create());
    await sessions.end(one.id);
    for (const each of [sessions, open()])
      expect([each.accepts(bearerOf(one)), each.accepts(other)]).toEqual([false, true]);
  });

  it('ends with all others, and so do links', async () => {
    const { sessions, open } = setUp();
    const bearer = bearerOf(sessions.create());
    const code = sessions.makeCode();
    await sessions.endAll();
    for (const each of [sessions, open()]) {
      expect(each.accepts(bearer)).toBe(false);
      // Not a proof by another key, which would look like that of a stranger.
      expect(() => each.prove(bearer.split('.')[0] ?? '', 'abc')).toThrow('This log-in is over.');
      await expect(each.redeem(code)).rejects.toMatchObject({ code: 'PAGE_LINK_INVALID' });
    }
    expect(sessions.accepts(bearerOf(sessions.create()))).toBe(true);
  });

  it('is proved by the server that knows its key', () => {
    const { sessions } = setUp();
    const { id, key } = sessions.create();
    const proof = createHmac('sha256', Buffer.from(key, 'hex'))
      .update('orion page challenge abc')
      .digest('hex');
    expect(sessions.prove(id, 'abc')).toBe(proof);
    expect(() => sessions.prove('x-y', 'abc')).toThrow('over');
  });

  it('stores nothing that is over', async () => {
    const { sessions, clock, stored } = setUp();
    for (let count = 0; count < 4; count += 1) await sessions.redeem(sessions.makeCode());
    expect(Object.keys(stored.at(-1)?.ended ?? {})).toHaveLength(4);
    await clock.advance(10 * 60_000);
    await sessions.redeem(sessions.makeCode());
    expect(Object.keys(stored.at(-1)?.ended ?? {})).toHaveLength(1);
  });
});

it('keeps a link used where the disk refuses to remember it', async () => {
  const clock = createFakeClock();
  const sessions = new PageSessions({
    token: 't',
    clock,
    access: { generation: 0, ended: {} },
    read: () => Promise.resolve({ generation: 0, ended: {} }),
    update: () => Promise.reject(Object.assign(new Error('full'), { code: 'DISK_FULL' })),
  });
  const code = sessions.makeCode();
  expect(await sessions.redeem(code).catch(codeOf)).toBe('DISK_FULL');
  expect(await sessions.redeem(code).catch(codeOf)).toBe('PAGE_LINK_USED');
});

describe('servers that share what is stored', () => {
  it('count a link once together', async () => {
    const { sessions, open } = setUp();
    const other = open();
    const code = sessions.makeCode();
    await sessions.redeem(code);
    expect(await other.redeem(code).catch(codeOf)).toBe('PAGE_LINK_USED');
  });

  it('learn within a second of what another one has ended', async () => {
    const { sessions, open, clock } = setUp();
    const other = open();
    const [first, second] = [sessions.create(), sessions.create()];
    const alive = async (): Promise<readonly boolean[]> => {
      await other.refresh();
      return [first, second].map((each) => other.accepts(bearerOf(each)));
    };
    expect(await alive()).toEqual([true, true]);
    await sessions.end(first.id);
    await clock.advance(999);
    expect(await alive()).toEqual([true, true]);
    await clock.advance(1);
    expect(await alive()).toEqual([false, true]);
  });

  it('forget nothing of what another one has ended meanwhile', async () => {
    const { sessions, open } = setUp();
    const other = open();
    const both = [sessions.create(), sessions.create()];
    await sessions.end(both[0]?.id ?? '');
    await other.end(both[1]?.id ?? '');
    expect(both.map((each) => open().accepts(bearerOf(each)))).toEqual([false, false]);
  });

  it('end everything, also what others have begun since they ended everything', async () => {
    const { sessions, open, clock } = setUp();
    const other = open();
    await other.endAll();
    await other.endAll();
    const session = other.create();
    await sessions.endAll();
    await clock.advance(1_000);
    await other.refresh();
    expect(other.accepts(bearerOf(session))).toBe(false);
  });

  it('take a link that another one made since it ended everything', async () => {
    const { sessions, open, clock } = setUp();
    const other = open();
    const before = sessions.makeCode();
    await other.endAll();
    await clock.advance(1_000);
    await sessions.redeem(other.makeCode());
    expect(await sessions.redeem(before).catch(codeOf)).toBe('PAGE_LINK_INVALID');
  });

  it('take no link that another one took back a moment ago', async () => {
    const { sessions, open } = setUp();
    const code = sessions.makeCode();
    await sessions.refresh();
    await open().endAll();
    expect(await sessions.redeem(code).catch(codeOf)).toBe('PAGE_LINK_INVALID');
  });

  it('know of the use of a session at another one, to the hour', async () => {
    const { sessions, open, clock, stored } = setUp();
    const other = open();
    const bearer = bearerOf(sessions.create());
    for (let minutes = 0; minutes < 13 * 60; minutes += 30) {
      await clock.advance(HOUR / 2);
      expect(sessions.accepts(bearer)).toBe(true);
    }
    await clock.advance(0);
    expect(stored).toHaveLength(13);
    await other.refresh();
    await clock.advance(12 * HOUR - 1);
    expect(other.accepts(bearer)).toBe(true);
  });

  it('take a session for over that none has used for twelve hours', async () => {
    const { sessions, open, clock, stored } = setUp();
    const other = open();
    const session = sessions.create();
    await clock.advance(HOUR);
    expect(sessions.accepts(bearerOf(session))).toBe(true);
    await clock.advance(0);
    expect(stored.at(-1)?.used).toEqual({ [session.id]: clock.now() });
    await clock.advance(12 * HOUR);
    await other.refresh();
    expect(other.accepts(bearerOf(session))).toBe(false);
    await other.end('0-0123456789abcdef01234567');
    expect(stored.at(-1)?.used).toEqual({});
  });

  it('store no use of a session that ended', async () => {
    const { sessions, clock, stored } = setUp();
    const session = sessions.create();
    await clock.advance(HOUR);
    expect(sessions.accepts(bearerOf(session))).toBe(true);
    await clock.advance(0);
    await sessions.end(session.id);
    expect(stored.map(({ used }) => Object.keys(used ?? {}))).toEqual([[session.id], []]);
  });

  it('trust what they know while nothing can be read', async () => {
    const clock = createFakeClock();
    const sessions = new PageSessions({
      token: 't',
      clock,
      access: { generation: 0, ended: {} },
      read: () => Promise.reject(new Error('away')),
      update: () => Promise.reject(new Error('away')),
    });
    const session = sessions.create();
    await sessions.refresh();
    expect(sessions.accepts(bearerOf(session))).toBe(true);
    await expect(sessions.redeem(sessions.makeCode())).rejects.toThrow('away');
  });
});

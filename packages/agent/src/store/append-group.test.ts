import { OrionError, systemClock } from '@orion/contracts';
import type { AppendOutcome, Clock, TurnAppend } from '@orion/contracts';
import { createFakeClock } from '@orion/testkit';
import { expect, it } from 'vitest';

import { AppendGroup } from './append-group.ts';
import type { GroupMember } from './append-group.ts';

/** Hazard: a turn costs a statement of its own, is in two at a time, or keeps the others waiting. */

function opened(answer: (call: number) => Promise<void> = () => Promise.resolve()) {
  return openedOn(createFakeClock(), answer);
}

function openedOn<Time extends Clock>(clock: Time, answer: (call: number) => Promise<void>) {
  const statements: string[][] = [];
  const heard: string[] = [];
  const group = new AppendGroup(
    {
      async appendAll(appends: readonly TurnAppend[]): Promise<readonly AppendOutcome[]> {
        statements.push(appends.map(({ turnId }) => turnId));
        await answer(statements.length);
        return appends.map(({ turnId }) =>
          turnId === 'gone'
            ? { kind: 'fenced' }
            : { kind: 'stored', lastSeq: statements.length, cancelRequested: false },
        );
      },
    },
    clock,
  );
  const member = (turnId: string): GroupMember => ({
    take: () => ({ turnId, epoch: 1, expectSeq: 1, events: [] }),
    answered: (outcome) => heard.push(`${turnId} ${outcome.kind}`),
    failed: (error) => heard.push(`${turnId} ${String(error)}`),
  });
  /** A turn that passes on what it holds, a few promises later. */
  const passOn = (turnId: string) => (): void => {
    void (async () => {
      for (let step = 0; step < 20; step += 1) await Promise.resolve();
      group.add(member(turnId), { urgent: false });
    })();
  };
  return { clock, group, statements, heard, member, passOn };
}

async function until(isThere: () => boolean): Promise<void> {
  while (!isThere()) await new Promise((resolve) => setImmediate(resolve));
}

const away = (retryable: boolean): OrionError =>
  new OrionError({ code: 'STORE_UNAVAILABLE', message: 'away', retryable });

it('stores at once after a pause, then all turns once in an interval, each with its own outcome', async () => {
  const { clock, group, statements, heard, member } = opened();
  const [one, gone, two] = [member('one'), member('gone'), member('two')];
  group.add(one, { urgent: false });
  group.add(two, { urgent: false });
  await clock.advance(0);
  expect(statements).toEqual([['one', 'two']]);
  heard.length = 0;
  group.add(one, { urgent: false });
  await clock.advance(20);
  group.add(gone, { urgent: false });
  group.add(one, { urgent: false });
  group.add(two, { urgent: false });
  await clock.advance(12);
  expect(statements).toHaveLength(1);
  await clock.advance(1);
  expect(statements.slice(1)).toEqual([['one', 'gone', 'two']]);
  expect(heard).toEqual(['one stored', 'gone fenced', 'two stored']);
  expect(clock.pending()).toBe(0);
});

it('asks for held text right before a flush, and stores it with that one', async () => {
  const { clock, group, statements, member, passOn } = opened();
  expect(group.beforeFlush(passOn('early'))).toBeNull();
  group.add(member('one'), { urgent: false });
  await clock.advance(0);
  expect(group.beforeFlush(passOn('held'))).not.toBeNull();
  await clock.advance(10);
  group.beforeFlush(passOn('taken back'))?.();
  group.add(member('one'), { urgent: false });
  await clock.advance(22);
  expect(statements).toEqual([['one']]);
  await clock.advance(1);
  expect(statements.slice(1)).toEqual([['one', 'held']]);
  await clock.advance(0);
  const takeBack = group.beforeFlush(passOn('alone'));
  expect(clock.pending()).toBe(1);
  takeBack?.();
  expect(clock.pending()).toBe(0);
});

it('holds text while a statement is under way, but not for longer than 250 ms', async () => {
  const answered = Promise.withResolvers<void>();
  const { clock, group, statements, heard, member, passOn } = opened((call) =>
    call === 1 ? answered.promise : Promise.resolve(),
  );
  group.add(member('one'), { urgent: false });
  await clock.advance(0);
  group.beforeFlush(() => {
    heard.push('asked');
    passOn('held')();
  });
  await clock.advance(249);
  expect(heard).toEqual([]);
  await clock.advance(1);
  expect(heard).toEqual(['asked']);
  group.beforeFlush(passOn('later'));
  expect(statements).toEqual([['one']]);
  answered.resolve();
  await clock.advance(0);
  expect(statements.slice(1)).toEqual([['held']]);
  await clock.advance(33);
  expect(statements.slice(2)).toEqual([['later']]);
});

it('has text that is held wait 250 ms for an urgent statement, too', async () => {
  const { clock, group, heard, member } = opened(() => new Promise(() => undefined));
  expect(group.beforeFlush(() => undefined)).toBeNull();
  group.add(member('urgent'), { urgent: true });
  await clock.advance(1_000);
  expect(group.beforeFlush(() => heard.push('asked'))).not.toBeNull();
  await clock.advance(0);
  group.beforeFlush(() => heard.push('asked again'));
  await clock.advance(249);
  expect(heard).toEqual(['asked']);
  await clock.advance(1);
  expect(heard).toEqual(['asked', 'asked again']);
});

it('puts off the question for text when an urgent statement comes before it', async () => {
  const { clock, group, heard, member } = opened((call) =>
    call === 1 ? Promise.resolve() : new Promise(() => undefined),
  );
  group.add(member('one'), { urgent: false });
  await clock.advance(0);
  heard.length = 0;
  group.beforeFlush(() => heard.push('asked'));
  group.add(member('urgent'), { urgent: true });
  await clock.advance(249);
  expect(heard).toEqual([]);
  await clock.advance(1);
  expect(heard).toEqual(['asked']);
});

it('stores what a timer of the machine has asked for before anything else happens', async () => {
  const { group, statements, member, passOn } = openedOn(systemClock, () => Promise.resolve());
  group.add(member('one'), { urgent: true });
  await until(() => statements.length === 1);
  group.add(member('two'), { urgent: false });
  await until(() => statements.length === 2);
  const { promise, resolve } = Promise.withResolvers<readonly string[] | undefined>();
  group.beforeFlush(() => {
    passOn('held')();
    setImmediate(() => resolve(statements[2]));
  });
  expect(await promise).toEqual(['held']);
});

it('leaves nothing of a flush behind when a turn is urgent in the middle of it', async () => {
  const { clock, group, statements, member, passOn } = opened();
  group.add(member('one'), { urgent: false });
  await clock.advance(0);
  group.beforeFlush(() => group.add(member('urgent'), { urgent: true }));
  for (const name of ['two', 'three']) group.beforeFlush(passOn(name));
  await clock.advance(33);
  expect(statements.slice(1).flat()).toEqual(['urgent', 'two', 'three']);
});

it('takes everything along with what is urgent, at once', async () => {
  const { clock, group, statements, member } = opened();
  group.add(member('slow'), { urgent: false });
  group.add(member('urgent'), { urgent: true });
  group.add(member('late'), { urgent: false });
  await clock.advance(0);
  expect(statements).toEqual([['slow', 'urgent', 'late']]);
  expect(clock.pending()).toBe(0);
});

it('flushes in time, however many urgent statements there are', async () => {
  const { clock, group, statements, member, passOn } = opened();
  group.add(member('slow'), { urgent: false });
  await clock.advance(0);
  group.beforeFlush(passOn('held'));
  for (let elapsed = 0; elapsed < 33; elapsed += 11) {
    group.add(member(`urgent at ${elapsed}`), { urgent: true });
    await clock.advance(11);
  }
  expect(statements.slice(1)).toEqual([
    ['urgent at 0'],
    ['urgent at 11'],
    ['urgent at 22'],
    ['held'],
  ]);
});

it('asks many turns one part after the other, each once in 100 ms', async () => {
  const { clock, group, statements, member, passOn } = opened();
  group.add(member('first'), { urgent: false });
  await clock.advance(0);
  for (let turn = 0; turn < 300; turn += 1) group.beforeFlush(passOn(`${turn}`));
  for (const flush of [1, 2, 3]) {
    await clock.advance(32);
    expect(statements).toHaveLength(flush);
    await clock.advance(1);
    expect(statements[flush]).toHaveLength(100);
  }
  expect(statements.slice(1).flat()).toEqual(Array.from({ length: 300 }, (_, turn) => `${turn}`));
});

it('has a turn that goes on wait for the next flush, and takes its text at once within one', async () => {
  const { clock, group, statements, heard, member } = opened();
  group.add(member('first'), { urgent: false });
  await clock.advance(0);
  group.beforeFlush(() => {
    const [text, next] = [
      group.beforeFlush(() => heard.push('text')),
      group.atFlush(() => heard.push('next')),
    ];
    heard.push(`${text === null} ${next === null}`);
    group.add(member('held'), { urgent: false });
  });
  heard.length = 0;
  await clock.advance(33);
  expect(heard).toEqual(['true false', 'held stored']);
  await clock.advance(33);
  expect(heard.slice(2)).toEqual(['next']);
  expect(statements).toEqual([['first'], ['held']]);
});

it('sends one statement at a time; what comes meanwhile is in the next one', async () => {
  const answered = Promise.withResolvers<void>();
  const { clock, group, statements, member } = opened((call) =>
    call === 1 ? answered.promise : Promise.resolve(),
  );
  const one = member('one');
  group.add(one, { urgent: true });
  await clock.advance(0);
  group.add(one, { urgent: true });
  group.add(member('two'), { urgent: true });
  await clock.advance(1_000);
  expect(statements).toEqual([['one']]);
  answered.resolve();
  await clock.advance(0);
  expect(statements).toEqual([['one'], ['one', 'two']]);
});

it('repeats a statement whose outcome is unknown, and drops nothing', async () => {
  const { clock, group, statements, heard, member } = opened((call) =>
    call < 7 ? Promise.reject(away(true)) : Promise.resolve(),
  );
  group.add(member('one'), { urgent: true });
  await clock.advance(0);
  for (const [pause, count] of [
    [50, 2],
    [200, 3],
    [500, 4],
    [1_000, 5],
    [1_000, 6],
  ] as const) {
    await clock.advance(pause - 1);
    expect(statements).toHaveLength(count - 1);
    await clock.advance(1);
    expect(statements).toHaveLength(count);
  }
  expect(heard).toEqual([]);
  await clock.advance(1_000);
  expect(heard).toEqual(['one stored']);
  expect(clock.pending()).toBe(0);
});

it('reports a store that cannot be used any more, and goes on with the next statement', async () => {
  const { clock, group, heard, member } = opened((call) =>
    call === 1 ? Promise.reject(away(false)) : Promise.resolve(),
  );
  group.add(member('one'), { urgent: true });
  await clock.advance(0);
  expect(heard).toEqual(['one OrionError: away']);
  group.add(member('two'), { urgent: true });
  await clock.advance(0);
  expect(heard.slice(1)).toEqual(['two stored']);
});

it('asks nothing for a turn that has left', async () => {
  const { clock, group, statements, member } = opened();
  const [one, two] = [member('one'), member('two')];
  group.add(one, { urgent: false });
  group.add(two, { urgent: false });
  group.remove(one);
  expect(clock.pending()).toBe(1);
  await clock.advance(0);
  expect(statements).toEqual([['two']]);
  group.add(one, { urgent: false });
  group.remove(one);
  expect(clock.pending()).toBe(0);
});

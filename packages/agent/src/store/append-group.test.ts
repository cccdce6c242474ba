import { OrionError } from '@orion/contracts';
import type { AppendOutcome, TurnAppend } from '@orion/contracts';
import { createFakeClock } from '@orion/testkit';
import { expect, it } from 'vitest';

import { AppendGroup } from './append-group.ts';
import type { GroupMember } from './append-group.ts';

/** Hazard: a turn costs a statement of its own, is in two at a time, or keeps the others waiting. */

function opened(answer: (call: number) => Promise<void> = () => Promise.resolve()) {
  const clock = createFakeClock();
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
  return { clock, group, statements, heard, member };
}

const away = (retryable: boolean): OrionError =>
  new OrionError({ code: 'STORE_UNAVAILABLE', message: 'away', retryable });

it('collects all turns for 50 ms, each once, and gives each its own outcome', async () => {
  const { clock, group, statements, heard, member } = opened();
  const [one, gone, two] = [member('one'), member('gone'), member('two')];
  group.add(one, { urgent: false });
  await clock.advance(30);
  group.add(gone, { urgent: false });
  group.add(one, { urgent: false });
  group.add(two, { urgent: false });
  await clock.advance(19);
  expect(statements).toEqual([]);
  await clock.advance(1);
  expect(statements).toEqual([['one', 'gone', 'two']]);
  expect(heard).toEqual(['one stored', 'gone fenced', 'two stored']);
  expect(clock.pending()).toBe(0);
});

it('takes everything along with what is urgent, at once', async () => {
  const { clock, group, statements, member } = opened();
  group.add(member('slow'), { urgent: false });
  group.add(member('urgent'), { urgent: true });
  group.add(member('late'), { urgent: false });
  await clock.advance(0);
  expect(statements).toEqual([['slow', 'urgent', 'late']]);
  expect(clock.pending()).toBe(0);
  group.add(member('slow'), { urgent: false });
  await clock.advance(49);
  expect(statements).toHaveLength(1);
  await clock.advance(1);
  expect(statements).toHaveLength(2);
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
  await clock.advance(50);
  expect(statements).toEqual([['two']]);
  group.add(one, { urgent: false });
  group.remove(one);
  expect(clock.pending()).toBe(0);
});

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

import type { ConversationSave, TurnAppend } from '@orion/contracts';
import { callsReply, expectValidHistory, textReply, toolCall } from '@orion/testkit';
import { expect, it, onTestFinished, vi } from 'vitest';

import { beginCall } from '../../testing/set-up.ts';
import { openTurn, tool } from '../../testing/taken-turn.ts';
import type { TakenTurn } from '../../testing/taken-turn.ts';
import type { Checkpoint } from './checkpoint.ts';
import { TurnCheckpoints } from './turn-checkpoints.ts';

/** Hazard: a hand-off makes the outcome of a call unknown that was answered, or that has not begun. */

/** What the store holds until it is released. */
type Held = 'the answer' | 'that it begins';

/** Hands the turn off while the store holds that, which it does until then, or longer. */
async function handOffWhile(
  turn: TakenTurn,
  held: Held,
  until: 'then' | 'nothing is waited for any more' | 'the turn is left',
): Promise<void> {
  const released = Promise.withResolvers<void>();
  let isHeld = false;
  const hold = async (isIt: boolean): Promise<void> => {
    if (!isIt || isHeld) return;
    isHeld = true;
    await released.promise;
  };
  const { turnLog, conversations } = turn.store;
  const store: TakenTurn['store'] = {
    ...turn.store,
    turnLog: {
      ...turnLog,
      async appendAll(appends) {
        await hold(held === 'that it begins' && appends.some(saysItBegins));
        return turnLog.appendAll(appends);
      },
    },
    conversations: {
      ...conversations,
      async save(save) {
        await hold(held === 'the answer' && turn.ran['Do'] !== undefined);
        return conversations.save(save);
      },
    },
  };
  const owner = await turn.owner([callsReply([toolCall('1', 'Do')])], {
    store,
    speed: until === 'the turn is left' ? 10 : 1,
  });
  const handOff = new AbortController();
  const running = turn.run(owner, { handOff: handOff.signal });
  await expect.poll(() => isHeld, { interval: 5 }).toBe(true);
  if (until === 'nothing is waited for any more') {
    const spy = vi.spyOn(TurnCheckpoints.prototype, 'handOff');
    onTestFinished(() => spy.mockRestore());
    spy.mockImplementationOnce(function left(this: TurnCheckpoints, ...given) {
      released.resolve();
      return this.handOff(...given);
    });
  }
  handOff.abort();
  if (until === 'then') released.resolve();
  const events = await running;
  expect(events?.map(({ type }) => type)).not.toContain('done');
  released.resolve();
  // What the store was asked for by then is stored.
  await new Promise(setImmediate);
}

/** The store of a turn that is handed off while such a conversation is being saved. */
function abortingAtSave(
  turn: TakenTurn,
  handOff: AbortController,
  isThen: (save: ConversationSave) => boolean,
): TakenTurn['store'] {
  const { conversations } = turn.store;
  return {
    ...turn.store,
    conversations: {
      ...conversations,
      save(save) {
        if (isThen(save)) handOff.abort();
        return conversations.save(save);
      },
    },
  };
}

function saysItBegins({ checkpoint }: TurnAppend): boolean {
  const { calls = null } = (checkpoint ?? {}) as Partial<Checkpoint>;
  return calls?.progress[0]?.kind === 'begun';
}

/** How the next owner ends the turn: the results of its call, and how often that ran. */
async function ended(
  turn: TakenTurn,
): Promise<readonly [results: readonly unknown[], ran: number]> {
  const next = await turn.owner([textReply('I see')]);
  const events = await turn.run(next);
  expect(events?.at(-1)).toMatchObject({ type: 'done', status: 'complete' });
  const log = await turn.log();
  expect(log.map(({ seq }) => seq)).toEqual(log.map((_, index) => index + 1));
  expect(log.filter(({ type }) => type === 'tool_calls')).toHaveLength(1);
  expectValidHistory((await turn.store.conversations.load('c'))?.history ?? []);
  const results = log.flatMap((event) =>
    event.type === 'tool_result' ? [event.error?.code ?? 'ok'] : [],
  );
  const told = (next.adapter.requests[0]?.messages ?? []).filter(({ role }) => role === 'tool');
  expect(told.map(({ content }) => content === '"ran"')).toEqual(
    results.map((result) => result === 'ok'),
  );
  return [results, turn.ran['Do']?.length ?? 0];
}

it('keeps an answer that is being stored', async () => {
  const turn = await openTurn([tool('Do', 'write')]);
  await handOffWhile(turn, 'the answer', 'then');
  expect(await ended(turn)).toEqual([['ok'], 1]);
});

it('keeps an answer that is stored and that nobody was told yet', async () => {
  const handOff = new AbortController();
  const turn = await openTurn([
    {
      ...tool('Do', 'write'),
      summarize() {
        handOff.abort();
        return 'it ran';
      },
    },
  ]);
  const owner = await turn.owner([callsReply([toolCall('1', 'Do')])]);
  await turn.run(owner, { handOff: handOff.signal });
  expect(await ended(turn)).toEqual([['ok'], 1]);
});

it('begins a file again whose begin was being stored: its session has gone', async () => {
  const turn = await openTurn();
  const handOff = new AbortController();
  const store = abortingAtSave(turn, handOff, ({ history }) =>
    JSON.stringify(history).includes('session_id'),
  );
  const owner = await turn.owner([callsReply([beginCall()])], { store });
  await turn.run(owner, { handOff: handOff.signal });
  expect(handOff.signal.aborted).toBe(true);
  await turn.run(await turn.owner([textReply('one\nDONE\n'), textReply('written')]));
  expect(await readFile(join(turn.root, 'a.txt'), 'utf8')).toBe('one\n');
  expect(JSON.stringify(await turn.log())).not.toContain('SESSION_NOT_FOUND');
});

it('does not wait for an answer that the store does not take in time', async () => {
  const turn = await openTurn([tool('Do', 'write')]);
  await handOffWhile(turn, 'the answer', 'the turn is left');
  expect(await ended(turn)).toEqual([['UNKNOWN_OUTCOME'], 1]);
});

it('leaves the call that comes next to the next owner', async () => {
  const turn = await openTurn([tool('Do', 'write'), tool('Then', 'write')]);
  const handOff = new AbortController();
  const store = abortingAtSave(turn, handOff, () => turn.ran['Do'] !== undefined);
  const calls = callsReply([toolCall('1', 'Do'), toolCall('2', 'Then')]);
  await turn.run(await turn.owner([calls], { store }), { handOff: handOff.signal });
  expect(turn.ran).toEqual({ Do: [{}] });
  expect(await ended(turn)).toEqual([['ok', 'ok'], 1]);
  expect(turn.ran).toEqual({ Do: [{}], Then: [{}] });
});

it.each(['then', 'nothing is waited for any more'] as const)(
  'leaves a call to the next owner that has not begun, where the store is slow until %s',
  async (until) => {
    const turn = await openTurn([tool('Do', 'write')]);
    await handOffWhile(turn, 'that it begins', until);
    expect(turn.ran).toEqual({});
    expect(await ended(turn)).toEqual([['ok'], 1]);
  },
);

it('runs no call of which the store has heard that it begins, and not that it does not', async () => {
  const turn = await openTurn([tool('Do', 'write')]);
  await handOffWhile(turn, 'that it begins', 'the turn is left');
  expect(await ended(turn)).toEqual([['UNKNOWN_OUTCOME'], 0]);
});

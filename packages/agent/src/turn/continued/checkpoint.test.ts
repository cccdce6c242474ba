import type { JsonValue, TurnAppend } from '@orion/contracts';
import { callsReply, textReply, toolCall } from '@orion/testkit';
import { expect, it } from 'vitest';

import { openTurn, saying, storing, text, tool } from '../../testing/taken-turn.ts';
import type { TakenTurn } from '../../testing/taken-turn.ts';

/** Hazard: a checkpoint costs more with every message, holds a key, or is stored by who does not own the turn any more. */

/** A store that shows what its appends hold. */
function watched(turn: TakenTurn, onAppend: (append: TurnAppend) => Promise<void> | void) {
  const { turnLog } = turn.store;
  return {
    ...turn.store,
    turnLog: {
      ...turnLog,
      async appendAll(appends: readonly TurnAppend[]) {
        for (const append of appends) await onAppend(append);
        return turnLog.appendAll(appends);
      },
    },
  };
}

/** How many characters of checkpoints and messages a turn of so many calls stores. */
async function costOf(calls: number): Promise<{ checkpoints: number; messages: number }> {
  const turn = await openTurn([
    tool('Read', 'read', () => Promise.resolve({ result: 'x'.repeat(10_000) })),
  ]);
  const cost = { checkpoints: 0, messages: 0 };
  const store = watched(turn, ({ checkpoint }) => {
    if (checkpoint !== undefined) cost.checkpoints += JSON.stringify(checkpoint).length;
  });
  const { conversations } = store;
  const replies = Array.from({ length: calls }, (_, n) =>
    callsReply([toolCall(`c${n}`, 'Read', { n })]),
  );
  const owner = await turn.owner([...replies, textReply('read')], {
    settings: { maxIterations: calls + 1 },
    store: {
      ...store,
      conversations: {
        ...conversations,
        save(save) {
          cost.messages += JSON.stringify(save.history).length;
          return conversations.save(save);
        },
      },
    },
  });
  const events = await turn.run(owner);
  expect(events?.at(-1)).toMatchObject({ status: 'complete' });
  return cost;
}

it('twice the calls cost about twice as much, and no text of theirs is in a checkpoint', async () => {
  const [some, twice] = [await costOf(6), await costOf(12)];
  expect(twice.messages).toBeLessThan(2.3 * some.messages);
  // Each message is stored once, but for placeholders.
  expect(twice.messages).toBeLessThan(1.2 * 12 * 10_200);
  expect(twice.checkpoints).toBeLessThan(12 * 4 * 6_000);
});

it('no key is in it, and a call that needs one is not run by another owner', async () => {
  const key = 'a-key-that-nobody-may-see';
  const turn = await openTurn([tool('Note', 'write')]);
  const stored: JsonValue[] = [];
  const store = watched(turn, ({ checkpoint }) => {
    if (checkpoint !== undefined) stored.push(checkpoint);
  });
  // Used for the adapter's own name only; but no key in use is stored, whoever uses it.
  const provider = { type: 'openai', model: 'm', apiKey: key };
  const replies = [callsReply([toolCall('1', 'Note', { key })], `I use ${key}.`)];
  const first = await turn.owner(replies, {
    store,
    provider,
    death: { at: storing('tool_calls'), after: true },
  });
  await turn.run(first);
  await turn.run(await turn.owner([textReply('done')], { provider }));
  expect(JSON.stringify(stored)).not.toContain(key);
  expect(JSON.stringify(await turn.store.conversations.load('c'))).not.toContain(key);
  expect(turn.ran).toEqual({});
  expect(JSON.stringify(await turn.log())).toContain('UNKNOWN_OUTCOME');
});

it('an owner that has lost the turn stores neither a checkpoint nor a message (O5)', async () => {
  const turn = await openTurn([tool('Note', 'write')]);
  let taken: JsonValue = null;
  let said = 0;
  const store = watched(turn, async ({ events }) => {
    if (!events.some(({ kind }) => kind === 'tool_result') || taken !== null) return;
    const claim = await turn.store.turnLog.acquire('t', null);
    taken = claim.checkpoint;
    said = (await turn.store.conversations.load('c'))?.revision ?? 0;
  });
  const owner = await turn.owner([callsReply([toolCall('1', 'Note')]), saying(text('never'))], {
    store,
  });
  await expect(turn.run(owner)).rejects.toMatchObject({ code: 'FENCED' });
  await owner.orion.close();
  expect(owner.adapter.requests).toHaveLength(1);
  const { checkpoint } = await turn.store.turnLog.acquire('t', null);
  expect(taken).not.toBeNull();
  expect(checkpoint).toEqual(taken);
  expect((await turn.store.conversations.load('c'))?.revision).toBe(said);
});

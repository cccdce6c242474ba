import { openStore } from '@orion/agent';
import { systemClock } from '@orion/contracts';
import type { RunEventBody, TurnEventsAnswer } from '@orion/contracts';
import { expect, it, onTestFinished } from 'vitest';

import { makeDatabase } from '../testing/test-database.ts';
import { askServer } from '../testing/test-server.ts';
import { done, startTurnServer } from '../testing/turn-server.ts';

/** Hazard: polls of a long turn never come to its end if it was folded, or have all of it at once if it was not. */

const USAGE: RunEventBody = {
  type: 'usage',
  inputTokens: 1,
  outputTokens: 1,
  cachedTokens: 0,
  reasoningTokens: 0,
};

it('a poll of a long turn that was folded has all that was kept of it', async () => {
  const store = openStore({ kind: 'postgres', url: await makeDatabase() }, { clock: systemClock });
  onTestFinished(() => store.close());
  const { port, begin } = await startTurnServer({}, { store });
  const turn = await begin('t');
  await turn.write(...Array.from({ length: 1_100 }, () => USAGE), done());
  const log = store.turnLog as unknown as { foldOldTurns(idleMs: number): Promise<number> };
  await expect.poll(() => log.foldOldTurns(0)).toBe(1);
  const { json } = await askServer(port, '/api/turns/t/events?after=1', {
    headers: { accept: 'application/json' },
  });
  const { events, done: isOver } = json as TurnEventsAnswer;
  expect([events.length, events[0]?.type, events.at(-1)?.type, isOver]).toEqual([
    1_102,
    'reset',
    'done',
    true,
  ]);
});

it('a poll of a long turn from a place that it does not have is answered in pages', async () => {
  const { port, begin } = await startTurnServer();
  const turn = await begin('t');
  await turn.write(...Array.from({ length: 1_100 }, () => USAGE), done());
  const pages: TurnEventsAnswer[] = [];
  let after = '5.1';
  do {
    const { json } = await askServer(port, `/api/turns/t/events?after=${after}`, {
      headers: { accept: 'application/json' },
    });
    pages.push(json as TurnEventsAnswer);
    after = pages.at(-1)?.next ?? '';
  } while (pages.at(-1)?.done === false && pages.length < 9);
  expect(pages.map(({ events }) => events.length)).toEqual([500, 500, 102]);
  const types = pages.flatMap(({ events }) => events.map(({ type }) => type));
  expect([types.indexOf('reset'), types.lastIndexOf('reset'), types.at(-1)]).toEqual([
    0,
    0,
    'done',
  ]);
});

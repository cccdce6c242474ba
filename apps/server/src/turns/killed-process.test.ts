import { createOrion } from '@orion/agent';
import { describe, expect, it, onTestFinished } from 'vitest';

import { idsOf, run, TEXT } from '../testing/process-runner.ts';
import { makeDatabase } from '../testing/test-database.ts';
import { doneOf } from '../testing/test-turns.ts';
import { temporaryDirectory } from '../testing/test-server.ts';

/** Hazard: a process dies with turns that run and turns that wait: they are lost, or end twice. */

describe.each([
  { store: 'SQLite', openDatabase: () => Promise.resolve('-') },
  { store: 'Postgres', openDatabase: makeDatabase },
])('$store', { timeout: 120_000, tags: ['long'] }, ({ openDatabase }) => {
  it('goes on after a kill with what ran and what waited, and every turn ends once (R282)', async () => {
    const databaseUrl = await openDatabase();
    const workspace = await temporaryDirectory();
    const place = { workspace, databaseUrl, queue: 'in-process' } as const;
    const first = run(place, { pauseMs: 60_000 });
    await first.until('serves');
    for (const conversation of ['a', 'b', 'c', 'd', 'e']) first.tell(conversation);
    // Three have a slot; two wait.
    await first.until('stored', 5);
    await first.until('speaks', 3);
    const other = run(place, { pauseMs: 1 });
    await other.exit;
    expect(other.said).toEqual(['STORE_IN_USE']);
    await first.kill('SIGKILL');
    const ids = idsOf(first.said, 'stored');
    expect(idsOf(first.said, 'ended')).toEqual([]);

    const second = run(place, { pauseMs: 1 });
    await second.until('ended', 5);
    second.tell('stop');
    await second.exit;
    expect(idsOf(second.said, 'ended').toSorted()).toEqual(ids.toSorted());

    const settings = databaseUrl === '-' ? {} : { databaseUrl };
    const orion = await createOrion({ workspace, settings });
    onTestFinished(() => orion.close());
    for (const turnId of ids) {
      const events = await orion.store.turnLog.read(turnId, 0);
      expect(doneOf(events)).toMatchObject({ status: 'complete', fullContent: TEXT });
      expect(events.map(({ seq }) => seq)).toEqual(events.map((_event, index) => index + 1));
      expect(await orion.store.servedTurns.find(turnId)).toMatchObject({ state: 'done' });
    }
    for (const { conversationId, messages } of await orion.store.conversations.list({ limit: 9 }))
      expect([conversationId, messages]).toEqual([conversationId, 2]);
  });
});

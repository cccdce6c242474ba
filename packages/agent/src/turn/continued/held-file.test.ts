import { mkdir, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

import { OrionError, systemClock } from '@orion/contracts';
import type { SessionStore } from '@orion/contracts';
import { callsReply, textReply } from '@orion/testkit';
import { expect, it } from 'vitest';

import { beginCall, beginSession, openWorkspace } from '../../testing/set-up.ts';
import { openTurn, saying, text } from '../../testing/taken-turn.ts';
import { removeUnreported } from './left-session.ts';

/** Hazard: a turn that is taken over waits without end for a file that nobody lets go, or fails where it need not. */

it('does not wait for something in the place of a lock, which nobody releases', async () => {
  const turn = await openTurn();
  const owner = await turn.owner([callsReply([beginCall()]), saying(text('one\n'))]);
  const handOff = new AbortController();
  const running = turn.run(owner, { handOff: handOff.signal });
  const isWriting = async (): Promise<boolean> =>
    (await turn.log()).some(({ type }) => type === 'write_chunk');
  await expect.poll(isWriting, { interval: 5 }).toBe(true);
  handOff.abort();
  await running;
  const [session] = await owner.orion.listSessions();
  const alive = await openWorkspace(turn.root, systemClock);
  const { handle } = await alive.sessions.claim(session?.session_id ?? '');
  const locks = join(turn.root, '.orion', 'locks');
  const lock = (await readdir(locks)).find((name) => /^[0-9a-f]{64}$/u.test(name)) ?? '';
  await handle.release();
  await rm(join(locks, lock), { force: true });
  await mkdir(join(locks, lock));
  const events = await turn.run(await turn.owner([], { speed: 20 }));
  expect(events?.find(({ type }) => type === 'error')).toMatchObject({
    error: { code: 'TARGET_LOCKED', hint: expect.stringContaining('Remove it') as string },
  });
});

it.for([
  ['waits a moment for a file whose holder may not have noticed yet', true],
  ['tells the model of a holder that goes on', false],
] as const)('%s', async ([, letsGo]) => {
  const turn = await openTurn();
  const holder = await beginSession(await openWorkspace(turn.root, systemClock));
  const replies = [
    callsReply([beginCall()]),
    textReply(letsGo ? 'one\nDONE' : 'Another one has it.'),
    textReply('It is there.'),
  ];
  const running = turn.run(await turn.owner(replies, { speed: 20 }));
  if (letsGo) {
    await pause(50);
    await holder.remove();
  }
  const told = (await running)?.find(({ type }) => type === 'tool_result');
  const written = await readFile(join(turn.root, 'a.txt'), 'utf8').catch(() => null);
  if (letsGo) expect(written).toBe('one\n');
  else expect(told).toMatchObject({ ok: false, error: { code: 'TARGET_LOCKED' } });
  if (!letsGo) await holder.remove();
});

it('leaves a session that nobody was told of where another one has its file: the begin says so', async () => {
  const asked: string[] = [];
  const sessions = {
    list: () => Promise.resolve([{ session_id: 'left', status: 'orphan' }]),
    readTurn: () => Promise.resolve({ requestId: 't', callId: 'w' }),
    claim: (id: string) => {
      asked.push(id);
      return Promise.reject(new OrionError({ code: 'TARGET_LOCKED', message: 'held' }));
    },
  } as unknown as SessionStore;
  await removeUnreported({ sessions }, { requestId: 't', callId: 'w' });
  expect(asked).toEqual(['left']);
});

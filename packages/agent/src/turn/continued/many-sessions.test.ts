import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

import { systemClock } from '@orion/contracts';
import { callsReply, textReply } from '@orion/testkit';
import { interceptDisk } from '@orion/testkit/disk-faults';
import { expect, it, onTestFinished } from 'vitest';

import { beginCall, beginSession, openWorkspace } from '../../testing/set-up.ts';
import { onDisk, openTurn } from '../../testing/taken-turn.ts';

/** Hazard: the more sessions wait for somebody, the longer a turn takes to begin a file behind a dead owner. */

it('reads no session of another call when it looks for one that nobody was told of', async () => {
  const turn = await openTurn();
  const begin = callsReply([beginCall()]);
  await turn.run(await turn.owner([begin], { death: { at: onDisk('begin'), after: true } }));
  const workspace = await openWorkspace(turn.root, systemClock);
  const [unreported] = await workspace.sessions.list();
  const other = await beginSession(workspace, 'b.txt');
  await other.release();
  const read = new Set<string>();
  const disk = await interceptDisk();
  onTestFinished(() => disk.restore());
  disk.use(({ name, path }) => {
    if (name === 'open') read.add(path);
    return null;
  });
  await turn.run(await turn.owner([textReply('one\n', 'DONE\n'), textReply('written')]));
  disk.use(null);
  expect(await readFile(join(turn.root, 'a.txt'), 'utf8')).toBe('one\n');
  const isRead = (id = 'none'): boolean => [...read].some((path) => path.includes(id));
  expect(isRead(unreported?.session_id)).toBe(true);
  expect(isRead(other.id)).toBe(false);
});

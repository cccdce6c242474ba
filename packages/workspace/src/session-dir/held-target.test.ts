import { readdir } from 'node:fs/promises';
import { expect, test } from 'vitest';
import {
  beginSession,
  codeOf,
  openTestWorkspace,
  releasedSession,
} from '../testing/temp-workspace.ts';

/** Hazard: a session is asked for again and again while another one holds its target, and each time leaves a file. */

test.each(['of this process', 'of another process'])(
  'a session whose target a session %s holds is left as it is',
  async (where) => {
    const test = await openTestWorkspace();
    const waiting = await releasedSession(test.workspace);
    const holder =
      where === 'of this process' ? test : await openTestWorkspace({ root: test.root });
    const holding = await beginSession(holder.workspace);
    const files = async (): Promise<readonly string[]> =>
      (await readdir(test.workspace.stateDirectory, { recursive: true }))
        .filter((path) => path.includes(waiting.id))
        .toSorted();
    const before = await files();
    for (let each = 0; each < 3; each += 1)
      expect(await codeOf(test.workspace.sessions.claim(waiting.id))).toBe('TARGET_LOCKED');
    expect(before.length).toBeGreaterThan(1);
    expect(await files()).toEqual(before);
    await holding.remove();
    const { handle } = await test.workspace.sessions.claim(waiting.id);
    expect(handle.bytes()).toBe(5);
    await handle.release();
  },
);

/** Hazard: a lock is given back between two looks at it, and two processes take what is free (R008, R064). */
import { linkSync, readdirSync, readFileSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createFakeClock } from '@orion/testkit';
import { interceptDisk } from '@orion/testkit/disk-faults';
import { expect, it, onTestFinished } from 'vitest';
import { StateDirectory } from '../state-directory.ts';
import { codeOf, temporaryDirectory } from '../testing/temp-workspace.ts';
import { createProcessObserver } from './process-identity.ts';
import { TargetLocks } from './target-locks.ts';

const SESSION = '00000000-0000-4000-8000-000000000000';

it('A13: whoever looked before the name was free does not take it from who has it since', async () => {
  const root = await temporaryDirectory();
  const observer = createProcessObserver(createFakeClock(Date.now()));
  const state = new StateDirectory(join(root, '.orion'));
  const acquire = async (owner: Awaited<ReturnType<typeof observer.newOwner>>) =>
    new TargetLocks(state, observer, root).acquire(join(root, 'a.txt'), 'a.txt', owner, SESSION);
  await acquire(await observer.newOwner());
  const [name = ''] = readdirSync(state.locks);
  const file = join(state.locks, name);
  const winner = await observer.newOwner();
  const disk = await interceptDisk();
  onTestFinished(() => disk.use(null));
  let stage = 'held' as 'held' | 'free' | 'taken';
  disk.use((call) => {
    if (stage === 'held' && call.name === 'open' && call.path === file) {
      // The first holder gives it back right before it is looked at.
      unlinkSync(file);
      stage = 'free';
    } else if (stage === 'free' && call.name === 'rename' && call.to === file) {
      // Another process takes the free name, the moment before the late one would put its own record there.
      const temporary = join(state.locks, '.winner');
      writeFileSync(temporary, `${JSON.stringify({ ...winner, session_id: SESSION })}\n`);
      linkSync(temporary, file);
      unlinkSync(temporary);
      stage = 'taken';
    }
    return null;
  });
  const late = await observer.newOwner();
  const lateOne = await codeOf(acquire(late));
  const holders = [lateOne === 'no error' ? late : null, stage === 'taken' ? winner : null];
  expect(holders.filter((holder) => holder !== null)).toHaveLength(1);
  expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({
    token: holders.find((holder) => holder !== null)?.token,
  });
  expect(readdirSync(state.locks)).toEqual([name]);
});

import { expect, it, onTestFinished, vi } from 'vitest';

import {
  codeOf,
  metadataFor,
  openTestWorkspace,
  releasedSession,
} from '../testing/temp-workspace.ts';
import { TargetLocks } from './target-locks.ts';

/** Hazard: who loses a session to another process by a moment is told that something else has its file. */

async function claimedWhile(between: 'recovered' | 'begun'): Promise<string> {
  const { workspace, again } = await openTestWorkspace();
  const other = await again();
  const { id } = await releasedSession(workspace);
  // The session was looked up and had no owner. What comes next asks for its target.
  const spy = vi.spyOn(TargetLocks.prototype, 'requireFree');
  onTestFinished(() => spy.mockRestore());
  spy.mockImplementationOnce(async function (this: TargetLocks, ...target) {
    if (between === 'recovered') await other.sessions.claim(id);
    else await other.sessions.begin(await metadataFor(other, 'a.txt'));
    return this.requireFree(...target);
  });
  return codeOf(workspace.sessions.claim(id));
}

it('A5: says that a session is taken that another process recovered a moment before', async () => {
  expect(await claimedWhile('recovered')).toBe('SESSION_BUSY');
});

it('A5: says that its target is taken if a new session has it', async () => {
  expect(await claimedWhile('begun')).toBe('TARGET_LOCKED');
});

/** A process claims a session without an owner before it changes it. Of several processes, exactly one succeeds. */
import { join } from 'node:path';
import { isErrno, toDiskError } from '../disk/disk-error.ts';
import { claimOwner, findOwner, leasePlace, replaceOwner } from '../ownership/ownership-file.ts';
import type { OwnerRecord } from '../ownership/owner-record.ts';
import type { ProcessObserver } from '../ownership/process-identity.ts';
import type { StateDirectory } from '../state-directory.ts';
import type { Inspection } from './inspect-session.ts';

/** The new owner's record, or null when another process was first. */
export async function takeOver(
  observer: ProcessObserver,
  inspection: Inspection,
): Promise<OwnerRecord | null> {
  const record = await observer.newOwner();
  const { directory, owner } = inspection;
  try {
    const won = await claimOwner(leasePlace(directory), owner.token, record);
    return won ? record : null;
  } catch (error) {
    // The winner has moved the directory away.
    if (isErrno(error, 'ENOENT')) return null;
    throw toDiskError(error, 'claim the write session');
  }
}

/** Undoes the claim so that any process can recover the session, wherever it is now. */
export async function handBack(
  state: StateDirectory,
  inspection: Inspection,
  owner: OwnerRecord,
): Promise<void> {
  for (const directory of [inspection.directory, join(state.sessions, inspection.id)]) {
    const place = leasePlace(directory);
    const found = await findOwner(place).catch(() => null);
    if (found?.kind !== 'owned' || found.token !== owner.token) continue;
    await replaceOwner(place, { ...owner, released: true }).catch(() => undefined);
    return;
  }
}

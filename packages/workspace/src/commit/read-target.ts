import { createHash } from 'node:crypto';
import type { TargetSnapshot } from '@orion/contracts';
import { onDisk, toDiskError } from '../disk/disk-error.ts';
import { closeRead, openRegularFile, readRange } from '../disk/files.ts';
import { shown } from '../path-policy/parse-target.ts';
import type { PathPolicy } from '../path-policy/path-policy.ts';
import { targetChanged } from './commit-errors.ts';

/** The bytes that a snapshot describes; fails before its end when they are others. */
export async function* readTarget(
  policy: PathPolicy,
  snapshot: TargetSnapshot,
): AsyncGenerator<Uint8Array, void, undefined> {
  const { path } = snapshot;
  if (!snapshot.exists) return;
  const target = await policy.contain(path);
  const action = `read ${shown(path)}`;
  const handle =
    target.realPath === snapshot.realPath
      ? await onDisk(action, () => openRegularFile(target.realPath))
      : null;
  if (handle === null) throw targetChanged(path);
  try {
    const hash = createHash('sha256');
    for await (const chunk of readRange(handle, 0)) {
      hash.update(chunk);
      yield chunk;
    }
    if (hash.digest('hex') !== snapshot.sha256) throw targetChanged(path);
  } catch (error) {
    throw toDiskError(error, action);
  } finally {
    await closeRead(handle);
  }
}

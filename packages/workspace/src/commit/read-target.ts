import { createHash } from 'node:crypto';
import type { TargetSnapshot } from '@orion/contracts';
import { streamFile } from '../disk/files.ts';
import { shown } from '../path-policy/parse-target.ts';
import type { PathPolicy } from '../path-policy/path-policy.ts';
import { targetChanged } from './commit-errors.ts';

/** The bytes that a snapshot describes. Fails before the end if they have changed. */
export async function* readTarget(
  policy: PathPolicy,
  snapshot: TargetSnapshot,
): AsyncGenerator<Uint8Array, void, undefined> {
  const { path } = snapshot;
  if (!snapshot.exists) return;
  const target = await policy.contain(path);
  if (target.realPath !== snapshot.realPath) throw targetChanged(path);
  const bytes = streamFile(target.realPath, `read ${shown(path)}`, targetChanged(path));
  const hash = createHash('sha256');
  for await (const chunk of bytes) {
    hash.update(chunk);
    yield chunk;
  }
  if (hash.digest('hex') !== snapshot.sha256) throw targetChanged(path);
}

import { CHANGING_CALLS } from '@orion/testkit/disk-faults';
import type { DiskInterception } from '@orion/testkit/disk-faults';

/**
 * Kills this process before call number `at`, from 0, of those that change something below `root`.
 * @returns how many of them there have been
 */
export function killAtCall(disk: DiskInterception, root: string, at: number): () => number {
  let calls = 0;
  disk.use((call) => {
    if (!CHANGING_CALLS.has(call.name) || !call.path.startsWith(root)) return null;
    calls += 1;
    return calls - 1 === at ? { kind: 'kill', when: 'before' } : null;
  });
  return () => calls;
}

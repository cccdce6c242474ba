import { readdirSync, readFileSync } from 'node:fs';

/** Time for which a process could not go on because the machine had no processor for it. */
export type RunDelay = {
  /** Adds what came since the last call; milliseconds since the first. */
  read(now: number): number;
};

/**
 * What the kernel counts as ready to run and not running: of the main thread, and of the other thread that waited
 * longest, since a save passes through both, and the main thread stands still while its helpers collect garbage.
 * Never more than the time that went by, next to nothing on a machine that is idle, and 0 where the kernel does
 * not tell.
 */
export function watchRunDelay(pid: number): RunDelay {
  const known = new Map<string, number>();
  let total = 0;
  let last: number | undefined;

  function added(task: string): number {
    const waited = waitedMs(pid, task);
    const before = known.get(task) ?? 0;
    known.set(task, waited);
    return Math.max(0, waited - before);
  }

  return {
    read: (now) => {
      let main = 0;
      let other = 0;
      for (const task of tasksOf(pid)) {
        if (task === String(pid)) main = added(task);
        else other = Math.max(other, added(task));
      }
      if (last !== undefined) total += Math.min(now - last, main + other);
      last = now;
      return total;
    },
  };
}

function tasksOf(pid: number): readonly string[] {
  try {
    return readdirSync(`/proc/${pid}/task`);
  } catch {
    // The process has ended, or this is no Linux.
    return [];
  }
}

function waitedMs(pid: number, task: string): number {
  try {
    const fields = readFileSync(`/proc/${pid}/task/${task}/schedstat`, 'latin1').split(' ');
    return Number(fields[1] ?? 0) / 1e6;
  } catch {
    return 0;
  }
}

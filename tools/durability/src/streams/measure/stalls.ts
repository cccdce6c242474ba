import { readdirSync, readFileSync } from 'node:fs';

/** Time for which a process could not continue because the machine gave it no processor or no disk. */
export type Stalls = {
  /** Adds what came since the last call; milliseconds since the first. */
  read(now: number): number;
};

/**
 * Between two samples, as the kernel reports it:
 *
 * 1. The time for which the main thread, and the other thread that waited longest, were ready to run and did not:
 *    a save passes through both, and the main thread waits while its helpers collect garbage.
 * 2. All of it if a thread was found waiting for a disk: a write can be held up by everybody's journal.
 * 3. The delay of the sample itself: a machine that stops as a whole reports nothing.
 *
 * Never more than the time that went by, and next to nothing on an idle machine.
 */
export function watchStalls(pid: number, lookEveryMs: number): Stalls {
  const waits = new Map<string, number>();
  let total = 0;
  let last: number | undefined;

  function waitedSince(task: string, path: string): number {
    const waited = waitedMs(path);
    const before = waits.get(task) ?? 0;
    waits.set(task, waited);
    return Math.max(0, waited - before);
  }

  return {
    read: (now) => {
      let main = 0;
      let other = 0;
      let disk = false;
      for (const task of tasksOf(pid)) {
        const path = `/proc/${pid}/task/${task}`;
        if (task === String(pid)) main = waitedSince(task, path);
        else other = Math.max(other, waitedSince(task, path));
        disk ||= waitsForDisk(path);
      }
      if (last !== undefined) {
        const passed = now - last;
        const late = passed - LATE_AFTER_LOOKS * lookEveryMs;
        total += disk ? passed : Math.max(late, Math.min(passed, main + other));
      }
      last = now;
      return total;
    },
  };
}

const LATE_AFTER_LOOKS = 2;

function tasksOf(pid: number): readonly string[] {
  try {
    return readdirSync(`/proc/${pid}/task`);
  } catch {
    // The process has ended, or this is no Linux.
    return [];
  }
}

function waitedMs(path: string): number {
  return Number(read(`${path}/schedstat`).split(' ')[1] ?? 0) / 1e6;
}

/** The state follows the name, which may contain anything. */
function waitsForDisk(path: string): boolean {
  return / D [^)]*$/.test(read(`${path}/stat`).slice(0, 64));
}

function read(file: string): string {
  try {
    return readFileSync(file, 'latin1');
  } catch {
    return '';
  }
}

/** A process that gets no processor for a while, and goes on as if nothing had happened. */
import { readFile } from 'node:fs/promises';
import { setTimeout as wait } from 'node:timers/promises';

import type { Group } from './group.ts';

const FROZEN_MS = 30_000;
/** In which what is woken would do what it must not. */
const AWAKE_MS = 3_000;
const LOOK_MS = 50;
const LOOKS = 1_200;

/** Waits for one that freezes, and lets it go on 30 s later, if it is still there. */
export async function wakeFrozen(group: Group): Promise<void> {
  for (let looks = 0; looks < LOOKS; looks += 1) {
    for (const pid of await group.pids()) {
      if ((await stateOf(pid)) !== 'T') continue;
      await wait(FROZEN_MS);
      if ((await stateOf(pid)) === 'T') process.kill(pid, 'SIGCONT');
      return wait(AWAKE_MS);
    }
    await wait(LOOK_MS);
  }
  throw new Error('No process has frozen');
}

/** Whoever watches it may end it meanwhile. */
export async function freezeFor(pid: number, forMs: number, signal: AbortSignal): Promise<void> {
  process.kill(pid, 'SIGSTOP');
  try {
    await wait(forMs, undefined, { signal });
  } finally {
    if ((await stateOf(pid)) === 'T') process.kill(pid, 'SIGCONT');
  }
}

/** As the kernel names it; null of a process that is gone. */
async function stateOf(pid: number): Promise<string | null> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  return /\) (\S)/u.exec(text)?.[1] ?? null;
}

/** Faults of every kind strike one run, one at a time: there is always a process that is able to work. */
import { rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';

import type { Preload } from '../served-turns/stage.ts';
import { drawStrikes } from './draw-strikes.ts';
import type { Strike } from './draw-strikes.ts';
import { freezeFor } from './freeze.ts';
import type { Scene } from './scene.ts';

const LOOK_MS = 50;
const CLOCK_FILE = join(tmpdir(), `orion-chaos-clock-${process.pid}`);

/** For a parent with its workers, to whom nothing can be given later. */
export const TAKES_CLOCK: Preload = {
  module: new URL('./preload/take-clock.ts', import.meta.url),
  environment: { ORION_CLOCK_FILE: CLOCK_FILE },
};

export async function strikeAtRandom(scene: Scene): Promise<void> {
  const { seed, turns, signal } = scene;
  const began = performance.now();
  const sinceBegin = (): number => Math.round(performance.now() - began);
  for (const strike of drawStrikes(seed)) {
    await wait(Math.max(0, strike.atMs - sinceBegin()), undefined, { signal });
    const underWay = turns.filter(({ id, isDone }) => id !== '' && !isDone).length;
    const beganMs = sinceBegin();
    await carryOut(strike, scene).finally(() => {
      scene.note({ ...strike, beganMs, endedMs: sinceBegin(), underWay });
    });
  }
}

async function carryOut(strike: Strike, scene: Scene): Promise<void> {
  const { group, postgres, cutting, signal } = scene;
  switch (strike.kind) {
    case 'kill':
      await group.replace(await processAt(scene, strike.place), 'SIGKILL');
      return;
    case 'term':
      await group.replace(await processAt(scene, strike.place), 'SIGTERM');
      return;
    case 'freeze':
      return freezeFor(await processAt(scene, strike.place), strike.forMs, signal);
    case 'postgres':
      await postgres.kill();
      try {
        await wait(strike.forMs, undefined, { signal });
      } finally {
        await postgres.restart();
      }
      return;
    case 'lost-answer':
      cutting.isOn = true;
      await wait(strike.forMs, undefined, { signal });
      cutting.isOn = false;
      return;
    case 'clock':
      return addClock(strike, scene);
  }
}

/** Where one parent decides how many workers there are, one of them is replaced. */
async function addClock(
  { seconds, place }: Extract<Strike, { readonly kind: 'clock' }>,
  scene: Scene,
): Promise<void> {
  const { group, isOneParent, signal } = scene;
  if (!isOneParent) {
    const environment = { ORION_SHIFT_SECONDS: String(seconds) };
    const module = new URL('../served-turns/preload/shift-clock.ts', import.meta.url);
    return group.add({ module, environment });
  }
  await writeFile(CLOCK_FILE, String(seconds));
  try {
    await group.replace(await processAt(scene, place), 'SIGTERM');
    // Whoever takes it removes it.
    while (await isThere(CLOCK_FILE)) await wait(LOOK_MS, undefined, { signal });
  } finally {
    await rm(CLOCK_FILE, { force: true });
  }
}

async function processAt({ group }: Scene, place: number): Promise<number> {
  const pids = await group.pids();
  const pid = pids[Math.floor(place * pids.length)];
  if (pid === undefined) throw new Error('No process is there');
  return pid;
}

function isThere(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}

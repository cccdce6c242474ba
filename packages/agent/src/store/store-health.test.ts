import { OrionError } from '@orion/contracts';
import { createFakeClock, type FakeClock } from '@orion/testkit';
import { describe, expect, it } from 'vitest';

import { StoreHealth } from './store-health.ts';

const away = (): OrionError => new OrionError({ code: 'STORE_UNAVAILABLE', message: 'away' });
const never: Promise<never> = new Promise(() => undefined);

function setUp(openingMs?: number) {
  const clock = createFakeClock();
  const health = new StoreHealth({ clock, ...(openingMs === undefined ? {} : { openingMs }) });
  return { clock, health };
}

/** A call that is answered after so long. */
async function answer(clock: FakeClock, health: StoreHealth, milliseconds: number): Promise<void> {
  const call = Promise.withResolvers<void>();
  health.observe(call.promise);
  await clock.advance(milliseconds);
  call.resolve();
  await clock.advance(0);
}

/** How long is waited for `work`, in milliseconds. */
async function timeOf(clock: FakeClock, waiting: Promise<void>): Promise<number> {
  let over = false;
  void waiting.then(() => (over = true));
  await clock.advance(0);
  let waited = 0;
  for (; !over && waited < 5_000; waited += 1) await clock.advance(1);
  return waited;
}

describe('waiting in a turn', () => {
  it('gives a store that never answered 15 ms, once', async () => {
    const { clock, health } = setUp();
    health.observe(never, 'opening');
    await clock.advance(1_000);
    expect(await timeOf(clock, health.wait(never))).toBe(15);
    expect(await timeOf(clock, health.wait(never))).toBe(0);
    // Silence is no failure yet, and may pass.
    expect(health.takeNotice()).toBeNull();
    expect(clock.pending()).toBe(0);
  });

  it('gives a file the time to be opened', async () => {
    const { clock, health } = setUp(250);
    expect(await timeOf(clock, health.wait(never))).toBe(250);
  });

  it('gives a slow store four of its usual answers, and a usual one no more than it needs', async () => {
    const { clock, health } = setUp();
    await answer(clock, health, 40);
    await answer(clock, health, 40);
    expect(await timeOf(clock, health.wait(after(clock, 100)))).toBe(100);
    expect(await timeOf(clock, health.wait(never))).toBe(160);
    await answer(clock, health, 2_000);
    // A store that takes for ever for everything does not make a turn take for ever.
    expect(await timeOf(clock, health.wait(never))).toBe(250);
  });

  it('does not count what opening takes as an answer', async () => {
    const { clock, health } = setUp();
    const opening = Promise.withResolvers<void>();
    health.observe(opening.promise, 'opening');
    await clock.advance(200);
    opening.resolve();
    await answer(clock, health, 1);
    expect(await timeOf(clock, health.wait(never))).toBe(15);
  });

  it('goes on waiting while answers come, but not for ever', async () => {
    const { clock, health } = setUp();
    let over = false;
    void health.wait(never).then(() => (over = true));
    let waited = 0;
    for (; !over; waited += 10) await answer(clock, health, 10);
    expect(waited).toBe(250);
  });

  it('ends every wait with the first failure, whoever met it, and tells of it once', async () => {
    const { clock, health } = setUp();
    await answer(clock, health, 50);
    const waiting = health.wait(never);
    health.observe(Promise.reject(away()));
    expect(await timeOf(clock, waiting)).toBe(0);
    expect(await timeOf(clock, health.wait(never))).toBe(0);
    expect(health.takeNotice()).toContain('STORE_UNAVAILABLE: away');
    health.observe(Promise.reject(away()));
    await clock.advance(0);
    expect(health.takeNotice()).toBeNull();
  });

  it('waits again after an answer, also one that came late', async () => {
    const { clock, health } = setUp();
    expect(await timeOf(clock, health.wait(never))).toBe(15);
    await answer(clock, health, 1);
    expect(await timeOf(clock, health.wait(never))).toBe(15);
    health.observe(Promise.reject(away()));
    await clock.advance(0);
    await answer(clock, health, 1);
    expect(await timeOf(clock, health.wait(never))).toBe(15);
  });

  it('does not take a pause of the thread for silence', async () => {
    const timers: (() => void)[] = [];
    let time = 0;
    const health = new StoreHealth({
      clock: {
        now: () => time,
        monotonic: () => time,
        schedule(_milliseconds, callback) {
          timers.push(callback);
          return () => void timers.splice(timers.indexOf(callback), 1);
        },
      },
    });
    const call = Promise.withResolvers<void>();
    health.observe(call.promise);
    let over = false;
    const waiting = health.wait(Promise.all([call.promise, never])).then(() => (over = true));
    await Promise.resolve();
    time = 1_000;
    // A thread that goes on after a pause runs its timers before it reads the answers that came meanwhile.
    for (const run of timers.splice(0)) run();
    call.resolve();
    await new Promise(setImmediate);
    expect(over).toBe(false);
    time += 20;
    for (let round = 0; round < 2; round += 1) {
      for (const run of timers.splice(0)) run();
    }
    await waiting;
    expect(over).toBe(true);
  });
});

describe('waiting at the end', () => {
  const cutAfter = async (clock: FakeClock, health: StoreHealth): Promise<number> =>
    timeOf(
      clock,
      health.end((cut) => new Promise((resolve) => cut.addEventListener('abort', () => resolve()))),
    );

  it.each([
    ['opening', 800],
    ['call', 400],
  ] as const)('waits for a silent %s until it is out for %i ms', async (kind, limit) => {
    const { clock, health } = setUp();
    health.observe(never, kind);
    await clock.advance(300);
    expect(await cutAfter(clock, health)).toBe(limit - 300);
    expect(await cutAfter(clock, health)).toBe(0);
    expect(clock.pending()).toBe(0);
  });

  it('waits while answers come, for five seconds at most', async () => {
    const { clock, health } = setUp();
    health.observe(never);
    const ending = cutAfter(clock, health);
    for (let count = 0; count < 33; count += 1) await answer(clock, health, 150);
    expect(await ending).toBeGreaterThan(0);
    expect(clock.monotonic()).toBe(5_000);
  });

  it('gives a store that failed the time of one attempt', async () => {
    const { clock, health } = setUp();
    health.observe(Promise.reject(away()));
    await clock.advance(0);
    expect(await cutAfter(clock, health)).toBe(20);
    expect(clock.pending()).toBe(0);
  });

  it('is over with its work, and rejects as it does', async () => {
    const { clock, health } = setUp();
    await health.end(() => Promise.resolve());
    await expect(health.end(() => Promise.reject(away()))).rejects.toThrow('away');
    expect(clock.pending()).toBe(0);
  });
});

function after(clock: FakeClock, milliseconds: number): Promise<void> {
  return new Promise((resolve) => clock.schedule(milliseconds, resolve));
}

import { systemClock } from '@orion/contracts';
import type { Clock } from '@orion/contracts';
import { expect, onTestFinished, test, vi } from 'vitest';

import { call, client, never, program, web } from './testing/made-servers.ts';

/** Hazard: a process, a connection or a timer that outlives what it was for. */

/** The real time, and how many timers wait for it. */
function countedClock(): { readonly clock: Clock; readonly pending: () => number } {
  const timers = new Set<symbol>();
  const schedule: Clock['schedule'] = (milliseconds, callback) => {
    const timer = Symbol('timer');
    timers.add(timer);
    const cancel = systemClock.schedule(milliseconds, () => {
      timers.delete(timer);
      callback();
    });
    return () => {
      timers.delete(timer);
      cancel();
    };
  };
  return { clock: { ...systemClock, schedule }, pending: () => timers.size };
}

test('keeps no timer, neither after a list nor after a call, over either transport', async () => {
  const { server } = await web();
  for (const each of [program(), server]) {
    const { clock, pending } = countedClock();
    const made = client(each, { idleMs: 30_000, startMs: 30_000 }, undefined, clock);
    const { leftOut } = await made.offer(never);
    expect(leftOut.join()).not.toContain('cannot be used');
    expect(pending()).toBe(0);
    await call(made, 'act', { what: 'long' });
    await made.close();
    expect(pending()).toBe(0);
  }
});

test('lets go of every connection to a server that has broken a limit', async () => {
  const closed = Promise.withResolvers<void>();
  const opened = Promise.withResolvers<void>();
  const { server } = await web(
    ({ method }, response) => {
      if (method !== 'tools/call') return undefined;
      response.writeHead(200, { 'content-type': 'application/json' }).end('x'.repeat(20_000));
      return 'answered';
    },
    (response) => {
      response.on('close', () => closed.resolve());
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write(': \n\n');
      opened.resolve();
    },
  );
  const made = client(server, { messageBytes: 10_000, idleMs: 30_000 });
  await made.offer(never);
  await opened.promise;
  await expect(call(made, 'act')).rejects.toThrow('it sent a message of more than 10000 bytes');
  await closed.promise;
});

test('asks what does not leave by itself to end, before it is ended', async () => {
  let said = '';
  const act = `
    process.on('SIGTERM', () => process.stderr.write('asked\\n', () => process.exit()));
    setInterval(() => undefined, 1_000);
    answer('stays');`;
  const made = client(program({ ACT: act }), { idleMs: 30_000 }, (_server, text) => {
    said += text;
  });
  await call(made, 'act');
  await made.close();
  expect(said).toBe('asked\n');
});

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

test('ends the servers that run when this process ends', async () => {
  const before = process.listeners('exit');
  vi.resetModules();
  const fresh = await import('./testing/made-servers.ts');
  const stays = 'setInterval(() => undefined, 1_000); answer(String(process.pid));';
  const servers = ['one', 'two'].map((name) => ({ ...program({ ACT: stays, FEW: '1' }), name }));
  const made = fresh.client(servers, { idleMs: 30_000 });
  const { tools } = await made.offer(never);
  const acts = tools.filter(({ definition }) => definition.name.endsWith('act'));
  const answers = await Promise.all(acts.map((tool) => tool.execute({}, fresh.CONTEXT)));
  const pids = answers.map(({ result }) => Number((result as { data: string }).data));
  expect(pids.map(isAlive)).toEqual([true, true]);
  const added = process.listeners('exit').filter((listener) => !before.includes(listener));
  onTestFinished(() => {
    for (const listener of added) process.off('exit', listener);
  });
  expect(added).toHaveLength(1);
  // The event itself would also end what other tests of this process still need.
  for (const listener of added) listener.call(process, 0);
  await expect.poll(() => pids.map(isAlive), { timeout: 4_000 }).toEqual([false, false]);
  await made.close();
  // A group that has ended is not signalled again: its number may be that of others.
  const kill = vi.spyOn(process, 'kill');
  for (const listener of added) listener.call(process, 0);
  expect(kill).not.toHaveBeenCalled();
  kill.mockRestore();
});

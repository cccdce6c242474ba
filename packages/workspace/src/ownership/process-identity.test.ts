import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';

import { createFakeClock } from '@orion/testkit';
import { expect, onTestFinished, test } from 'vitest';

import { parseOwner, parseOwnerText } from './owner-record.ts';
import { createProcessObserver, ownIdentity, sightProcess } from './process-identity.ts';

const onLinux = test.runIf(process.platform === 'linux');

const boot = (): string => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();

/** As on a system that has no /proc. */
function without(platform: NodeJS.Platform): void {
  const real = process.platform;
  Object.defineProperty(process, 'platform', { value: platform });
  onTestFinished(() => {
    Object.defineProperty(process, 'platform', { value: real });
  });
}

onLinux('this process, by its start since the boot of this machine', async () => {
  const identity = await ownIdentity();
  expect(identity).toEqual({
    pid: process.pid,
    host: hostname(),
    pidNamespace: readlinkSync('/proc/self/ns/pid'),
    startedAt: expect.stringMatching(new RegExp(`^${boot()}:\\d+$`, 'u')),
  });
  expect(await sightProcess(process.pid)).toEqual({
    kind: 'running',
    startedAt: identity.startedAt,
  });
});

onLinux('a process that ended is gone, before and after its parent has heard of it', async () => {
  const child = spawn(process.execPath, ['-e', 'process.stdin.resume()']);
  await once(child, 'spawn');
  const pid = child.pid ?? 0;
  expect(await sightProcess(pid)).toMatchObject({ kind: 'running' });
  child.kill('SIGKILL');
  await once(child, 'exit');
  expect(await sightProcess(pid)).toEqual({ kind: 'gone' });
});

onLinux('elsewhere ps is asked', async () => {
  without('darwin');
  const own = await sightProcess(process.pid);
  expect(own.kind).toBe('running');
  expect(own).toEqual(await sightProcess(process.pid));
  expect(own.kind === 'running' && Number.isNaN(Date.parse(own.startedAt))).toBe(false);
  expect(await sightProcess(2 ** 22 + 1)).toEqual({ kind: 'gone' });
});

test('a record of this process has a token of its own', async () => {
  const clock = createFakeClock(Date.UTC(2026, 0, 2));
  const observer = createProcessObserver(clock);
  const own = await observer.identity();
  const owner = await observer.newOwner();
  expect(owner).toEqual({
    version: 1,
    pid: process.pid,
    host: own.host,
    pid_namespace: own.pidNamespace,
    process_started_at: own.startedAt,
    token: expect.stringMatching(/^[0-9a-f]{32}$/u),
    heartbeat_at: '2026-01-02T00:00:00.000Z',
  });
  expect((await observer.newOwner()).token).not.toBe(owner.token);
  expect(await observer.observe(owner)).toEqual({
    kind: 'here',
    process: { kind: 'running', startedAt: own.startedAt },
    now: clock.now(),
  });
  const elsewhere = { kind: 'elsewhere', now: clock.now() };
  expect(await observer.observe({ ...owner, host: 'other' })).toEqual(elsewhere);
  expect(await observer.observe({ ...owner, pid_namespace: 'pid:[1]' })).toEqual(elsewhere);
});

test('who one is is asked once', async () => {
  let asked = 0;
  const identity = { pid: 1, host: 'h', pidNamespace: '', startedAt: 's' };
  const observer = createProcessObserver(createFakeClock(0), async () => {
    asked += 1;
    return identity;
  });
  expect(await observer.identity()).toEqual(identity);
  await observer.newOwner();
  expect(asked).toBe(1);
});

const record = {
  version: 1,
  pid: 42,
  host: 'h',
  pid_namespace: 'pid:[1]',
  process_started_at: 'boot:1',
  token: '0123456789abcdef'.repeat(2),
  heartbeat_at: '2026-01-02T00:00:00.000Z',
} as const;

test('a record of an owner is whole, or none', () => {
  expect(parseOwner({ ...record, more: 1 })).toEqual(record);
  expect(parseOwner({ ...record, released: true })).toEqual({ ...record, released: true });
  expect(parseOwner({ ...record, released: 'yes' })).toEqual(record);
  expect(parseOwner({ ...record, pid_namespace: 7 })).toEqual({ ...record, pid_namespace: '' });
  expect(parseOwner({ ...record, pid: 1 })).toEqual({ ...record, pid: 1 });
  expect(parseOwner(null)).toBeNull();
  const broken: Readonly<Record<string, readonly unknown[]>> = {
    version: [2, '1', undefined],
    pid: [0, -1, 1.5, '42', 2 ** 53, undefined],
    host: [7, undefined],
    process_started_at: [7, undefined],
    token: ['', 7, record.token.slice(1), `${record.token}0`, record.token.toUpperCase()],
    heartbeat_at: ['then', 7, undefined],
  };
  for (const [name, values] of Object.entries(broken)) {
    for (const value of values) {
      expect(parseOwner({ ...record, [name]: value }), `${name} ${String(value)}`).toBeNull();
    }
  }
  expect(parseOwnerText(JSON.stringify(record))).toEqual(record);
  for (const text of ['', '[]', 'null', '{}']) expect(parseOwnerText(text)).toBeNull();
});

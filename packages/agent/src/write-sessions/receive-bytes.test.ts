/** Hazard: an upload outruns the disk, or is confirmed although the disk did not take it. */
import { open, readFile } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { join } from 'node:path';

import type { OpenUpload } from '@orion/contracts';
import { createFakeClock } from '@orion/testkit';
import { describe, expect, it, onTestFinished, vi } from 'vitest';

import { temporaryDirectory } from '../testing/set-up.ts';
import { begin, bytes, openUploads } from '../testing/uploads.ts';
import { receiveBytes } from './receive-bytes.ts';
import type { ReceiveOptions } from './receive-bytes.ts';

const KIB = 1024;
const MIB = 1024 * KIB;

/** Puts something before each call of file handles, until the returned function is called. */
async function before(
  call: 'datasync' | 'write' | 'writev',
  step: () => Promise<void>,
): Promise<() => void> {
  const probe = await open(join(await temporaryDirectory(), 'probe'), 'w');
  const prototype = Object.getPrototypeOf(probe) as FileHandle;
  await probe.close();
  const original = Reflect.get(prototype, call) as (...args: unknown[]) => Promise<unknown>;
  const spy = vi.spyOn(prototype, call).mockImplementation(async function (
    this: FileHandle,
    ...args: unknown[]
  ) {
    await step();
    return (await original.apply(this, args)) as never;
  });
  const restore = (): void => spy.mockRestore();
  onTestFinished(restore);
  return restore;
}

async function fillDisk(): Promise<() => void> {
  const full = (): Promise<void> =>
    Promise.reject(Object.assign(new Error('ENOSPC: injected'), { code: 'ENOSPC', errno: -28 }));
  const restores = [await before('write', full), await before('writev', full)];
  return () => restores.forEach((restore) => restore());
}

describe('a disk that is full', () => {
  it('ends the upload with the reason, and once there is space it goes on where it was', async () => {
    const { orion, sessions, root, read } = await openUploads();
    const text = Buffer.from('0123456789'.repeat(300_000));
    const id = await begin(sessions);
    await sessions.upload(id, 0, bytes(text.subarray(0, 100_000)));
    const restore = await fillDisk();
    let asked = 0;
    async function* rest(): AsyncGenerator<Uint8Array, void> {
      for (let from = 100_000; from < text.length; from += 10_000) {
        asked = from;
        yield await Promise.resolve(text.subarray(from, from + 10_000));
      }
    }
    const ended = await sessions.upload(id, 100_000, rest()).catch((error: unknown) => error);
    const { bytes: stored, saved_bytes: saved } = (await sessions.find(id)) as OpenUpload;
    expect(ended).toMatchObject({
      code: 'DISK_FULL',
      details: { errno: 'ENOSPC', offset: stored, saved_bytes: 100_000 },
    });
    expect(asked).toBeLessThan(100_000 + 2 * MIB);
    // What only memory holds is never said to be safe: another process would find the rest.
    expect(stored).toBeGreaterThan(100_000);
    const state = join(orion.stateDirectory, 'logs', 'write_sessions', id, 'state.json');
    const { buffer_size } = JSON.parse(await readFile(state, 'utf8')) as { buffer_size: number };
    expect([saved, buffer_size]).toEqual([100_000, 100_000]);
    expect(await sessions.list()).toMatchObject([{ bytes: stored, saved_bytes: 100_000 }]);
    await expect(sessions.upload(id, 100_000, bytes('x'))).rejects.toMatchObject({
      code: 'OFFSET_MISMATCH',
      message: `${stored} bytes have arrived (100000 are stored), not 100000.`,
      details: { offset: stored, saved_bytes: 100_000 },
    });
    await expect(sessions.upload(id, stored, bytes('x'))).rejects.toMatchObject({
      code: 'DISK_FULL',
      details: { offset: stored, saved_bytes: 100_000 },
    });
    await expect(sessions.finalize(id)).rejects.toMatchObject({ code: 'DISK_FULL' });
    await expect(read('a.txt')).rejects.toMatchObject({ code: 'ENOENT' });
    restore();
    const { bytes: offset } = (await sessions.find(id)) as OpenUpload;
    expect(offset).toBe(stored);
    const all = await sessions.upload(id, offset, bytes(text.subarray(offset)));
    expect(all).toMatchObject({ bytes: text.length, saved_bytes: text.length });
    await sessions.finalize(id, { bytes: text.length });
    expect((await readFile(join(root, 'a.txt'))).equals(text)).toBe(true);
    await orion.close();
  });

  it('lets no session begin', async () => {
    const { sessions } = await openUploads();
    const restore = await fillDisk();
    await expect(begin(sessions)).rejects.toMatchObject({ code: 'DISK_FULL' });
    restore();
    expect(await sessions.list()).toEqual([]);
    await begin(sessions);
  });
});

describe('a source that is faster than the disk', () => {
  it.each([1, 64 * KIB, 3 * MIB])(
    'is not read ahead by more than 1 MiB, in chunks of %i',
    async (size) => {
      let synced = 0;
      const { orion, sessions } = await openUploads();
      const id = await begin(sessions);
      const state = join(orion.stateDirectory, 'logs', 'write_sessions', id, 'state.json');
      await before('datasync', async () => {
        await new Promise((resolve) => setTimeout(resolve, 10));
        const { buffer_size } = JSON.parse(await readFile(state, 'utf8')) as {
          buffer_size: number;
        };
        synced = buffer_size;
      });
      const chunk = Buffer.alloc(size, 0x61);
      const count = Math.max(4, Math.min(5000, (6 * MIB) / size));
      let given = 0;
      let ahead = 0;
      async function* source(): AsyncGenerator<Uint8Array, void> {
        for (let index = 0; index < count; index += 1) {
          ahead = Math.max(ahead, given - synced);
          given += size;
          yield await Promise.resolve(chunk);
        }
      }
      await sessions.upload(id, 0, source());
      // What the last save but one covered is known here.
      expect(ahead).toBeLessThanOrEqual(2 * (MIB + 64 * KIB) + size);
      expect(await sessions.find(id)).toMatchObject({ bytes: given });
    },
  );
});

describe('a source that is slow', () => {
  it('has its bytes saved in time, although it goes on', async () => {
    const clock = createFakeClock();
    const { orion, sessions } = await openUploads({ clock, settings: { saveMs: 3000 } });
    const id = await begin(sessions);
    const state = join(orion.stateDirectory, 'logs', 'write_sessions', id, 'state.json');
    const saved = async (): Promise<unknown> =>
      (JSON.parse(await readFile(state, 'utf8')) as Record<string, unknown>)['buffer_size'];
    const more = Promise.withResolvers<void>();
    async function* source(): AsyncGenerator<Uint8Array, void> {
      yield Buffer.from('abc');
      await more.promise;
      yield Buffer.from('d');
    }
    const uploaded = sessions.upload(id, 0, source());
    await expect.poll(() => sessions.find(id)).toMatchObject({ bytes: 3 });
    expect(await saved()).toBe(0);
    await clock.advance(2999);
    expect(await saved()).toBe(0);
    await clock.advance(1);
    await expect.poll(saved).toBe(3);
    more.resolve();
    expect(await uploaded).toMatchObject({ bytes: 4 });
    expect(await saved()).toBe(4);
  });

  it('saves nothing more once the upload has failed', async () => {
    const clock = createFakeClock();
    const failing = Promise.withResolvers<never>();
    const handle: ReceiveOptions['handle'] = {
      appendBytes: (piece) => void (arrived += piece.length),
      bytes: () => arrived,
      save: () => failing.promise,
      lost: new AbortController().signal,
    };
    let arrived = 0;
    async function* source(): AsyncGenerator<Uint8Array, void> {
      yield Buffer.from('a');
      await clock.advance(3000);
      yield Buffer.from('b');
      failing.reject(new Error('the disk is full'));
      await failing.promise.catch(() => undefined);
      yield Buffer.from('c');
    }
    const { signal } = new AbortController();
    const record = {} as ReceiveOptions['record'];
    const upload = { handle, record, source: source(), maxBytes: 9, saveMs: 3000, clock, signal };
    await expect(receiveBytes(upload)).rejects.toThrow('the disk is full');
    expect(clock.pending()).toBe(0);
  });
});

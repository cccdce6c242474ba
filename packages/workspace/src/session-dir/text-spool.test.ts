import { encodeWtf8 } from '@orion/contracts';
import { randomUUID } from 'node:crypto';
import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { createFakeClock } from '@orion/testkit';
import { interceptDisk } from '@orion/testkit/disk-faults';
import type { DiskRule } from '@orion/testkit/disk-faults';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bytesOf, eventually, temporaryDirectory } from '../testing/temp-workspace.ts';
import { HAND_OVER_MS, TextSpool } from './text-spool.ts';

function spoolIn(directory: string): {
  spool: TextSpool;
  clock: ReturnType<typeof createFakeClock>;
} {
  const clock = createFakeClock();
  const spool = new TextSpool({
    clock,
    nextPath: async () => join(directory, `${randomUUID()}.txt`),
    mayWrite: async () => undefined,
    onFailure: (error) => {
      throw error;
    },
  });
  return { spool, clock };
}

/** A spool of numbered files, whose directory and permission to write are the test's to change. */
async function numberedSpool(): Promise<{
  spool: TextSpool;
  clock: ReturnType<typeof createFakeClock>;
  onWrite: (hook: () => void) => void;
  onNewFile: (hook: () => void) => void;
  contents: () => Promise<Record<string, string>>;
}> {
  const directory = await temporaryDirectory();
  const clock = createFakeClock();
  let files = 0;
  let write = (): void => undefined;
  let newFile = (): void => undefined;
  const spool = new TextSpool({
    clock,
    nextPath: async () => {
      newFile();
      return join(directory, `${(files += 1)}.txt`);
    },
    mayWrite: async () => write(),
    onFailure: () => undefined,
  });
  return {
    spool,
    clock,
    onWrite: (hook) => (write = hook),
    onNewFile: (hook) => (newFile = hook),
    contents: async () => {
      const names = (await readdir(directory)).toSorted();
      const texts = names.map((name) => readFile(join(directory, name), 'utf8'));
      return Object.fromEntries((await Promise.all(texts)).map((text, at) => [names[at], text]));
    },
  };
}

async function withDisk<T>(rule: DiskRule, action: () => Promise<T>): Promise<T> {
  const disk = await interceptDisk();
  disk.use(rule);
  try {
    return await action();
  } finally {
    disk.restore();
  }
}

/** Code units, so that pairs are split as well. */
const pieces = fc.array(
  fc.array(fc.constantFrom('a', '\n', 'é', '€', '\ud83d', '\ude00'), { maxLength: 4 }),
  { maxLength: 30 },
);

describe('a text spool', () => {
  it('holds the same bytes however the text is split and whenever it is looked at', async () => {
    const directory = await temporaryDirectory();
    await fc.assert(
      fc.asyncProperty(pieces, fc.array(fc.nat({ max: 3 })), async (parts, looks) => {
        const { spool } = spoolIn(directory);
        let text = '';
        for (const [index, part] of parts.entries()) {
          spool.append(part.join(''));
          text += part.join('');
          switch (looks[index]) {
            case 0:
              expect(spool.bytes()).toBe(encodeWtf8(text).length);
              break;
            case 1:
              await spool.sync();
              break;
            case 2:
              expect(await bytesOf(spool.read())).toEqual(encodeWtf8(text));
              break;
            default:
          }
        }
        const whole = encodeWtf8(text);
        expect(spool.bytes()).toBe(whole.length);
        expect(await bytesOf(spool.read(2, 9))).toEqual(whole.subarray(2, 9));
        await spool.finish();
        await spool.sync();
        const path = spool.path();
        expect(path === null ? Buffer.alloc(0) : await readFile(path)).toEqual(whole);
        expect(spool.durableBytes()).toBe(whole.length);
        expect(spool.durableLineFeeds()).toBe(text.split('\n').length - 1);
        await spool.close();
      }),
      { numRuns: 60 },
    );
  });

  it('keeps half a pair back until its other half comes', async () => {
    const { spool, clock } = spoolIn(await temporaryDirectory());
    spool.append('a\ud83d');
    await clock.advance(100);
    await eventually(() => spool.isHandedOver());
    await spool.sync();
    expect(await readFile(spool.path() ?? '', 'utf8')).toBe('a');
    spool.append('\ude00');
    await spool.sync();
    expect(await readFile(spool.path() ?? '', 'utf8')).toBe('a😀');
    await spool.close();
  });

  it('ends a sync although text goes on coming', async () => {
    const { spool } = spoolIn(await temporaryDirectory());
    spool.append('x'.repeat(100_000));
    let flowing = true;
    const flood = (): void => {
      if (!flowing) return;
      spool.append('y'.repeat(200_000));
      setImmediate(flood);
    };
    flood();
    await spool.sync();
    expect(spool.durableBytes()).toBeGreaterThanOrEqual(100_000);
    await spool.handOver();
    flowing = false;
    expect(spool.bytes()).toBeGreaterThan(spool.durableBytes());
    await spool.sync();
    expect(spool.durableBytes()).toBe(spool.bytes());
    await spool.close();
  });

  it('makes one first file although its time to be written comes while a sync makes it (S5)', async () => {
    const directory = await temporaryDirectory();
    const clock = createFakeClock();
    const failures: unknown[] = [];
    const allowed: (() => void)[] = [];
    const spool = new TextSpool({
      clock,
      nextPath: async () => join(directory, 'pending.txt'),
      mayWrite: () => new Promise((resolve) => allowed.push(resolve)),
      onFailure: (error) => failures.push(error),
    });
    spool.append('a line\n');
    const synced = spool.sync();
    await eventually(() => allowed.length > 0);
    await clock.advance(HAND_OVER_MS);
    const allowing = setInterval(() => {
      for (const allow of allowed.splice(0)) allow();
    }, 1);
    expect(await synced).toBe('new_file');
    clearInterval(allowing);
    expect(failures).toEqual([]);
    expect(await readFile(join(directory, 'pending.txt'), 'utf8')).toBe('a line\n');
    await spool.close();
  });

  it('goes on in its own file after it was not allowed to write for a while (S6)', async () => {
    const directory = await temporaryDirectory();
    const clock = createFakeClock();
    const failures: unknown[] = [];
    const refusal = new Error('not yours');
    let refused = true;
    let files = 0;
    const spool = new TextSpool({
      clock,
      nextPath: async () => join(directory, `${(files += 1)}.txt`),
      mayWrite: async () => {
        if (refused) throw refusal;
      },
      onFailure: (error) => failures.push(error),
    });
    const refuseOne = async (text: string): Promise<void> => {
      refused = true;
      spool.append(text);
      await clock.advance(100);
      await eventually(() => spool.isFailed());
      await expect(spool.sync()).rejects.toBe(refusal);
      refused = false;
    };
    await refuseOne('one ');
    expect([failures, files, spool.path()]).toEqual([[refusal], 0, null]);
    await spool.sync();
    expect(spool.isFailed()).toBe(false);
    await refuseOne('two');
    expect([failures, files, spool.durableBytes()]).toEqual([[refusal, refusal], 1, 4]);
    await spool.sync();
    // Its file was not touched, so there is no second one.
    expect([files, spool.path()]).toEqual([1, join(directory, '1.txt')]);
    expect(await readFile(join(directory, '1.txt'), 'utf8')).toBe('one two');
    await spool.close();
  });

  it('never goes back to a file that was lost (S4)', async () => {
    const { spool, clock, onWrite, contents } = await numberedSpool();
    spool.append('one ');
    await spool.sync();
    await spool.confirmFile();
    onWrite(() => {
      spool.distrust(new Error('its directory is gone'));
      throw new Error('nothing may be written');
    });
    spool.append('two');
    await clock.advance(100);
    await eventually(() => spool.isFailed());
    onWrite(() => undefined);
    expect(await spool.sync()).toBe('new_file');
    expect(await contents()).toEqual({ '1.txt': 'one ', '2.txt': 'one two' });
    await spool.confirmFile();
    expect(await contents()).toEqual({ '2.txt': 'one two' });
    await spool.close();
  });

  it('leaves nothing of a text that is cleared while a new file takes it over', async () => {
    const { spool, onNewFile, contents } = await numberedSpool();
    spool.append('a long text');
    await spool.sync();
    spool.distrust(new Error('lost'));
    onNewFile(() => {
      spool.clear();
      spool.append('b');
    });
    await spool.sync();
    await spool.confirmFile();
    expect(await contents()).toEqual({ '2.txt': 'b' });
    expect([spool.bytes(), spool.durableBytes()]).toEqual([1, 1]);
    await spool.close();
  });

  it('leaves nothing of a text that is cleared while its file is cut back', async () => {
    const { spool, clock, onWrite, contents } = await numberedSpool();
    spool.append('a long text');
    await spool.sync();
    onWrite(() => {
      throw new Error('not now');
    });
    spool.append(' goes on');
    await clock.advance(100);
    await eventually(() => spool.isFailed());
    onWrite(() => undefined);
    let cleared = false;
    await withDisk(
      ({ name }) => {
        if (name === 'ftruncate' && !cleared) {
          cleared = true;
          spool.clear();
          spool.append('b');
        }
        return null;
      },
      () => spool.sync(),
    );
    expect(cleared).toBe(true);
    expect(await contents()).toEqual({ '1.txt': 'b' });
    await spool.close();
  });

  it('keeps the file with the durable text until a newer one has it, whatever is confirmed', async () => {
    const { spool, contents } = await numberedSpool();
    spool.append('one ');
    await spool.sync();
    spool.append('two');
    spool.distrust(new Error('lost'));
    const failed = withDisk(
      ({ name }) => (name === 'fdatasync' ? { kind: 'error', code: 'EIO' } : null),
      () => spool.sync(),
    );
    await expect(failed).rejects.toMatchObject({ code: 'EIO' });
    await spool.confirmFile();
    expect(await contents()).toEqual({ '1.txt': 'one ', '2.txt': 'one two' });
    expect(spool.path()).toMatch(/1\.txt$/u);
    expect(await bytesOf(spool.read())).toEqual(Buffer.from('one two'));
    await spool.sync();
    expect(await contents()).toEqual({ '1.txt': 'one ', '3.txt': 'one two' });
    await spool.confirmFile();
    expect(await contents()).toEqual({ '3.txt': 'one two' });
    await spool.close();
  });

  it('takes 300,000 tiny strings without much memory or time', async () => {
    const { spool } = spoolIn(await temporaryDirectory());
    const begun = performance.now();
    for (let index = 0; index < 300_000; index += 1) {
      spool.append('some text and a line feed \n');
      if (index % 50 === 0) await Promise.resolve();
    }
    const appended = performance.now() - begun;
    await spool.sync();
    expect(spool.durableBytes()).toBe(300_000 * 27);
    expect(appended).toBeLessThan(2_000);
    await spool.close();
  });
});

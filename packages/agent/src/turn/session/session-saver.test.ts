/** A stream that is faster than the disk. */
import type { SaveResult } from '@orion/contracts';
import { createFakeClock } from '@orion/testkit';
import { describe, expect, it } from 'vitest';
import {
  CATCH_UP_MS,
  MAX_UNSAVED_BYTES,
  sessionSaver,
  type SessionSaver,
} from './session-saver.ts';

const RECORD = {} as never;

type PendingSave = {
  readonly resolve: (result: SaveResult) => void;
  readonly reject: (error: unknown) => void;
};

function slowDisk(): {
  readonly saver: SessionSaver;
  readonly clock: ReturnType<typeof createFakeClock>;
  readonly saves: PendingSave[];
  readonly append: (bytes: number) => void;
} {
  const clock = createFakeClock();
  const saves: PendingSave[] = [];
  let bytes = 0;
  const handle = {
    bytes: () => bytes,
    save: () => new Promise<SaveResult>((resolve, reject) => saves.push({ resolve, reject })),
  };
  const observer = { saved: () => undefined, failed: () => undefined };
  const saver = sessionSaver(handle, 0, clock, observer);
  return {
    saver,
    clock,
    saves,
    append: (more) => {
      bytes += more;
    },
  };
}

describe('text that waits for the disk', () => {
  it('holds up a stream that brings more than the disk takes, and no other', async () => {
    const { saver, saves, append } = slowDisk();
    append(MAX_UNSAVED_BYTES);
    expect(saver.isBehind()).toBe(false);
    append(1);
    expect(saver.isBehind()).toBe(true);
    let caughtUp = false;
    const waiting = saver.catchUp(RECORD).then(() => {
      caughtUp = true;
    });
    expect(saves).toHaveLength(1);
    // The save covered too little; another one follows by itself.
    saves[0]?.resolve({ durableBytes: 0, persistence: 'disk' });
    await expect.poll(() => saves.length).toBe(2);
    expect(caughtUp).toBe(false);
    saves[1]?.resolve({ durableBytes: MAX_UNSAVED_BYTES, persistence: 'disk' });
    await waiting;
    expect(saver.isBehind()).toBe(false);
  });

  it('holds it up once when a save hangs', async () => {
    const { saver, clock, saves, append } = slowDisk();
    append(2 * MAX_UNSAVED_BYTES);
    const waiting = saver.catchUp(RECORD);
    await clock.advance(CATCH_UP_MS);
    await waiting;
    append(2 * MAX_UNSAVED_BYTES);
    expect(saver.isBehind()).toBe(false);
    saves[0]?.resolve({ durableBytes: MAX_UNSAVED_BYTES, persistence: 'disk' });
    await expect.poll(() => saver.isBehind()).toBe(true);
  });

  it('does not hold it up when there is no disk to wait for', async () => {
    const { saver, saves, append } = slowDisk();
    append(2 * MAX_UNSAVED_BYTES);
    const waiting = saver.catchUp(RECORD);
    saves[0]?.reject(new Error('disk full'));
    await waiting;
    append(MAX_UNSAVED_BYTES);
    expect(saver.isBehind()).toBe(false);
  });
});

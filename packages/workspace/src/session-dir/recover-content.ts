/**
 * Makes the content file of a dead process one that can be appended to again.
 *
 * The file wins over `state.json`. What may stand at its end and never was text is cut off: the start
 * of a code point, and after a power cut the zeros of blocks that were allocated but not written.
 */
import { countLineFeeds } from '@orion/contracts';
import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { scanRange } from '../disk/files.ts';
import { writeFrom } from '../disk/write-all.ts';
import { incompleteTail } from './wtf8.ts';

export type RecoveredContent = {
  readonly handle: FileHandle;
  readonly path: string;
  readonly bytes: number;
  readonly lineFeeds: number;
  readonly notes: readonly string[];
};

export type ContentToRecover = {
  readonly path: string;
  /** What was durable for certain. */
  readonly durableBytes: number;
  /** The machine was restarted since: bytes behind the durable ones may never have been written. */
  readonly afterRestart: boolean;
  /**
   * Another path when the old owner is only presumed dead: if it wakes up inside a write, that write
   * goes into a file that nobody reads any more.
   */
  readonly copyTo: string | null;
};

export async function recoverContent(request: ContentToRecover): Promise<RecoveredContent> {
  const old = await open(request.path, constants.O_RDWR | constants.O_NOFOLLOW);
  let handle = old;
  try {
    const scan = await scanContent(old, request);
    const { size } = await old.stat();
    const notes: string[] = [];
    if (scan.bytes < size) {
      notes.push(`${size - scan.bytes} bytes at the end were no complete text and are left out.`);
    }
    if (request.copyTo !== null) {
      handle = await open(request.copyTo, 'wx+', 0o600);
      await writeFrom(handle, scanRange(old, 0, scan.bytes));
      await old.close();
    } else if (scan.bytes < size) {
      await old.truncate(scan.bytes);
    }
    await handle.datasync();
    return { handle, path: request.copyTo ?? request.path, ...scan, notes };
  } catch (error) {
    await handle.close().catch(() => undefined);
    if (handle !== old) await old.close().catch(() => undefined);
    throw error;
  }
}

async function scanContent(
  handle: FileHandle,
  request: ContentToRecover,
): Promise<{ bytes: number; lineFeeds: number }> {
  let position = 0;
  let lineFeeds = 0;
  /** Behind the last byte that is text for certain. */
  let end = 0;
  for await (const chunk of scanRange(handle, 0)) {
    lineFeeds += countLineFeeds(chunk);
    if (request.afterRestart) end = endWithoutZeros(chunk, position, request.durableBytes, end);
    else end = position + chunk.length;
    position += chunk.length;
  }
  const tail = Buffer.alloc(Math.min(3, end));
  await handle.read(tail, 0, tail.length, end - tail.length);
  return { bytes: end - incompleteTail(tail), lineFeeds };
}

function endWithoutZeros(
  chunk: Uint8Array,
  position: number,
  durable: number,
  end: number,
): number {
  for (let index = chunk.length - 1; index >= 0; index -= 1) {
    const offset = position + index;
    if (chunk[index] !== 0 || offset < durable) return offset + 1;
  }
  return end;
}

/**
 * Makes the content file of a dead process appendable again.
 *
 * The file takes precedence over `state.json`. Bytes at its end that were never text are cut off: an incomplete code
 * point and, after a power cut, zeros of blocks that were allocated but not written. An upload may have any bytes.
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
  /** False: an upload, which may end anywhere in a character. */
  readonly isText: boolean;
  /** Bytes that are certainly durable. */
  readonly durableBytes: number;
  /** The machine has restarted since. Bytes after the durable ones may never have been written. */
  readonly afterRestart: boolean;
  /**
   * A path to copy to when the old owner is only presumed dead. If it wakes up during a write, it writes to a file that
   * is no longer used.
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
      notes.push(`${size - scan.bytes} bytes at the end were not complete text and were removed.`);
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
  /** The offset after the last byte that is certainly text. */
  let end = 0;
  for await (const chunk of scanRange(handle, 0)) {
    lineFeeds += countLineFeeds(chunk);
    if (request.afterRestart) end = endWithoutZeros(chunk, position, request.durableBytes, end);
    else end = position + chunk.length;
    position += chunk.length;
  }
  const tail = Buffer.alloc(Math.min(3, end));
  await handle.read(tail, 0, tail.length, end - tail.length);
  return { bytes: request.isText ? end - incompleteTail(tail) : end, lineFeeds };
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

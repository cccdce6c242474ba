import type { FileHandle } from 'node:fs/promises';
import { systemError } from './disk-error.ts';

/** Writes every byte. The system may accept fewer than it was given without reporting an error. */
export async function writeAll(
  handle: FileHandle,
  bytes: Uint8Array,
  position: number,
): Promise<void> {
  let written = 0;
  while (written < bytes.length) {
    const result = await handle.write(bytes, written, bytes.length - written, position + written);
    if (result.bytesWritten === 0) {
      throw systemError('EIO', 'write accepted no byte');
    }
    written += result.bytesWritten;
  }
}

/** Writes all pieces in sequence, in as few calls as possible. */
export async function writeAllOf(
  handle: FileHandle,
  pieces: readonly Uint8Array[],
  position: number,
): Promise<void> {
  const accepted = pieces.length > 1 ? (await handle.writev(pieces, position)).bytesWritten : 0;
  let start = 0;
  for (const piece of pieces) {
    const skipped = Math.min(piece.length, Math.max(0, accepted - start));
    await writeAll(handle, piece.subarray(skipped), position + start + skipped);
    start += piece.length;
  }
}

/** Writes everything from a source, starting at offset 0. Returns the number of bytes. */
export async function writeFrom(
  handle: FileHandle,
  source: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): Promise<number> {
  let position = 0;
  for await (const chunk of source) {
    await writeAll(handle, chunk, position);
    position += chunk.length;
  }
  return position;
}

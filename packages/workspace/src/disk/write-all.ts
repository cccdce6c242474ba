import type { FileHandle } from 'node:fs/promises';

/** Writes every byte: the system may accept fewer than it was given, without an error. */
export async function writeAll(
  handle: FileHandle,
  bytes: Uint8Array,
  position: number,
): Promise<void> {
  let written = 0;
  while (written < bytes.length) {
    const result = await handle.write(bytes, written, bytes.length - written, position + written);
    if (result.bytesWritten === 0) {
      throw Object.assign(new Error('write accepted no byte'), { errno: -5, code: 'EIO' });
    }
    written += result.bytesWritten;
  }
}

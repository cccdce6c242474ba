/**
 * Reads files that may come with a repository: configuration, ignore files, instructions.
 *
 * F1. Only regular files are read. They are opened without waiting for the other end of a pipe, and the opened file is
 *     checked, not its name.
 * F2. No more bytes than the limit are read, whatever the reported size.
 * F3. A link is followed only if the caller allows a folder, and only to a file inside it.
 */
import { createReadStream } from 'node:fs';
import { lstat, realpath } from 'node:fs/promises';
import { errnoOf } from '../disk/disk-error.ts';
import { readBytes, readRegularFile } from '../disk/files.ts';
import { isInside } from '../path-policy/resolve-path.ts';

export type ForeignFile =
  | { readonly kind: 'bytes'; readonly bytes: Buffer }
  | { readonly kind: 'missing' }
  /** `reason` completes "because …". */
  | { readonly kind: 'refused'; readonly reason: string };

/** `within`: a resolved folder; links may point to files below it. */
export async function readForeignFile(
  path: string,
  maxBytes: number,
  within?: string,
): Promise<ForeignFile> {
  const found = await readBeginning(path, maxBytes, within);
  if (found.kind !== 'bytes' || found.bytes.length <= maxBytes) return found;
  return { kind: 'refused', reason: `it has more than ${maxBytes} bytes` };
}

/** The first `maxBytes` bytes, plus one if there are more. */
export async function readBeginning(
  path: string,
  maxBytes: number,
  within?: string,
): Promise<ForeignFile> {
  try {
    const place = await placeOf(path, within);
    if (typeof place !== 'string') return place;
    const bytes = await readRegularFile(place, (handle) => readBytes(handle, maxBytes + 1));
    if (bytes === null) return { kind: 'refused', reason: 'it is not a regular file' };
    return { kind: 'bytes', bytes };
  } catch (error) {
    const code = errnoOf(error);
    if (code === null) throw error;
    if (code === 'ENOENT' || code === 'ENOTDIR') return { kind: 'missing' };
    return { kind: 'refused', reason: `it cannot be read (${code})` };
  }
}

/**
 * Reads a file that a person named. It may be a link, pipe or device, but is still limited. Null if it has more bytes;
 * rejects with the system error.
 */
export async function readTypedFile(path: string, maxBytes: number): Promise<Buffer | null> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of createReadStream(path) as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > maxBytes) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

async function placeOf(path: string, within: string | undefined): Promise<string | ForeignFile> {
  const found = await lstat(path);
  if (!found.isSymbolicLink()) return path;
  if (within === undefined) return { kind: 'refused', reason: 'it is a link' };
  const place = await realpath(path);
  if (isInside(within, place)) return place;
  return { kind: 'refused', reason: 'it is a link that leads out of the workspace' };
}

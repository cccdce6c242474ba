import { createHash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import { readRegularFile, scanRange } from '../disk/files.ts';
import { TextInspector } from './text-facts.ts';
import type { TextFacts } from './text-facts.ts';

export type FileHash = { readonly sha256: string; readonly bytes: number };

/** Nothing has this hash: of a file that is longer than what it is compared with, and not read to its end. */
const TOO_LONG = '';

/** `see` sees the bytes pass by. */
export async function hashFile(
  handle: FileHandle,
  maxBytes: number,
  see: (chunk: Uint8Array) => void = () => undefined,
): Promise<FileHash> {
  const hash = createHash('sha256');
  let bytes = 0;
  for await (const chunk of scanRange(handle, 0)) {
    hash.update(chunk);
    see(chunk);
    bytes += chunk.length;
    if (bytes > maxBytes) return { sha256: TOO_LONG, bytes };
  }
  return { sha256: hash.digest('hex'), bytes };
}

/** The same in one pass with what kind of text it is; null when there are more bytes, whatever its size says. */
export async function describeFile(
  handle: FileHandle,
  maxBytes: number,
): Promise<(FileHash & TextFacts) | null> {
  if ((await handle.stat()).size > maxBytes) return null;
  const text = new TextInspector();
  const hash = await hashFile(handle, maxBytes, (chunk) => text.add(chunk));
  return hash.sha256 === TOO_LONG ? null : { ...hash, ...text.facts() };
}

/** Null when no regular file has this name. One with more than `maxBytes` equals nothing. */
export async function hashPath(
  path: string,
  maxBytes: number = Number.POSITIVE_INFINITY,
): Promise<FileHash | null> {
  return readRegularFile(path, (handle) => hashFile(handle, maxBytes));
}

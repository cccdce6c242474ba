import { createHash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import { readRegularFile, scanRange } from '../disk/files.ts';
import { TextInspector } from './text-facts.ts';
import type { TextFacts } from './text-facts.ts';

export type FileHash = { readonly sha256: string; readonly bytes: number };

/** Equals no hash. Stands for a file that is longer than expected and was not read to the end. */
const TOO_LONG = '';

/** `see` receives each chunk. */
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

/** Hashes a file and inspects its text in one pass. Null if it has more than `maxBytes`, whatever its reported size. */
export async function describeFile(
  handle: FileHandle,
  maxBytes: number,
): Promise<(FileHash & TextFacts) | null> {
  if ((await handle.stat()).size > maxBytes) return null;
  const text = new TextInspector();
  const hash = await hashFile(handle, maxBytes, (chunk) => text.add(chunk));
  return hash.sha256 === TOO_LONG ? null : { ...hash, ...text.facts() };
}

/** Null if there is no regular file with this name. The hash of a file with more than `maxBytes` equals no other. */
export async function hashPath(
  path: string,
  maxBytes: number = Number.POSITIVE_INFINITY,
): Promise<FileHash | null> {
  return readRegularFile(path, (handle) => hashFile(handle, maxBytes));
}

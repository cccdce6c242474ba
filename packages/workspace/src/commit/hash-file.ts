import { createHash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import type { TargetSnapshot } from '@orion/contracts';
import { closeRead, openRegularFile, scanRange } from '../disk/files.ts';
import { TextTally } from './text-tally.ts';

export type FileHash = { readonly sha256: string; readonly bytes: number };

/** Nothing has this hash: of a file that is longer than what it is compared with, and not read to its end. */
const TOO_LONG = '';

async function hashFile(handle: FileHandle, maxBytes: number): Promise<FileHash> {
  const hash = createHash('sha256');
  let bytes = 0;
  for await (const chunk of scanRange(handle, 0)) {
    hash.update(chunk);
    bytes += chunk.length;
    if (bytes > maxBytes) return { sha256: TOO_LONG, bytes };
  }
  return { sha256: hash.digest('hex'), bytes };
}

export type TextFacts = FileHash & Pick<TargetSnapshot, 'eol' | 'bom'>;

/** The same in one pass with what kind of text it is; null when there are more bytes, whatever its size says. */
export async function describeFile(
  handle: FileHandle,
  maxBytes: number,
): Promise<TextFacts | null> {
  if ((await handle.stat()).size > maxBytes) return null;
  const hash = createHash('sha256');
  const tally = new TextTally();
  for await (const chunk of scanRange(handle, 0)) {
    hash.update(chunk);
    tally.add(chunk);
    if (tally.bytes > maxBytes) return null;
  }
  return {
    sha256: hash.digest('hex'),
    bytes: tally.bytes,
    eol: tally.eol(),
    bom: tally.bom(),
  };
}

/** Null when no regular file has this name. One with more than `maxBytes` equals nothing. */
export async function hashPath(
  path: string,
  maxBytes: number = Number.POSITIVE_INFINITY,
): Promise<FileHash | null> {
  const handle = await openRegularFile(path);
  if (handle === null) return null;
  try {
    return await hashFile(handle, maxBytes);
  } finally {
    await closeRead(handle);
  }
}

import { createHash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import type { TargetSnapshot } from '@orion/contracts';
import { closeRead, openRegularFile, scanRange } from '../disk/files.ts';
import { TextTally } from './text-tally.ts';

export type FileHash = { readonly sha256: string; readonly bytes: number };

export async function hashFile(handle: FileHandle): Promise<FileHash> {
  const hash = createHash('sha256');
  let bytes = 0;
  for await (const chunk of scanRange(handle, 0)) {
    hash.update(chunk);
    bytes += chunk.length;
  }
  return { sha256: hash.digest('hex'), bytes };
}

export type TextFacts = FileHash & Pick<TargetSnapshot, 'eol' | 'bom'>;

/** The same in one pass with what kind of text it is. */
export async function describeFile(handle: FileHandle): Promise<TextFacts> {
  const hash = createHash('sha256');
  const tally = new TextTally();
  for await (const chunk of scanRange(handle, 0)) {
    hash.update(chunk);
    tally.add(chunk);
  }
  return {
    sha256: hash.digest('hex'),
    bytes: tally.bytes,
    eol: tally.eol(),
    bom: tally.bom(),
  };
}

/** Null when no regular file has this name. */
export async function hashPath(path: string): Promise<FileHash | null> {
  const handle = await openRegularFile(path);
  if (handle === null) return null;
  try {
    return await hashFile(handle);
  } finally {
    await closeRead(handle);
  }
}

import { createHash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import { openRegularFile, readRange } from '../disk/files.ts';

export type FileHash = { readonly sha256: string; readonly bytes: number };

export async function hashFile(handle: FileHandle): Promise<FileHash> {
  const hash = createHash('sha256');
  let bytes = 0;
  for await (const chunk of readRange(handle, 0)) {
    hash.update(chunk);
    bytes += chunk.length;
  }
  return { sha256: hash.digest('hex'), bytes };
}

/** Null when no regular file has this name. */
export async function hashPath(path: string): Promise<FileHash | null> {
  const handle = await openRegularFile(path);
  if (handle === null) return null;
  try {
    return await hashFile(handle);
  } finally {
    await handle.close();
  }
}

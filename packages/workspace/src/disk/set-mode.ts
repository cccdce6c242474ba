import type { FileHandle } from 'node:fs/promises';
import { isErrno } from './disk-error.ts';

/** Where the file system has no modes of its own, or lets only the owner of all files set them. */
export const MODE_REFUSED: readonly string[] = [
  'EPERM',
  'EACCES',
  'ENOTSUP',
  'EOPNOTSUPP',
  'ENOSYS',
];

/**
 * Returns the mode that the file has then: not this one where the file system refuses it. Rejects if that would leave
 * any of the `never` bits set that are not wanted.
 */
export async function setMode(
  handle: FileHandle,
  wanted: number,
  never: number = 0,
): Promise<number> {
  const mode = (await handle.stat()).mode & 0o7777;
  if (mode === wanted) return mode;
  try {
    await handle.chmod(wanted);
    return wanted;
  } catch (error) {
    if (!isErrno(error, ...MODE_REFUSED) || (mode & ~wanted & never) !== 0) throw error;
    return mode;
  }
}

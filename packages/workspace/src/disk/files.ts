import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { link, lstat, open, rename, unlink } from 'node:fs/promises';
import type { Stats } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { parseFields } from '@orion/contracts';
import type { Fields, OrionError } from '@orion/contracts';
import { errnoOf, isErrno, onDisk, toDiskError } from './disk-error.ts';
import { writeFrom } from './write-all.ts';

/** Neither follows a link nor waits for the other end of a pipe. */
const READ_FLAGS: number = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** Whether anything has this name, a link that leads nowhere included. */
export async function isThere(path: string): Promise<boolean> {
  try {
    await lstat(path);
    return true;
  } catch (error) {
    if (isErrno(error, 'ENOENT', 'ENOTDIR')) return false;
    throw error;
  }
}

/** Opens a regular file; null when there is none, or something else has its name. */
export async function openRegularFile(path: string): Promise<FileHandle | null> {
  return (await openWithStat(path))?.handle ?? null;
}

type OpenedFile = { readonly handle: FileHandle; readonly stat: Stats };

async function openWithStat(path: string): Promise<OpenedFile | null> {
  let handle: FileHandle;
  try {
    handle = await open(path, READ_FLAGS);
  } catch (error) {
    if (isErrno(error, 'ENOENT', 'ELOOP', 'EISDIR', 'ENXIO', 'ENOTDIR')) return null;
    throw error;
  }
  try {
    const stat = await handle.stat();
    if (stat.isFile()) return { handle, stat };
  } catch (error) {
    await closeRead(handle);
    throw error;
  }
  await closeRead(handle);
  return null;
}

/** What `step` makes of a regular file, which is closed then; null where `openRegularFile` gives null. */
export async function readRegularFile<T>(
  path: string,
  step: (handle: FileHandle, stat: Stats) => Promise<T>,
): Promise<T | null> {
  const opened = await openWithStat(path);
  if (opened === null) return null;
  try {
    return await step(opened.handle, opened.stat);
  } finally {
    await closeRead(opened.handle);
  }
}

/** Closes what was only read: a failure takes nothing of what was read back. */
export async function closeRead(handle: FileHandle): Promise<void> {
  await handle.close().catch(() => undefined);
}

/** Whether two open files are one. */
export async function isSameFile(one: FileHandle, other: FileHandle): Promise<boolean> {
  const options = { bigint: true } as const;
  const [first, second] = await Promise.all([one.stat(options), other.stat(options)]);
  return first.dev === second.dev && first.ino === second.ino;
}

const CHUNK_BYTES = 256 * 1024;

/** The bytes from `start` to `end`, each chunk the receiver's own; the handle stays the caller's. */
export async function* readRange(
  handle: FileHandle,
  start: number,
  end: number = Number.POSITIVE_INFINITY,
): AsyncGenerator<Buffer, void, undefined> {
  for await (const chunk of scanRange(handle, start, end)) yield Buffer.from(chunk);
}

/**
 * The same for a receiver who is done with a chunk when it asks for the next one: all of them lie in one piece of
 * memory, so that a long file leaves no garbage of its own size behind. They are no `Buffer`, whose `slice` is a view.
 */
export async function* scanRange(
  handle: FileHandle,
  start: number,
  end: number = Number.POSITIVE_INFINITY,
): AsyncGenerator<Uint8Array, void, undefined> {
  let position = start;
  if (position >= end) return;
  const memory = new Uint8Array(Math.min(CHUNK_BYTES, end - position));
  while (position < end) {
    const wanted = Math.min(memory.length, end - position);
    const { bytesRead } = await handle.read(memory, 0, wanted, position);
    if (bytesRead === 0) return;
    position += bytesRead;
    yield memory.subarray(0, bytesRead);
  }
}

/** The first bytes of a file, so many or as many as there are. */
export async function readBytes(handle: FileHandle, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of readRange(handle, 0, maxBytes)) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** The bytes of a regular file; `ifMissing` is thrown where there is none, and null means that there are no bytes then. */
export async function* streamFile(
  path: string,
  action: string,
  ifMissing: OrionError | null,
): AsyncGenerator<Buffer, void, undefined> {
  const handle = await onDisk(action, () => openRegularFile(path));
  if (handle === null) {
    if (ifMissing !== null) throw ifMissing;
    return;
  }
  try {
    yield* readRange(handle, 0);
  } catch (error) {
    throw toDiskError(error, action);
  } finally {
    await closeRead(handle);
  }
}

export type SmallFile =
  | { readonly kind: 'text'; readonly text: string; readonly modifiedAt: number }
  | { readonly kind: 'missing' }
  /** `error` is the system's, when it is one. */
  | { readonly kind: 'unusable'; readonly reason: string; readonly error?: unknown };

/** A small file of the state directory, whatever really lies there; as long as it was when it was opened. */
export async function readSmallFile(path: string, maxBytes: number): Promise<SmallFile> {
  try {
    const read = await readRegularFile(path, async (handle, stat): Promise<SmallFile> => {
      if (stat.size > maxBytes) return { kind: 'unusable', reason: 'too large' };
      const text = (await readBytes(handle, stat.size)).toString('utf8');
      return { kind: 'text', text, modifiedAt: stat.mtimeMs };
    });
    return read ?? { kind: 'missing' };
  } catch (error) {
    return { kind: 'unusable', reason: errnoOf(error) ?? String(error), error };
  }
}

/** The fields of a small JSON file; null when there is no such file, or nothing of the kind in it. */
export async function readFields(path: string, maxBytes: number): Promise<Fields | null> {
  const file = await readSmallFile(path, maxBytes);
  return file.kind === 'text' ? parseFields(file.text) : null;
}

export function jsonBytes(value: unknown): Buffer {
  return Buffer.from(`${JSON.stringify(value)}\n`);
}

/** Creates a file with these bytes, durably; fails with EEXIST when the name is taken. */
export async function createFile(
  path: string,
  bytes: Uint8Array | AsyncIterable<Uint8Array>,
): Promise<void> {
  const handle = await open(path, 'wx', 0o600);
  try {
    try {
      await writeFrom(handle, bytes instanceof Uint8Array ? [bytes] : bytes);
      await handle.sync();
    } finally {
      await handle.close();
    }
  } catch (error) {
    await unlink(path).catch(() => undefined);
    throw error;
  }
}

/** Errors of `link` that say that the file system has no links, not that something is wrong. */
export const LINK_UNSUPPORTED: readonly string[] = [
  'EPERM',
  'ENOTSUP',
  'EOPNOTSUPP',
  'ENOSYS',
  'EMLINK',
  'EACCES',
];

/**
 * The same, and readers never see half of it: the name appears with all bytes, where the file system has links. False
 * when the name is taken. The name is durable after `syncDirectory`.
 */
export async function createWholeFile(path: string, bytes: Uint8Array): Promise<boolean> {
  const temporary = temporaryName(path);
  await createFile(temporary, bytes);
  try {
    return await unlessTaken(() => link(temporary, path));
  } catch (error) {
    if (!isErrno(error, ...LINK_UNSUPPORTED)) throw error;
    return await unlessTaken(() => createFile(path, bytes));
  } finally {
    await unlink(temporary).catch(() => undefined);
  }
}

/** False when the name was taken. */
async function unlessTaken(create: () => Promise<void>): Promise<boolean> {
  try {
    await create();
    return true;
  } catch (error) {
    if (isErrno(error, 'EEXIST')) return false;
    throw error;
  }
}

export function temporaryName(path: string): string {
  return join(dirname(path), `.${basename(path)}.${randomBytes(6).toString('hex')}.tmp`);
}

/** Replaces a file: readers see the old bytes or the new ones. The name is durable after `syncDirectory`. */
export async function replaceFile(
  path: string,
  bytes: Uint8Array | AsyncIterable<Uint8Array>,
): Promise<void> {
  const temporary = temporaryName(path);
  await createFile(temporary, bytes);
  try {
    await rename(temporary, path);
  } catch (error) {
    await unlink(temporary).catch(() => undefined);
    throw error;
  }
}

export async function removeIfThere(path: string): Promise<void> {
  try {
    await unlink(path);
  } catch (error) {
    if (!isErrno(error, 'ENOENT')) throw error;
  }
}

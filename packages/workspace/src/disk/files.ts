import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { link, lstat, open, rename, unlink } from 'node:fs/promises';
import type { Stats } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { MAX_JSON_DEPTH, nestsDeeper, parseFields } from '@orion/contracts';
import type { Fields, OrionError } from '@orion/contracts';
import { errnoOf, isErrno, onDisk, toDiskError } from './disk-error.ts';
import { writeFrom } from './write-all.ts';

/** Follows no link and does not wait for the other end of a pipe. */
const READ_FLAGS: number = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** Whether the name exists, even as a dangling link. */
export async function isThere(path: string): Promise<boolean> {
  try {
    await lstat(path);
    return true;
  } catch (error) {
    if (isErrno(error, 'ENOENT', 'ENOTDIR')) return false;
    throw error;
  }
}

/** Opens a regular file. Returns null when the file does not exist or is not a regular file. */
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

/** Runs `step` on a regular file, closes the file and returns the result. Returns null where `openRegularFile` does. */
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

/** Closes a file that was only read. A failure does not invalidate what was read. */
export async function closeRead(handle: FileHandle): Promise<void> {
  await handle.close().catch(() => undefined);
}

/** Whether two handles refer to the same file. */
export async function isSameFile(one: FileHandle, other: FileHandle): Promise<boolean> {
  const options = { bigint: true } as const;
  const [first, second] = await Promise.all([one.stat(options), other.stat(options)]);
  return first.dev === second.dev && first.ino === second.ino;
}

const CHUNK_BYTES = 256 * 1024;

/** The bytes from `start` to `end`. The receiver owns each chunk; the caller keeps the handle. */
export async function* readRange(
  handle: FileHandle,
  start: number,
  end: number = Number.POSITIVE_INFINITY,
): AsyncGenerator<Buffer, void, undefined> {
  for await (const chunk of scanRange(handle, start, end)) yield Buffer.from(chunk);
}

/**
 * The same for a receiver that has finished with a chunk when it asks for the next one. All chunks share one piece of
 * memory, so a long file does not leave garbage of its own size. They are not of type `Buffer`, whose `slice` is a
 * view.
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

/** The first `maxBytes` bytes of a file, or all of it. */
export async function readBytes(handle: FileHandle, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of readRange(handle, 0, maxBytes)) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** The bytes of a regular file. If there is no such file, throws `ifMissing`, or yields nothing if that is null. */
export async function* streamFile(
  path: string,
  action: string,
  ifMissing: OrionError | null,
  start: number = 0,
  end: number = Number.POSITIVE_INFINITY,
): AsyncGenerator<Buffer, void, undefined> {
  const handle = await onDisk(action, () => openRegularFile(path));
  if (handle === null) {
    if (ifMissing !== null) throw ifMissing;
    return;
  }
  try {
    yield* readRange(handle, start, end);
  } catch (error) {
    throw toDiskError(error, action);
  } finally {
    await closeRead(handle);
  }
}

export type SmallFile =
  | { readonly kind: 'text'; readonly text: string; readonly modifiedAt: number }
  | { readonly kind: 'missing' }
  /** `error` is the system error, if any. */
  | { readonly kind: 'unusable'; readonly reason: string; readonly error?: unknown };

/** Twice what a provider's data may have, because a stored history wraps it. */
const MAX_DEPTH = 2 * MAX_JSON_DEPTH;

/**
 * Reads a small file of the state directory, whatever its type. Stops at the size it had when it was opened. JSON that
 * is nested too deep is unusable: code that walks over it, such as the one that checks a MAC, would overflow the stack.
 */
export async function readSmallFile(path: string, maxBytes: number): Promise<SmallFile> {
  try {
    const read = await readRegularFile(path, async (handle, stat): Promise<SmallFile> => {
      if (stat.size > maxBytes) return { kind: 'unusable', reason: 'too large' };
      const text = (await readBytes(handle, stat.size)).toString('utf8');
      if (nestsDeeper(text, MAX_DEPTH)) return { kind: 'unusable', reason: 'nested too deep' };
      return { kind: 'text', text, modifiedAt: stat.mtimeMs };
    });
    return read ?? { kind: 'missing' };
  } catch (error) {
    return { kind: 'unusable', reason: errnoOf(error) ?? String(error), error };
  }
}

/** The fields of a small JSON file; null if it does not exist or does not contain a JSON object. */
export async function readFields(path: string, maxBytes: number): Promise<Fields | null> {
  const file = await readSmallFile(path, maxBytes);
  return file.kind === 'text' ? parseFields(file.text) : null;
}

export function jsonBytes(value: unknown): Buffer {
  return Buffer.from(`${JSON.stringify(value)}\n`);
}

/** `isBrief`: means nothing after a power cut, and is not synced. */
export type FileLife = { readonly isBrief?: boolean };

/** Durably creates a file with these bytes, unless it is brief. Fails with EEXIST when the name is taken. */
export async function createFile(
  path: string,
  bytes: Uint8Array | AsyncIterable<Uint8Array>,
  { isBrief = false }: FileLife = {},
): Promise<void> {
  const handle = await open(path, 'wx', 0o600);
  try {
    try {
      await writeFrom(handle, bytes instanceof Uint8Array ? [bytes] : bytes);
      if (!isBrief) await handle.sync();
    } finally {
      await handle.close();
    }
  } catch (error) {
    await unlink(path).catch(() => undefined);
    throw error;
  }
}

/** Errors of `link` that mean that the file system does not support links. */
export const LINK_UNSUPPORTED: readonly string[] = [
  'EPERM',
  'ENOTSUP',
  'EOPNOTSUPP',
  'ENOSYS',
  'EMLINK',
  'EACCES',
];

/**
 * The same, but readers never see an incomplete file: where the file system supports links, the name appears together
 * with all bytes. Returns false when the name is taken. The name is durable after `syncDirectory`.
 */
export async function createWholeFile(
  path: string,
  bytes: Uint8Array,
  life: FileLife = {},
): Promise<boolean> {
  const temporary = temporaryName(path);
  await createFile(temporary, bytes, life);
  try {
    return await unlessTaken(() => link(temporary, path));
  } catch (error) {
    if (!isErrno(error, ...LINK_UNSUPPORTED)) throw error;
    return await unlessTaken(() => createFile(path, bytes, life));
  } finally {
    await unlink(temporary).catch(() => undefined);
  }
}

/** Returns false when the name is taken. */
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

/** Replaces a file. Readers see either the old or the new bytes. The name is durable after `syncDirectory`. */
export async function replaceFile(
  path: string,
  bytes: Uint8Array | AsyncIterable<Uint8Array>,
  life: FileLife = {},
): Promise<void> {
  const temporary = temporaryName(path);
  await createFile(temporary, bytes, life);
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

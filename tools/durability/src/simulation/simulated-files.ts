import fs from 'node:fs';
import promises from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { ProcessLife } from './process-life.ts';

/** A file system in memory, where there is one. */
const MEMORY = '/dev/shm';
const OPEN = new Set<number>();

type AnyCall = (...args: never[]) => unknown;

const PATH_CALLS = [
  'lstat',
  'stat',
  'statfs',
  'readdir',
  'readlink',
  'realpath',
  'access',
  'readFile',
] as const;
const CHANGING_PATH_CALLS = [
  'mkdir',
  'mkdtemp',
  'rm',
  'rmdir',
  'unlink',
  'chmod',
  'utimes',
  'rename',
  'link',
  'symlink',
  'copyFile',
  'writeFile',
] as const;

/**
 * Carries out each call to the file system at once, so that the same calls have the same answers in the same order. A
 * call that changes something takes time for the simulated process that makes it, which may be dead before the answer
 * is there. Nothing is made durable: there is no power cut here. For a program that does nothing else; it cannot be
 * taken back.
 */
export function takeOverFiles(): void {
  const functions = promises as unknown as Record<string, unknown>;
  for (const name of [...PATH_CALLS, ...CHANGING_PATH_CALLS]) {
    const sync = fs[`${name}Sync`] as AnyCall;
    const changes = (CHANGING_PATH_CALLS as readonly string[]).includes(name);
    functions[name] = (...args: never[]) => answered(() => sync(...args), changes);
  }
  functions['open'] = (...args: Parameters<typeof fs.openSync>) =>
    answered(() => {
      const fd = fs.openSync(...args);
      OPEN.add(fd);
      return new OpenFile(fd);
    }, isChanging(args[1]));
  syncBuiltinESMExports();
}

/** Where the files of one run are: a volume that all processes share, and what each has for itself. */
export function makeFolder(): string {
  const folder = fs.mkdtempSync(
    join(fs.existsSync(MEMORY) ? MEMORY : tmpdir(), 'orion-simulated-'),
  );
  fs.mkdirSync(join(folder, 'volume'));
  return folder;
}

export function removeFolder(folder: string): void {
  // Of processes that are dead.
  for (const fd of OPEN) fs.closeSync(fd);
  OPEN.clear();
  fs.rmSync(folder, { recursive: true });
}

function isChanging(flags: unknown): boolean {
  return typeof flags === 'string'
    ? flags !== 'r'
    : (Number(flags ?? 0) & fs.constants.O_CREAT) > 0;
}

async function answered<Result>(call: () => Result, changes: boolean): Promise<Result> {
  const process = ProcessLife.current;
  // A process that is not there any more does nothing.
  if (process?.state === 'dead') return new Promise<never>(() => undefined);
  const result = call();
  if (changes) await process?.changed();
  return result;
}

/** What the product uses of a `FileHandle`. */
class OpenFile {
  readonly fd: number;

  constructor(fd: number) {
    this.fd = fd;
  }

  stat(options?: fs.StatSyncOptions): Promise<unknown> {
    return answered(() => fs.fstatSync(this.fd, options), false);
  }

  read(
    buffer: Uint8Array,
    offset: number,
    length: number,
    position: number | null,
  ): Promise<{ bytesRead: number; buffer: Uint8Array }> {
    return answered(
      () => ({ bytesRead: fs.readSync(this.fd, buffer, offset, length, position), buffer }),
      false,
    );
  }

  write(
    buffer: Uint8Array,
    offset?: number,
    length?: number,
    position?: number | null,
  ): Promise<{ bytesWritten: number; buffer: Uint8Array }> {
    return answered(
      () => ({ bytesWritten: fs.writeSync(this.fd, buffer, offset, length, position), buffer }),
      true,
    );
  }

  writev(
    buffers: readonly Uint8Array[],
    position?: number,
  ): Promise<{ bytesWritten: number; buffers: readonly Uint8Array[] }> {
    return answered(
      () => ({ bytesWritten: fs.writevSync(this.fd, buffers, position), buffers }),
      true,
    );
  }

  sync(): Promise<void> {
    return answered(() => undefined, true);
  }

  datasync(): Promise<void> {
    return this.sync();
  }

  truncate(length?: number): Promise<void> {
    return answered(() => fs.ftruncateSync(this.fd, length), true);
  }

  chmod(mode: number): Promise<void> {
    return answered(() => fs.fchmodSync(this.fd, mode), true);
  }

  chown(user: number, group: number): Promise<void> {
    return answered(() => fs.fchownSync(this.fd, user, group), true);
  }

  close(): Promise<void> {
    return answered(() => {
      if (OPEN.delete(this.fd)) fs.closeSync(this.fd);
    }, false);
  }
}

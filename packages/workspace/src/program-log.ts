import { open, rm } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { join } from 'node:path';

import { StateDirectory } from './state-directory.ts';

/** What a program of the user writes beside its answers. */
export type ProgramLog = {
  /** Never rejects: what cannot be kept is lost. */
  append(text: string): void;
  /** When everything is written. */
  close(): Promise<void>;
};

const MAX_BYTES = 1024 * 1024;

/**
 * A log in the folder `logs/<folder>` of the state directory, made by the first text and begun anew each time. It has
 * at most 1 MiB: a text that does not fit replaces what is there.
 */
export function createProgramLog(stateDirectory: string, folder: string, name: string): ProgramLog {
  let file: Promise<FileHandle | null> | null = null;
  let written = Promise.resolve();
  let waiting = 0;
  let length = 0;

  async function write(bytes: Buffer): Promise<void> {
    file ??= make(join(stateDirectory, 'logs', folder), name, stateDirectory).catch(() => null);
    const handle = await file;
    if (handle === null) return;
    if (length + bytes.length > MAX_BYTES) {
      await handle.truncate(0);
      length = 0;
    }
    await handle.write(bytes, 0, bytes.length, length);
    length += bytes.length;
  }

  return {
    append(text) {
      const bytes = Buffer.from(text).subarray(-MAX_BYTES);
      // A program may write faster than the disk.
      if (waiting + bytes.length > MAX_BYTES) return;
      waiting += bytes.length;
      written = written
        .then(() => write(bytes))
        .catch(() => undefined)
        .finally(() => {
          waiting -= bytes.length;
        });
    },
    async close() {
      await written;
      await (await file)?.close();
    },
  };
}

/** A new file: whatever has its name may have come with the workspace. */
async function make(folder: string, name: string, stateDirectory: string): Promise<FileHandle> {
  await new StateDirectory(stateDirectory).ensure(folder);
  const path = join(folder, name);
  await rm(path, { force: true });
  return open(path, 'wx', 0o600);
}

import { randomBytes } from 'node:crypto';
import { mkdir, open, rename, rm } from 'node:fs/promises';
import { join, parse } from 'node:path';

import { OrionError, isFields } from '@orion/contracts';
import { readForeignFile } from '@orion/workspace';

/** Some thousands of entries. */
const MAX_LIST_BYTES: number = 4 * 1024 * 1024;

/** A list of what this user has agreed to, in the user's own folder; empty when it cannot be read. */
export async function readUserList(
  userDirectory: string,
  name: string,
): Promise<Readonly<Record<string, unknown>>> {
  try {
    const file = join(userDirectory, name);
    const read = await readForeignFile(file, MAX_LIST_BYTES, parse(file).root);
    if (read.kind !== 'bytes') return {};
    const json: unknown = JSON.parse(read.bytes.toString('utf8'));
    return isFields(json) && json['version'] === 1 ? json : {};
  } catch {
    return {};
  }
}

/** Atomically: the old list or the new one. Rejects with WRITE_FAILED. */
export async function writeUserList(
  userDirectory: string,
  name: string,
  list: Readonly<Record<string, unknown>>,
): Promise<void> {
  const file = join(userDirectory, name);
  const temporary = `${file}.${randomBytes(6).toString('hex')}.tmp`;
  try {
    await mkdir(userDirectory, { recursive: true, mode: 0o700 });
    const handle = await open(temporary, 'wx', 0o600);
    try {
      await handle.writeFile(`${JSON.stringify({ version: 1, ...list }, null, 2)}\n`);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(temporary, file);
  } catch (error) {
    await rm(temporary, { force: true });
    throw new OrionError({
      code: 'WRITE_FAILED',
      message: `${file} cannot be written (${(error as NodeJS.ErrnoException).code ?? 'unknown reason'}).`,
      hint: 'Check the permissions of your configuration folder.',
      cause: error,
    });
  }
}

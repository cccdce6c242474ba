/** The one step that changes the target: a rename, a link, or an unlink. */
import { constants } from 'node:fs';
import { link, open, rename, unlink } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { isErrno } from '../disk/disk-error.ts';
import { LINK_UNSUPPORTED, scanRange } from '../disk/files.ts';
import { setMode } from '../disk/set-mode.ts';
import { writeFrom } from '../disk/write-all.ts';
import { appeared } from './commit-site.ts';
import type { Site } from './commit-site.ts';

/** Warns that the temporary name of a new file stays until the next start. */
export const TEMPORARY_FILE_LEFT = 'temporary_file_left';

/** Moves the temporary file to its final name. `ready` is the same file if it is already open. Returns warnings. */
export async function putInPlace(
  site: Site,
  temporary: string,
  ready: FileHandle | null,
): Promise<readonly string[]> {
  const { request, directory, name } = site;
  const place = directory.pathOf(name);
  if (request.expected.exists) {
    await rename(temporary, place);
    return [];
  }
  const warnings: string[] = [];
  try {
    await link(temporary, place);
  } catch (error) {
    if (isErrno(error, 'EEXIST')) throw appeared(site, error);
    if (!isErrno(error, 'EXDEV', ...LINK_UNSUPPORTED)) throw error;
    const from = ready ?? (await open(temporary, constants.O_RDONLY | constants.O_NOFOLLOW));
    try {
      await createExclusively(site, from, place);
    } finally {
      if (ready === null) await from.close();
    }
    warnings.push('created_without_link');
  }
  // The target is in place. If its temporary name cannot be removed now, the next start removes it.
  await unlink(temporary).catch(() => warnings.push(TEMPORARY_FILE_LEFT));
  return warnings;
}

/** Removes the target, whose bytes are in the backups. */
export async function removeTarget(site: Site): Promise<readonly string[]> {
  await unlink(site.directory.pathOf(site.name));
  return [];
}

async function createExclusively(site: Site, from: FileHandle, place: string): Promise<void> {
  const { mode } = await from.stat();
  let to: FileHandle;
  try {
    to = await open(place, 'wx', mode & 0o777);
  } catch (error) {
    throw isErrno(error, 'EEXIST') ? appeared(site, error) : error;
  }
  try {
    // The umask has removed some bits.
    await setMode(to, mode & 0o7777);
    await writeFrom(to, scanRange(from, 0));
    await to.sync();
    await to.close();
  } catch (error) {
    await to.close().catch(() => undefined);
    await unlink(place).catch(() => undefined);
    throw error;
  }
}

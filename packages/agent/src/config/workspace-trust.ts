/**
 * Which workspaces' configuration files this user has accepted.
 *
 * W1. What is accepted is the bytes of the file, by their hash, and the path of the workspace: a file that
 *     changed by one byte, or was copied elsewhere, is no longer accepted.
 * W2. The list is in the user's own folder, outside of every workspace. A list that cannot be read accepts nothing.
 */
import { randomBytes } from 'node:crypto';
import { mkdir, open, realpath, rename, rm } from 'node:fs/promises';
import { join, parse } from 'node:path';

import { OrionError, isFields } from '@orion/contracts';
import { readForeignFile } from '@orion/workspace';

/** Some thousands of workspaces. */
const MAX_LIST_BYTES: number = 4 * 1024 * 1024;
const LIST = 'trusted-workspaces.json';
const SHA256 = /^[0-9a-f]{64}$/u;

type Entry = { readonly sha256: string; readonly trusted_at: string };
type List = { readonly [workspace: string]: Entry };

/** `changed`: another version of the file was accepted. */
export type Trust = 'trusted' | 'changed' | 'unknown';

export async function trustOf(
  userDirectory: string | null,
  workspace: string,
  sha256: string,
): Promise<Trust> {
  if (userDirectory === null) return 'unknown';
  const entry = (await readList(userDirectory))[await placeOf(workspace)];
  if (entry === undefined) return 'unknown';
  return entry.sha256 === sha256 ? 'trusted' : 'changed';
}

/** Null withdraws the acceptance. */
export async function setTrust(
  userDirectory: string,
  workspace: string,
  sha256: string | null,
  now: number,
): Promise<void> {
  const place = await placeOf(workspace);
  const { [place]: _former, ...others } = await readList(userDirectory);
  const workspaces: List =
    sha256 === null
      ? others
      : { ...others, [place]: { sha256, trusted_at: new Date(now).toISOString() } };
  await writeList(userDirectory, workspaces);
}

async function placeOf(workspace: string): Promise<string> {
  return realpath(workspace).catch(() => workspace);
}

async function readList(userDirectory: string): Promise<List> {
  let json: unknown;
  try {
    const file = join(userDirectory, LIST);
    const read = await readForeignFile(file, MAX_LIST_BYTES, parse(file).root);
    if (read.kind !== 'bytes') return {};
    json = JSON.parse(read.bytes.toString('utf8'));
  } catch {
    return {};
  }
  if (!isFields(json) || json['version'] !== 1 || !isFields(json['workspaces'])) return {};
  return Object.fromEntries(
    Object.entries(json['workspaces']).filter((entry): entry is [string, Entry] =>
      isEntry(entry[1]),
    ),
  );
}

function isEntry(value: unknown): value is Entry {
  return (
    isFields(value) &&
    typeof value['sha256'] === 'string' &&
    SHA256.test(value['sha256']) &&
    typeof value['trusted_at'] === 'string'
  );
}

/** Atomically: the old list or the new one. */
async function writeList(userDirectory: string, workspaces: List): Promise<void> {
  const file = join(userDirectory, LIST);
  const temporary = `${file}.${randomBytes(6).toString('hex')}.tmp`;
  try {
    await mkdir(userDirectory, { recursive: true, mode: 0o700 });
    const handle = await open(temporary, 'wx', 0o600);
    try {
      await handle.writeFile(`${JSON.stringify({ version: 1, workspaces }, null, 2)}\n`);
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

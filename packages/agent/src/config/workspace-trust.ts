/**
 * Which workspaces' configuration files this user has accepted.
 *
 * W1. What is accepted is the bytes of the file, by their hash, and the path of the workspace: a file that
 *     changed by one byte, or was copied elsewhere, is no longer accepted.
 * W2. The list is in the user's own folder, outside of every workspace. A list that cannot be read accepts nothing.
 */
import { realpath } from 'node:fs/promises';

import { isFields } from '@orion/contracts';

import { readUserList, writeUserList } from './user-list.ts';

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
  await writeUserList(userDirectory, LIST, { workspaces });
}

async function placeOf(workspace: string): Promise<string> {
  return realpath(workspace).catch(() => workspace);
}

async function readList(userDirectory: string): Promise<List> {
  const workspaces = (await readUserList(userDirectory, LIST))['workspaces'];
  if (!isFields(workspaces)) return {};
  return Object.fromEntries(
    Object.entries(workspaces).filter((entry): entry is [string, Entry] => isEntry(entry[1])),
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

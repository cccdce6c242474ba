/**
 * Proves that a session or backup was made by this user: its metadata carries a MAC made with a key that is not stored
 * in any workspace. Metadata from a cloned repository has no valid MAC.
 *
 * Y1. A key file is complete when its name appears, so a kill never leaves half a key.
 * Y2. A file that has a key's name but is not a key stays, and the next number is used: `session.key`, `session.2.key`,
 *     … Every key found can verify and the first one signs. Processes that each created a key at the same time
 *     therefore accept each other's work from the next start on.
 * Y3. If no key can be read or stored, a key that only this process knows replaces it. Everything that other processes
 *     made is then foreign.
 */
import { isFields, parseFields } from '@orion/contracts';
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { join } from 'node:path';
import { makeDirectory, syncDirectory } from '../disk/directories.ts';
import { errnoOf } from '../disk/disk-error.ts';
import { createWholeFile, readSmallFile } from '../disk/files.ts';
import { closeToOthers } from '../disk/private-modes.ts';

const KEY_TEXT = /^[0-9a-f]{64}\n?$/u;
const MAX_KEY_BYTES = 1024;
/** More keys than could exist by accident. */
const MAX_KEYS = 16;

export type SessionKey = {
  /** Why only this process knows the key; null for a stored key. */
  readonly problem: string | null;
  /** The MAC of fields, to be stored with them as `mac`. */
  sign(fields: object): string;
  /** Whether the JSON text contains a valid MAC of its other fields. */
  isOwn(text: string): boolean;
};

/** Null without a directory: own and foreign cannot be distinguished then. */
export async function loadSessionKey(directory: string | undefined): Promise<SessionKey | null> {
  if (directory === undefined) return null;
  const { keys, problem } = await readOrMakeKeys(directory);
  const first = keys[0] ?? randomBytes(32);
  const all = keys.length === 0 ? [first] : keys;
  return {
    problem: keys.length === 0 ? `no key could be stored in ${directory} (${problem})` : null,
    sign: (fields) => macOf(first, fields),
    isOwn: (text) => {
      const fields = parseFields(text);
      if (fields === null) return false;
      const { mac, ...rest } = fields;
      return typeof mac === 'string' && all.some((key) => isSame(macOf(key, rest), mac));
    },
  };
}

/** Completes the sentence that something was not made by this user. */
export function asFarAs(keyProblem: string | null): string {
  return keyProblem === null ? '' : `, as far as can be told: ${keyProblem}`;
}

function macOf(key: Buffer, fields: unknown): string {
  return createHmac('sha256', key).update(canonical(fields)).digest('hex');
}

function isSame(expected: string, given: string): boolean {
  const [one, other] = [Buffer.from(expected), Buffer.from(given)];
  return one.length === other.length && timingSafeEqual(one, other);
}

type FoundKeys = { readonly keys: readonly Buffer[]; readonly problem: string };

async function readOrMakeKeys(directory: string): Promise<FoundKeys> {
  const keys: Buffer[] = [];
  for (let number = 1; number <= MAX_KEYS; number += 1) {
    const path = join(directory, number === 1 ? 'session.key' : `session.${number}.key`);
    let found = await readKey(path);
    if (found.kind === 'missing') {
      if (keys.length > 0) break;
      try {
        await makeKey(directory, path);
      } catch (error) {
        return { keys, problem: errnoOf(error) ?? String(error) };
      }
      found = await readKey(path);
    }
    // A key that may exist is not replaced.
    if (found.kind === 'refused') return { keys, problem: found.problem };
    if (found.kind === 'key') keys.push(found.key);
  }
  return { keys, problem: 'its key files are not keys' };
}

type FoundKey =
  | { readonly kind: 'key'; readonly key: Buffer }
  /** `missing`: nothing, or not a regular file. */
  | { readonly kind: 'missing' | 'no_key' }
  /** The disk reports an error. */
  | { readonly kind: 'refused'; readonly problem: string };

async function readKey(path: string): Promise<FoundKey> {
  const file = await readSmallFile(path, MAX_KEY_BYTES);
  if (file.kind === 'missing') return file;
  if (file.kind === 'unusable') {
    return file.error === undefined
      ? { kind: 'no_key' }
      : { kind: 'refused', problem: file.reason };
  }
  closeToOthers(path);
  return KEY_TEXT.test(file.text)
    ? { kind: 'key', key: Buffer.from(file.text.trim(), 'hex') }
    : { kind: 'no_key' };
}

/** Succeeds even if another process was faster or the name belongs to something else; the next read shows which. */
async function makeKey(directory: string, path: string): Promise<void> {
  await makeDirectory(directory, 0o700);
  const text = `${randomBytes(32).toString('hex')}\n`;
  if (await createWholeFile(path, Buffer.from(text))) await syncDirectory(directory);
}

/** JSON with sorted keys: equal fields give equal text. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (!isFields(value)) return JSON.stringify(value) ?? 'null';
  const entries = Object.keys(value)
    .filter((name) => value[name] !== undefined)
    .toSorted()
    .map((name) => `${JSON.stringify(name)}:${canonical(value[name])}`);
  return `{${entries.join(',')}}`;
}

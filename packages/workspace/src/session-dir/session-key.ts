/**
 * Proves that a session or a backup was made by this user: its metadata carries a MAC by a key that no
 * workspace contains. One that came with a cloned repository has none that fits.
 */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { isErrno } from '../disk/disk-error.ts';
import { createFile, readSmallFile } from '../disk/files.ts';
import { isFields, parseFields } from '../disk/json.ts';

const KEY_TEXT = /^[0-9a-f]{64}\n?$/u;

export type SessionKey = {
  /** Of fields that are about to be stored together with it, as `mac`. */
  sign(fields: object): string;
  /** Whether the JSON text carries the MAC of its other fields. */
  isOwn(text: string): boolean;
};

/** Null where there is no usable key directory: nothing can be told apart then. */
export async function loadSessionKey(directory: string | undefined): Promise<SessionKey | null> {
  if (directory === undefined) return null;
  const text = await readOrMakeKey(join(directory, 'session.key'), directory);
  if (text === null || !KEY_TEXT.test(text)) return null;
  const key = Buffer.from(text.trim(), 'hex');
  const macOf = (fields: unknown): string =>
    createHmac('sha256', key).update(canonical(fields)).digest('hex');
  return {
    sign: (fields) => macOf(fields),
    isOwn: (text) => {
      const fields = parseFields(text);
      if (fields === null) return false;
      const { mac, ...rest } = fields;
      if (typeof mac !== 'string') return false;
      const expected = Buffer.from(macOf(rest));
      const given = Buffer.from(mac);
      return given.length === expected.length && timingSafeEqual(given, expected);
    },
  };
}

async function readOrMakeKey(path: string, directory: string): Promise<string | null> {
  const found = await readSmallFile(path, 1024);
  if (found.kind === 'text') return found.text;
  if (found.kind === 'unusable') return null;
  try {
    await mkdir(directory, { recursive: true, mode: 0o700 });
    await createFile(path, Buffer.from(`${randomBytes(32).toString('hex')}\n`));
  } catch (error) {
    // Another process may have been faster; a directory that cannot be written gives no key.
    if (!isErrno(error, 'EEXIST')) return null;
  }
  const made = await readSmallFile(path, 1024);
  return made.kind === 'text' ? made.text : null;
}

/** JSON with sorted keys, so that the same fields have the same text. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (!isFields(value)) return JSON.stringify(value) ?? 'null';
  const entries = Object.keys(value)
    .filter((name) => value[name] !== undefined)
    .toSorted()
    .map((name) => `${JSON.stringify(name)}:${canonical(value[name])}`);
  return `{${entries.join(',')}}`;
}

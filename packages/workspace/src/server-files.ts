/**
 * What a server keeps in the directory `server` of the state directory.
 *
 * V1. A token contains a MAC of this user's key, so that one that came with a repository is recognised and replaced:
 *     whoever made the repository knows it.
 * V2. A token that others could read is replaced, too.
 */
import { randomBytes } from 'node:crypto';
import { unlink } from 'node:fs/promises';
import { join } from 'node:path';

import { OrionError } from '@orion/contracts';
import type { ServerToken, WorkspaceServerFiles } from '@orion/contracts';

import { syncDirectory } from './disk/directories.ts';
import { onDisk } from './disk/disk-error.ts';
import {
  createWholeFile,
  jsonBytes,
  readBytes,
  readFields,
  readRegularFile,
  removeIfThere,
  replaceFile,
} from './disk/files.ts';
import type { SessionKey } from './session-dir/session-key.ts';
import type { StateDirectory } from './state-directory.ts';

const TOKEN = /^([\da-f]{64})([\da-f]{64})\n?$/u;
const MAX_BYTES = 1024;
/** Reading and making it, should several processes do so at once. */
const ATTEMPTS = 4;
const OTHERS = 0o077;

export function createServerFiles(
  state: StateDirectory,
  loadKey: () => Promise<SessionKey | null>,
): WorkspaceServerFiles {
  const tokenFile = join(state.server, 'token');
  const addressFile = join(state.server, 'server.json');

  /** Null if there is no usable one. */
  async function readToken(key: SessionKey | null): Promise<string | null> {
    if (!(await state.holds(state.server))) return null;
    return readRegularFile(tokenFile, async (handle, { size, mode }) => {
      if (size > MAX_BYTES || (mode & OTHERS) !== 0) return null;
      const text = (await readBytes(handle, size)).toString('latin1');
      const [, random = '', mac = ''] = TOKEN.exec(text) ?? [];
      if (random === '' || key?.isOwn(fieldsOf(random, mac)) === false) return null;
      return `${random}${mac}`;
    });
  }

  /** Null if the name is taken: another process was faster, or what is there is not a token. */
  async function makeToken(key: SessionKey | null): Promise<string | null> {
    await state.ensure(state.server);
    const random = randomBytes(32).toString('hex');
    const mac = key?.sign({ serverToken: random }) ?? randomBytes(32).toString('hex');
    if (!(await createWholeFile(tokenFile, Buffer.from(`${random}${mac}\n`)))) return null;
    await syncDirectory(state.server);
    return `${random}${mac}`;
  }

  async function keepToken(): Promise<ServerToken> {
    const key = await loadKey();
    for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
      const found = await readToken(key);
      if (found !== null) return { token: found, path: tokenFile, isNew: false };
      const made = await makeToken(key);
      if (made !== null) return { token: made, path: tokenFile, isNew: true };
      if ((await readToken(key)) === null) await unlink(tokenFile).catch(() => undefined);
    }
    throw new OrionError({
      code: 'WRITE_FAILED',
      message: `The token of the server cannot be stored: something else is at ${tokenFile}.`,
      hint: 'Move it away, or give the server a token.',
    });
  }

  return {
    keepServerToken: () => onDisk('store the token of the server', keepToken),
    announceServer: (address) =>
      onDisk('store the address of the server', async () => {
        await state.ensure(state.server);
        await replaceFile(addressFile, jsonBytes(address));
      }),
    async withdrawServer({ url, pid }) {
      try {
        if (!(await state.holds(state.server))) return;
        const found = await readFields(addressFile, MAX_BYTES);
        if (found?.['url'] === url && found['pid'] === pid) await removeIfThere(addressFile);
      } catch {
        // Whoever reads it finds that the process is gone.
      }
    },
  };
}

function fieldsOf(random: string, mac: string): string {
  return JSON.stringify({ serverToken: random, mac });
}

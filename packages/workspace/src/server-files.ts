/**
 * What a server keeps in the directory `server` of the state directory.
 *
 * V1. A token contains a MAC of this user's key, so that one that came with a repository is recognised and replaced:
 *     whoever made the repository knows it.
 * V2. A token that others could read is replaced, too.
 * V3. A record of the log-ins that cannot be read ends all of them.
 * V4. What a process left that died while it wrote one of the files goes with the next start, a minute later.
 */
import { createHash, randomBytes } from 'node:crypto';
import { lstat, readdir, unlink } from 'node:fs/promises';
import { join } from 'node:path';

import { isFields, OrionError, parseFields, sleep } from '@orion/contracts';
import type {
  Clock,
  PageAccess,
  ServerToken,
  SharedRecords,
  WorkspaceServerFiles,
} from '@orion/contracts';

import { syncDirectory } from './disk/directories.ts';
import { onDisk } from './disk/disk-error.ts';
import { networkFileSystemOf } from './disk/network-file-system.ts';
import {
  createFile,
  createWholeFile,
  jsonBytes,
  readBytes,
  readFields,
  readRegularFile,
  readSmallFile,
  removeIfThere,
  replaceFile,
  temporaryName,
} from './disk/files.ts';
import type { LockTarget, TargetLock } from './ownership/target-locks.ts';
import type { SessionKey } from './session-dir/session-key.ts';
import type { StateDirectory } from './state-directory.ts';

const TOKEN = /^([\da-f]{64})([\da-f]{64})\n?$/u;
const MAX_BYTES = 1024;
/** The last blocks of a disk take less than a save needs. */
const TRIAL_BYTES = 64 * 1024;
/** What has ended is forgotten after a week. */
const MAX_ACCESS_BYTES = 1024 * 1024;
/** Reading and making it, should several processes do so at once. */
const ATTEMPTS = 4;
const OTHERS = 0o077;
const HALF_MADE = /^\.(?:token|server\.json|trial)\.[\da-f]{12}\.tmp$/u;
/** Far longer than writing one takes. */
const HALF_MADE_MS = 60_000;

/** Another process holds the log-ins for as long as it takes to write them. */
const LOCK_RETRY_MS = 10;
const LOCK_WAIT_MS = 10_000;

type ServerFilesOptions = {
  readonly state: StateDirectory;
  readonly clock: Clock;
  readonly loadKey: () => Promise<SessionKey | null>;
  readonly lockTarget: LockTarget;
};

export function createServerFiles({
  state,
  clock,
  loadKey,
  lockTarget,
}: ServerFilesOptions): WorkspaceServerFiles {
  const tokenFile = join(state.server, 'token');
  const addressFile = join(state.server, 'server.json');
  const accessFile = join(state.server, 'page.json');

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

  /** Compared with the file that was just written: both times are the disk's. */
  async function removeHalfMade(): Promise<void> {
    const { mtimeMs: now } = await lstat(addressFile);
    for (const name of await readdir(state.server)) {
      if (!HALF_MADE.test(name)) continue;
      const path = join(state.server, name);
      const found = await lstat(path).catch(() => null);
      if (found !== null && now - found.mtimeMs > HALF_MADE_MS) await removeIfThere(path);
    }
  }

  async function lockAccess(): Promise<TargetLock> {
    const until = clock.monotonic() + LOCK_WAIT_MS;
    for (;;) {
      try {
        return await lockTarget(accessFile, accessFile);
      } catch (error) {
        const isHeld = OrionError.isInstance(error) && error.code === 'TARGET_LOCKED';
        if (!isHeld || clock.monotonic() >= until) throw error;
      }
      await sleep(clock, LOCK_RETRY_MS);
    }
  }

  async function readAccess(): Promise<PageAccess> {
    if (!(await state.holds(state.server))) return NOTHING_ENDED;
    const file = await readSmallFile(accessFile, MAX_ACCESS_BYTES);
    if (file.kind === 'missing') return NOTHING_ENDED;
    if (file.kind === 'text') return accessOf(file.text);
    if (file.error !== undefined) throw file.error as NodeJS.ErrnoException;
    return everythingEnded(file.reason);
  }

  return {
    keepServerToken: () => onDisk('store the token of the server', keepToken),
    announceServer: (address) =>
      onDisk('store the address of the server', async () => {
        await state.ensure(state.server);
        await replaceFile(addressFile, jsonBytes(address));
        await removeHalfMade();
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
    findServer: () =>
      onDisk('read the address of the server', async () => {
        if (!(await state.holds(state.server))) return null;
        const { url, pid } = (await readFields(addressFile, MAX_BYTES)) ?? {};
        return typeof url === 'string' && typeof pid === 'number' ? { url, pid } : null;
      }),
    readPageAccess: () => onDisk('read the log-ins of the page', readAccess),
    updatePageAccess: (change) =>
      onDisk('store the log-ins of the page', async () => {
        await state.ensure(state.server);
        const lock = await lockAccess();
        try {
          await replaceFile(accessFile, accessBytes(change(await readAccess())));
        } finally {
          await lock.release();
        }
      }),
    networkFileSystem: () => networkFileSystemOf(state.path),
    tryDisk: () =>
      onDisk('store anything', async () => {
        await state.ensure(state.server);
        const trial = temporaryName(join(state.server, 'trial'));
        await createFile(trial, new Uint8Array(TRIAL_BYTES));
        await removeIfThere(trial);
      }),
  };
}

/** The log-ins of the page where several hosts serve it. */
export function sharedPageAccess(
  records: () => SharedRecords,
  root: string,
): Pick<WorkspaceServerFiles, 'readPageAccess' | 'updatePageAccess'> {
  const place = { root, kind: 'page' } as const;
  const parsed = (text: string | null): PageAccess =>
    text === null ? NOTHING_ENDED : accessOf(text);
  return {
    readPageAccess: async () => parsed(await records().get(place, PAGE)),
    updatePageAccess: (change) =>
      records().update(place, PAGE, (text) => JSON.stringify(change(parsed(text)))),
  };
}

const PAGE = 'access';

const BEYOND_COUNTED = 2 ** 40;

const NOTHING_ENDED: PageAccess = { generation: 0, ended: {} };

/** What no reader would take must not be read as that nothing has ended: it ends all. */
function accessBytes(access: PageAccess): Buffer {
  const bytes = jsonBytes(access);
  if (bytes.length <= MAX_ACCESS_BYTES) return bytes;
  return jsonBytes({ generation: access.generation + 1, ended: {} });
}

function accessOf(text: string): PageAccess {
  const { generation, ended, used = {} } = parseFields(text) ?? {};
  if (!Number.isSafeInteger(generation) || !isTimes(ended) || !isTimes(used)) {
    return everythingEnded(text);
  }
  return { generation: generation as number, ended, used };
}

/**
 * In place of what cannot be read: nobody knows any more what had ended. It is the same for all who find the same there,
 * and beyond each generation that was counted.
 */
function everythingEnded(found: string): PageAccess {
  const digest = createHash('sha256').update(found).digest();
  return { generation: BEYOND_COUNTED + digest.readUInt32BE(), ended: {} };
}

function isTimes(value: unknown): value is Readonly<Record<string, number>> {
  return isFields(value) && Object.values(value).every((each) => typeof each === 'number');
}

function fieldsOf(random: string, mac: string): string {
  return JSON.stringify({ serverToken: random, mac });
}

/**
 * Short texts that a person typed, in directories `lists/<name>` of the state directory.
 *
 * L1. A text is a file of its own, made in one step: two processes that add never lose each other's, and what a kill or
 *     another program damages is one text.
 * L2. A text counts only with the MAC of this user's key, and only in its own list: a repository can bring a state
 *     directory, and a text of a list may be sent to a model without being asked about again.
 * L3. The name of a file begins with its time, so names are in the order in which texts were added. For one list
 *     object that holds even if the clock is set back. Where there are too many, those of a time that is yet to come go
 *     first, however many a repository brings.
 */
import { randomBytes } from 'node:crypto';
import { unlink } from 'node:fs/promises';
import { join } from 'node:path';

import { isFields, OrionError, parseFields } from '@orion/contracts';
import type { Clock, ListedText, TextList, TextListLimits } from '@orion/contracts';

import { syncDirectory } from './disk/directories.ts';
import { isErrno, onDisk } from './disk/disk-error.ts';
import { createWholeFile, jsonBytes, readSmallFile } from './disk/files.ts';
import { judgeOwner } from './ownership/judge-owner.ts';
import { parseOwner, type OwnerRecord } from './ownership/owner-record.ts';
import type { ProcessObserver } from './ownership/process-identity.ts';
import type { SessionKey } from './session-dir/session-key.ts';
import type { StateDirectory } from './state-directory.ts';

const ID = /^\d{16}-\d{6}-[\da-f]{12}$/u;
/** Files that are open at the same time. */
const BATCH = 64;
/** A text in JSON takes up to six bytes for one, and the rest of the file little. */
const bytesOfFile = (textBytes: number): number => 6 * textBytes + 1024;

type TextListOptions = {
  readonly state: StateDirectory;
  readonly clock: Clock;
  readonly loadKey: () => Promise<SessionKey | null>;
  readonly observer: ProcessObserver;
};

export function createTextList(
  { state, clock, loadKey, observer }: TextListOptions,
  name: string,
  { maxTexts, maxTextBytes }: TextListLimits,
): TextList {
  const directory = join(state.lists, name);
  let latest = { time: 0, number: 0 };
  const pathOf = (id: string): string => join(directory, `${id}.json`);

  function newId(): string {
    const time = Math.max(Math.floor(clock.now()), latest.time);
    latest = { time, number: time === latest.time ? latest.number + 1 : 0 };
    const parts = [String(time).padStart(16, '0'), String(latest.number).padStart(6, '0')];
    return [...parts, randomBytes(6).toString('hex')].join('-');
  }

  async function ids(): Promise<readonly string[]> {
    const names = await state.names(directory);
    return names
      .filter((file) => file.endsWith('.json'))
      .map((file) => file.slice(0, -'.json'.length))
      .filter((id) => ID.test(id))
      .toSorted();
  }

  /** Those that count, oldest first (L3). */
  function newestOf(all: readonly string[], latestId: string): readonly string[] {
    const early = all.filter((id) => id <= latestId);
    const late = all.filter((id) => id > latestId);
    return [...late, ...early].slice(-maxTexts).toSorted();
  }

  /** Many texts are of few processes: each is looked at once. */
  async function readOne(
    id: string,
    key: SessionKey | null,
    judged: Map<string, Promise<boolean>>,
  ): Promise<ListedText | null> {
    const file = await readSmallFile(pathOf(id), bytesOfFile(maxTextBytes));
    if (file.kind !== 'text' || key?.isOwn(file.text) === false) return null;
    const { list, root, text, owner } = parseFields(file.text) ?? {};
    if (typeof text !== 'string' || list !== name || !state.isAboutHere(root)) return null;
    const added = parseOwner(isFields(owner) ? owner : null);
    const who = `${added?.pid} ${added?.process_started_at}`;
    const isOfOther = judged.get(who) ?? isOther(added);
    judged.set(who, isOfOther);
    return { id, text, isOfOther: await isOfOther };
  }

  async function isOther(owner: OwnerRecord | null): Promise<boolean> {
    if (owner === null) return false;
    const own = await observer.identity();
    if (owner.pid === own.pid && owner.process_started_at === own.startedAt) return false;
    return judgeOwner(owner, await observer.observe(owner)) === 'live';
  }

  return {
    async read() {
      const all = newestOf(await onDisk('read a list', ids), newId());
      const key = all.length === 0 ? null : await loadKey();
      const judged = new Map<string, Promise<boolean>>();
      const texts: ListedText[] = [];
      for (let at = 0; at < all.length; at += BATCH) {
        const batch = all.slice(at, at + BATCH);
        const read = await Promise.all(batch.map((id) => readOne(id, key, judged)));
        texts.push(...read.filter((text) => text !== null));
      }
      return texts;
    },
    async add(text) {
      if (Buffer.byteLength(text) > maxTextBytes) throw tooLong(maxTextBytes);
      const key = await loadKey();
      const id = newId();
      const owner = await observer.newOwner();
      const fields = { version: 1, list: name, root: state.root, text, owner };
      const signed = key === null ? fields : { ...fields, mac: key.sign(fields) };
      await onDisk('keep a text', async () => {
        await state.ensure(directory);
        await createWholeFile(pathOf(id), jsonBytes(signed));
        await syncDirectory(directory);
        const all = await ids();
        const kept = new Set(newestOf(all, id));
        for (const old of all.filter((each) => !kept.has(each))) {
          await unlink(pathOf(old)).catch(() => undefined);
        }
      });
      return id;
    },
    async remove(id) {
      if (!ID.test(id) || !(await onDisk('read a list', () => state.holds(directory))))
        return false;
      return onDisk('remove a text', async () => {
        try {
          await unlink(pathOf(id));
          return true;
        } catch (error) {
          if (isErrno(error, 'ENOENT')) return false;
          throw error;
        }
      });
    },
  };
}

function tooLong(maxBytes: number): OrionError {
  return new OrionError({
    code: 'CONTENT_TOO_LARGE',
    message: `A text to be kept has more than ${maxBytes} bytes.`,
  });
}

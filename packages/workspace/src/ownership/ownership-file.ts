/**
 * Owner files, and taking over from dead owners.
 *
 * O1. An owner file is complete as soon as it has its name (`link` of a complete temporary file).
 * O2. To take over, a process creates `claim-<token of the dead owner>`, in which exactly one succeeds. The claim
 *     contains the new owner's record; `lease.json` or the lock file is replaced afterwards.
 * O3. The owner is found by following claims from the file. A record whose token has been claimed is obsolete, so a
 *     suspended owner that wakes up and replaces the file changes nothing.
 * O4. A claim counts only while the file it started from still leads to it. A process that claims on outdated knowledge
 *     notices this before it acts.
 * O5. Where links fail, the name is created exclusively. An incomplete file counts as dead when it is older than the
 *     lease's time to live or dated in the future.
 * O6. Nothing of this is synced, so that a takeover does not wait for the disk: a power cut ends all owners, and what it
 *     leaves of their files is dead by its boot or by O5.
 */
import {
  createWholeFile,
  isThere,
  jsonBytes,
  readSmallFile,
  removeIfThere,
  replaceFile,
} from '../disk/files.ts';
import { isRecent } from './judge-owner.ts';
import { parseOwnerText } from './owner-record.ts';
import type { OwnerRecord } from './owner-record.ts';

const MAX_OWNER_BYTES = 64 * 1024;
/** More takeovers than any session will see. Guards against a cycle of claims. */
const MAX_CLAIMS = 1_000;
const BRIEF = { isBrief: true } as const;

export type OwnerPlace = {
  readonly file: string;
  readonly claimOf: (token: string) => string;
};

export function leasePlace(directory: string): OwnerPlace {
  return {
    file: `${directory}/lease.json`,
    claimOf: (token) => `${directory}/claim-${token}`,
  };
}

export function lockPlace(file: string): OwnerPlace {
  return { file, claimOf: (token) => `${file}.claim-${token}` };
}

export type FoundOwner = {
  /** The token that a claim names: the owner's, or its substitute. */
  readonly token: string;
  readonly fileExists: boolean;
} & (
  | { readonly kind: 'owned'; readonly owner: OwnerRecord }
  /** The file is missing or unreadable. */
  | { readonly kind: 'nobody' }
  /** Being written, on a file system without links. */
  | { readonly kind: 'incomplete'; readonly modifiedAt: number }
);

/** Stands for an owner file without a readable record. */
const NO_TOKEN = 'none';

export async function findOwner(place: OwnerPlace): Promise<FoundOwner> {
  const file = await readSmallFile(place.file, MAX_OWNER_BYTES);
  const fileExists = file.kind !== 'missing';
  const first = file.kind === 'text' ? parseOwnerText(file.text) : null;
  let current: OwnerRecord | null = first;
  let token = first?.token ?? NO_TOKEN;
  for (let step = 0; step < MAX_CLAIMS; step += 1) {
    const claim = await readSmallFile(place.claimOf(token), MAX_OWNER_BYTES);
    if (claim.kind === 'missing') {
      if (current !== null) return { kind: 'owned', owner: current, token, fileExists };
      if (file.kind === 'text' && step === 0) {
        return { kind: 'incomplete', token, fileExists, modifiedAt: file.modifiedAt };
      }
      return { kind: 'nobody', token, fileExists };
    }
    const record = claim.kind === 'text' ? parseOwnerText(claim.text) : null;
    if (record === null) {
      const modifiedAt = claim.kind === 'text' ? claim.modifiedAt : 0;
      // Without a token, its own claim is named after the claim.
      const next = `${token}-incomplete`;
      if ((await readSmallFile(place.claimOf(next), MAX_OWNER_BYTES)).kind === 'missing') {
        return { kind: 'incomplete', token: next, fileExists, modifiedAt };
      }
      token = next;
      current = null;
      continue;
    }
    // The file of the same owner has a newer heartbeat and shows whether it was released.
    current = record;
    token = record.token;
  }
  return { kind: 'nobody', token, fileExists };
}

/** Whether an incomplete record is old enough to have no owner. */
export function isAbandoned(modifiedAt: number, now: number): boolean {
  return !isRecent(modifiedAt, now);
}

/** Takes a free place. Returns false if it is taken. */
export function createOwner(place: OwnerPlace, record: OwnerRecord): Promise<boolean> {
  return createWholeFile(place.file, jsonBytes(record), BRIEF);
}

/**
 * Takes over from an owner that was judged dead. `token` comes from `findOwner`. Returns false if another process was
 * first.
 */
export async function claimOwner(
  place: OwnerPlace,
  token: string,
  record: OwnerRecord,
): Promise<boolean> {
  const claim = place.claimOf(token);
  if (!(await createWholeFile(claim, jsonBytes(record), BRIEF))) return false;
  const found = await findOwner(place);
  if (found.kind !== 'owned' || found.token !== record.token) {
    await removeIfThere(claim).catch(() => undefined);
    return false;
  }
  await replaceOwner(place, record);
  return true;
}

/** Replaces this process's own record. The caller has verified that it is still the owner. */
export function replaceOwner(place: OwnerPlace, record: OwnerRecord): Promise<void> {
  return replaceFile(place.file, jsonBytes(record), BRIEF);
}

export type Standing = 'owner' | 'taken_over' | 'vanished';

/** Whether a token still owns the place. Cheap, because it is called before every batch of writes. */
export async function standing(place: OwnerPlace, token: string): Promise<Standing> {
  if (await isThere(place.claimOf(token))) return 'taken_over';
  return (await isThere(place.file)) ? 'owner' : 'vanished';
}

/** Inspects a session directory, whatever it contains, without changing it. */
import { countLineFeeds, defined } from '@orion/contracts';
import type {
  SessionListing,
  SessionMetadata,
  SessionStatus,
  SessionTextName,
} from '@orion/contracts';
import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { readRegularFile, readSmallFile, scanRange } from '../disk/files.ts';
import { judgeOwner } from '../ownership/judge-owner.ts';
import type { OwnerVerdict } from '../ownership/judge-owner.ts';
import { findOwner, isAbandoned, leasePlace } from '../ownership/ownership-file.ts';
import type { FoundOwner } from '../ownership/ownership-file.ts';
import type { ProcessObserver } from '../ownership/process-identity.ts';
import { MAX_JSON_BYTES, parseMetadata, readState, rootOf, textNumber } from './session-files.ts';
import type { ReadFile, SavedState } from './session-files.ts';
import type { SessionKey } from './session-key.ts';

export type TextFile = {
  readonly name: string;
  readonly number: number;
  readonly size: number;
  readonly modifiedAt: number;
};

export type Inspection = {
  readonly id: string;
  readonly directory: string;
  /** The root of its workspace, as in `StateDirectory.root`. */
  readonly root: string | undefined;
  readonly status: SessionStatus;
  /** Why a damaged session is damaged. */
  readonly problem: string | null;
  readonly metadata: SessionMetadata | null;
  readonly state: SavedState | null;
  readonly content: TextFile | null;
  readonly owner: FoundOwner;
  readonly verdict: OwnerVerdict;
  readonly ageMs: number;
};

export type Inspector = {
  readonly observer: ProcessObserver;
  readonly key: SessionKey | null;
  readonly now: () => number;
};

/**
 * What `metadata.json` alone determines. Foreign metadata stays foreign, and a session without readable metadata cannot
 * be recovered.
 */
export type Fitness = 'own' | 'foreign' | 'damaged';

export type FirstLook = {
  readonly fitness: Fitness;
  readonly root: string | undefined;
  /** The disk reported an error this time. */
  readonly refused: boolean;
};

/**
 * Null if this is not a directory (links are not followed) or not wanted. One file is enough to recognize a session
 * that came with a repository; nothing else of it is read.
 */
export async function inspectSession(
  inspector: Inspector,
  directory: string,
  id: string,
  isWanted: (look: FirstLook) => boolean = () => true,
): Promise<Inspection | null> {
  const stat = await lstat(directory).catch(() => null);
  if (stat === null || !stat.isDirectory()) return null;
  const file = await readSmallFile(join(directory, 'metadata.json'), MAX_JSON_BYTES);
  const text = file.kind === 'text' ? file.text : '';
  const metadata = file.kind === 'text' ? parseMetadata(text, id) : file;
  const root = rootOf(text);
  const foreign = metadata.kind === 'good' && inspector.key?.isOwn(text) === false;
  const readable = foreign ? 'foreign' : 'own';
  const fitness = metadata.kind === 'good' ? readable : 'damaged';
  const refused = file.kind === 'unusable' && file.error !== undefined;
  if (!isWanted({ fitness, root, refused })) return null;
  const owner = await findOwner(leasePlace(directory));
  const verdict = await judge(inspector, owner);
  // Not before: until it is gone, the owner may still record that it writes the file.
  const [state, contents] = await Promise.all([
    readState(directory),
    findTexts(directory, 'content'),
  ]);
  const saved = state.kind === 'good' ? state.value : null;
  const known = metadata.kind === 'good' ? metadata.value : null;
  const content = contents === null ? null : chooseText(contents, saved?.contentFile);
  const problem = findProblem(metadata.kind, state.kind, contents);
  return {
    id,
    directory,
    root,
    status: statusOf(verdict, foreign, problem),
    problem,
    metadata: known,
    state: saved,
    content,
    owner,
    verdict,
    ageMs: ageOf(inspector.now(), {
      lastSave: saved?.lastSave,
      heartbeat: owner.kind === 'owned' ? owner.owner.heartbeat_at : undefined,
      createdAt: known?.created_at,
      contentModifiedAt: content?.modifiedAt,
      directoryModifiedAt: stat.mtimeMs,
    }),
  };
}

async function judge(inspector: Inspector, owner: FoundOwner): Promise<OwnerVerdict> {
  switch (owner.kind) {
    case 'nobody':
      return 'dead';
    case 'incomplete':
      return isAbandoned(owner.modifiedAt, inspector.now()) ? 'dead' : 'live';
    case 'owned':
      return judgeOwner(owner.owner, await inspector.observer.observe(owner.owner));
  }
}

function findProblem(
  metadata: ReadFile<SessionMetadata>['kind'],
  state: ReadFile<SavedState>['kind'],
  contents: readonly TextFile[] | null,
): string | null {
  if (contents === null) return 'the directory cannot be read';
  if (metadata === 'newer') return 'metadata.json was written by a newer version';
  if (metadata === 'missing') return 'metadata.json is missing';
  if (metadata !== 'good') return 'metadata.json cannot be read';
  // An unreadable state.json is rebuilt: the content file is what matters.
  return state === 'newer' ? 'state.json was written by a newer version' : null;
}

function statusOf(verdict: OwnerVerdict, foreign: boolean, problem: string | null): SessionStatus {
  if (verdict === 'live') return 'live';
  if (problem !== null) return 'damaged';
  return foreign ? 'foreign' : 'orphan';
}

type SignsOfLife = {
  readonly lastSave: string | undefined;
  readonly heartbeat: string | undefined;
  readonly createdAt: string | undefined;
  readonly contentModifiedAt: number | undefined;
  readonly directoryModifiedAt: number;
};

/** Milliseconds since the latest sign of life; 0 if the clock went backwards. */
export function ageOf(now: number, signs: SignsOfLife): number {
  const times = [signs.lastSave, signs.heartbeat, signs.createdAt]
    .map((text) => Date.parse(text ?? ''))
    .concat(signs.contentModifiedAt ?? Number.NaN)
    .filter((time) => !Number.isNaN(time));
  const latest = times.length === 0 ? signs.directoryModifiedAt : Math.max(...times);
  return Math.max(0, Math.floor(now - latest));
}

/** Null when the directory cannot be read. */
export async function findTexts(
  directory: string,
  stem: SessionTextName,
): Promise<readonly TextFile[] | null> {
  const names = await readdir(directory).catch(() => null);
  if (names === null) return null;
  const found: TextFile[] = [];
  for (const name of names) {
    const number = textNumber(stem, name);
    if (number === null) continue;
    const stat = await lstat(join(directory, name)).catch(() => null);
    if (stat === null || !stat.isFile()) continue;
    found.push({ name, number, size: stat.size, modifiedAt: stat.mtimeMs });
  }
  return found;
}

/**
 * The file with the text. Normally the one that `state.json` names, as it does for content. A successor, created after a failed fsync, counts
 * once it is at least as long: then only the update of the name is missing.
 */
export function chooseText(
  files: readonly TextFile[],
  namedFile: string | undefined,
): TextFile | null {
  const oldestFirst = files.toSorted((a, b) => a.number - b.number);
  const named = oldestFirst.find((file) => file.name === namedFile);
  let chosen = named ?? null;
  for (const file of oldestFirst) {
    if (named !== undefined && file.number < named.number) continue;
    if (chosen === null || file.size >= chosen.size) chosen = file;
  }
  return chosen;
}

/** Whether a start offers to recover it. */
export function isRecoverable(
  { status, ageMs, metadata }: Inspection,
  maxSessionAgeMs: number,
): boolean {
  return status === 'orphan' && ageMs < maxSessionAgeMs && metadata?.uploaded !== true;
}

/** The session as `list` shows it. Counts only the lines after the last save. */
export async function listingOf(
  inspection: Inspection,
  maxSessionAgeMs: number,
): Promise<SessionListing> {
  const { metadata, state, content, owner, status, ageMs } = inspection;
  return {
    session_id: inspection.id,
    status,
    ...(status === 'live' && owner.kind === 'owned' ? { pid: owner.owner.pid } : {}),
    state: state?.record?.state ?? null,
    target_file: metadata?.target_file ?? null,
    operation: metadata?.operation ?? null,
    intent: metadata?.intent ?? null,
    age_ms: ageMs,
    lines: await countLines(inspection),
    bytes: content?.size ?? 0,
    saved_bytes: savedPart(inspection)?.bytes ?? 0,
    seams: state?.record?.seams ?? [],
    ...defined({ recovered_at: state?.recoveredAt }),
    session_dir: inspection.directory,
    recoverable: isRecoverable(inspection, maxSessionAgeMs),
    ...(metadata?.uploaded === true ? { uploaded: true } : {}),
    ...codeOf(inspection),
  };
}

function codeOf(inspection: Inspection): { readonly code?: string } {
  if (inspection.status === 'damaged') return { code: 'SESSION_DAMAGED' };
  if (inspection.status === 'foreign') return { code: 'SESSION_FOREIGN' };
  const code = inspection.state?.record?.code;
  return code === undefined ? {} : { code };
}

/** What the last save covers; null if it is not of this text. */
function savedPart({
  content,
  state,
}: Inspection): { readonly bytes: number; readonly lines: number } | null {
  const isOfThis =
    state?.contentFile === content?.name && (state?.bufferSize ?? 0) <= (content?.size ?? 0);
  if (state === null || !isOfThis) return null;
  return { bytes: state.bufferSize, lines: state.lineCount };
}

export async function countLines(inspection: Inspection): Promise<number> {
  const { directory, content } = inspection;
  if (content === null || content.size === 0) return 0;
  const saved = savedPart(inspection);
  const from = saved?.bytes ?? 0;
  let lines = saved?.lines ?? 0;
  try {
    await readRegularFile(join(directory, content.name), async (handle) => {
      for await (const chunk of scanRange(handle, from)) lines += countLineFeeds(chunk);
      const last = Buffer.alloc(1);
      await handle.read(last, 0, 1, content.size - 1);
      if (last[0] !== 0x0a) lines += 1;
    });
  } catch {
    // The lines that could be read are counted.
  }
  return lines;
}

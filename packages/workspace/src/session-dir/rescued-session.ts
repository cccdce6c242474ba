/**
 * A session whose disk could not hold it, saved in its own folder in the system's temporary folder.
 *
 * V1. The folder has an unpredictable name, belongs to this user alone, and contains a complete session: text, metadata
 *     with its MAC, state and turn.
 * V2. It is read only from a folder that no other user can have written to, and removed file by file, never as a tree,
 *     because a person names it.
 */
import type { SessionMetadata, TurnRecord } from '@orion/contracts';
import { OrionError, countLineFeeds, parseFields } from '@orion/contracts';
import { lstat, mkdtemp, rm, rmdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { syncDirectory } from '../disk/directories.ts';
import { createFile, readRegularFile, readSmallFile, removeIfThere } from '../disk/files.ts';
import { shown } from '../path-policy/parse-target.ts';
import type { StateDirectory } from '../state-directory.ts';
import { MAX_JSON_BYTES, parseMetadata, readState, readTurn, rootOf } from './session-files.ts';
import type { SavedState, StoredContent } from './session-files.ts';
import { asFarAs } from './session-key.ts';
import type { SessionKey } from './session-key.ts';

const CONTENT = 'content.txt';
const METADATA = 'metadata.json';
const STATE = 'state.json';
const TURN = 'turn.json';
const TRAILING = 'trailing.txt';
const ALL: readonly string[] = [CONTENT, METADATA, STATE, TURN, TRAILING];

/** The texts and records of a session that only memory holds. */
export type SessionInMemory = {
  readonly id: string;
  readonly metadata: Uint8Array;
  readonly turn: Uint8Array | null;
  readonly content: AsyncIterable<Uint8Array>;
  /** Text that was set aside. */
  readonly trailing: AsyncIterable<Uint8Array>;
  readonly state: (content: StoredContent) => string;
};

/**
 * Durably writes the whole session and returns the path of the text. On failure, removes everything and rejects with
 * the system error.
 */
export async function writeRescued(session: SessionInMemory): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), `orion-${session.id}-`));
  try {
    const content = await writeText(join(folder, CONTENT), session.content);
    const trailing = await writeText(join(folder, TRAILING), session.trailing);
    if (trailing.bytes === 0) await removeIfThere(join(folder, TRAILING));
    const state = session.state({ ...content, file: CONTENT });
    await createFile(join(folder, STATE), Buffer.from(state));
    if (session.turn !== null) await createFile(join(folder, TURN), session.turn);
    await createFile(join(folder, METADATA), session.metadata);
    await syncDirectory(folder);
    await syncDirectory(dirname(folder)).catch(() => undefined);
  } catch (error) {
    await rm(folder, { recursive: true, force: true }).catch(() => undefined);
    throw error;
  }
  return join(folder, CONTENT);
}

async function writeText(
  path: string,
  chunks: AsyncIterable<Uint8Array>,
): Promise<Omit<StoredContent, 'file'>> {
  let bytes = 0;
  let lineFeeds = 0;
  async function* counted(): AsyncGenerator<Uint8Array, void, undefined> {
    for await (const chunk of chunks) {
      bytes += chunk.length;
      lineFeeds += countLineFeeds(chunk);
      yield chunk;
    }
  }
  await createFile(path, counted());
  return { bytes, lineFeeds };
}

export type RescuedSession = {
  readonly folder: string;
  /** The file with the text that was set aside. The person names the file with the content. */
  readonly trailing: string;
  readonly metadata: SessionMetadata;
  readonly state: SavedState | null;
  readonly turn: TurnRecord | null;
};

export type RescueReader = {
  readonly key: SessionKey | null;
  readonly state: StateDirectory;
};

/** Rejects with FILE_NOT_FOUND, SESSION_DAMAGED, SESSION_FOREIGN or USAGE (another workspace). */
export async function readRescued(reader: RescueReader, file: string): Promise<RescuedSession> {
  const folder = dirname(file);
  if ((await readRegularFile(file, async () => true)) === null) {
    throw new OrionError({
      code: 'FILE_NOT_FOUND',
      message: `There is no text at ${shown(file)}.`,
      hint: 'Name the file that was printed when the session was paused.',
    });
  }
  const metadataFile = await readSmallFile(join(folder, METADATA), MAX_JSON_BYTES);
  const text = metadataFile.kind === 'text' ? metadataFile.text : '';
  const id = parseFields(text)?.['session_id'];
  const metadata = parseMetadata(text, typeof id === 'string' ? id : '');
  if (metadata.kind !== 'good') {
    throw new OrionError({
      code: 'SESSION_DAMAGED',
      message: `Beside ${shown(file)} there is no ${METADATA} that can be read.`,
      hint: 'The file holds all of the text; copy it by hand.',
    });
  }
  if (!(await isPrivate(folder)) || !isProved(reader.key, text)) {
    throw new OrionError({
      code: 'SESSION_FOREIGN',
      message: `The text at ${shown(file)} was not saved by you${asFarAs(reader.key?.problem ?? null)}.`,
      hint: 'Look at the file, and copy it by hand if it is yours.',
    });
  }
  if (!reader.state.isAboutHere(rootOf(text))) {
    throw new OrionError({
      code: 'USAGE',
      message: `The text at ${shown(file)} belongs to another workspace.`,
      hint: 'Open the workspace it belongs to.',
    });
  }
  const state = await readState(folder);
  return {
    folder,
    trailing: join(folder, TRAILING),
    metadata: metadata.value,
    state: state.kind === 'good' ? state.value : null,
    turn: await readTurn(folder),
  };
}

/** Where no key is stored, it must be enough that no other user can have written there. */
function isProved(key: SessionKey | null, metadata: string): boolean {
  return key === null || key.problem !== null || key.isOwn(metadata);
}

const WRITABLE_BY_OTHERS = 0o022;

async function isPrivate(folder: string): Promise<boolean> {
  const stat = await lstat(folder);
  if (!stat.isDirectory()) return false;
  const user = process.getuid?.();
  return user === undefined || (stat.uid === user && (stat.mode & WRITABLE_BY_OTHERS) === 0);
}

/** Files that are not ours keep the folder. */
export async function removeRescued(folder: string): Promise<void> {
  for (const name of ALL) await removeIfThere(join(folder, name)).catch(() => undefined);
  await rmdir(folder).catch(() => undefined);
}

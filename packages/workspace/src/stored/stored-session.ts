/**
 * A session that this process owns and whose texts and records are rows.
 *
 * P1. Nothing is committed that the store has not decided, whatever is in memory.
 * P2. A session that was lost says so to whoever would write its file.
 */
import { dirname } from 'node:path';
import { defined, OrionError } from '@orion/contracts';
import type {
  SaveResult,
  SessionHandle,
  SessionMetadata,
  SessionOwner,
  SessionRecord,
  TextPlaces,
  TurnRecord,
  WritingOutcome,
  WritingRecord,
} from '@orion/contracts';
import { errnoOf, onDisk } from '../disk/disk-error.ts';
import { jsonBytes } from '../disk/files.ts';
import { removeRescued, writeRescued } from '../session-dir/rescued-session.ts';
import { keepTrailing } from '../session-dir/session-attic.ts';
import { formatState } from '../session-dir/session-files.ts';
import type { StoredContent } from '../session-dir/session-files.ts';
import type { RecoveredSession } from '../session-dir/session-handle.ts';
import type { SessionKey } from '../session-dir/session-key.ts';
import type { EventSink } from '../session-dir/session-store-options.ts';
import { Wtf8Decoder } from '../session-dir/wtf8.ts';
import type { StateDirectory } from '../state-directory.ts';
import { LEAVING_MS, repeated } from './repeated.ts';
import { CONTENT_FILE, StoredTexts } from './stored-texts.ts';
import type { StoredTextsOptions } from './stored-texts.ts';

export type StoredSessionOptions = Pick<
  StoredTextsOptions,
  'clock' | 'content' | 'group' | 'owner' | 'counts'
> & {
  readonly root: string;
  readonly state: StateDirectory;
  readonly key: SessionKey | null;
  readonly metadata: SessionMetadata;
  readonly onEvent: EventSink;
  /** Determines the outcome of a decided commit from the target's bytes. */
  readonly judgeWriting: (writing: WritingRecord) => Promise<WritingOutcome>;
  /** Called when the session no longer belongs to this process. */
  readonly onClosed: () => void;
};

export class StoredSession implements SessionHandle {
  readonly id: string;
  readonly metadata: SessionMetadata;
  readonly directory: string;
  readonly owner: SessionOwner;

  readonly #options: StoredSessionOptions;
  readonly #texts: StoredTexts;
  readonly #lost: AbortController = new AbortController();
  #record: SessionRecord | null = null;
  #turn: TurnRecord | null = null;
  #writing: WritingRecord | null = null;
  #recoveredAt: string | undefined;
  #isClosed = false;
  #queue: Promise<unknown> = Promise.resolve();
  /** The rescue folder that also contains this session. */
  #rescuedIn: string | null = null;

  constructor(options: StoredSessionOptions, places: TextPlaces | null, lineFeeds: number = 0) {
    const { metadata, onEvent } = options;
    this.#options = options;
    this.metadata = metadata;
    this.id = metadata.session_id;
    this.directory = `database:${this.id}`;
    this.owner = options.owner;
    const { id } = this;
    const parts: StoredTextsOptions = {
      ...options,
      isText: metadata.uploaded !== true,
      records: {
        state: (content) => this.#state(content),
        turn: () => (this.#turn === null ? null : JSON.stringify(this.#turn)),
      },
      onDegraded: ({ code, message }) => onEvent('degraded', { session_id: id, code, message }),
      onRestored: () => onEvent('restored', { session_id: id }),
      onLost: () => {
        onEvent('lease_lost', { session_id: id });
        this.#lost.abort(this.#lostError());
      },
    };
    this.#texts = new StoredTexts(parts, places, lineFeeds);
  }

  /** Continues with these records. `rescuedIn`: the folder that it was rescued to. */
  resume(found: RecoveredSession, rescuedIn: string | null = null): void {
    this.#record = found.record;
    this.#turn = found.turn;
    this.#writing = found.writing;
    this.#recoveredAt = found.recoveredAt;
    this.#rescuedIn = rescuedIn;
  }

  get lost(): AbortSignal {
    return this.#lost.signal;
  }

  /** Another owner has the session. */
  lose(): void {
    this.#texts.lose();
  }

  contentPath(): string {
    return `${this.directory}/${CONTENT_FILE}`;
  }

  persistence(): 'disk' | 'memory' {
    return this.lost.aborted || this.#texts.isInMemory() ? 'memory' : 'disk';
  }

  append(text: string): void {
    this.#texts.content.append(text);
    this.#texts.changed();
  }

  appendBytes(bytes: Uint8Array): void {
    this.#texts.content.appendBytes(bytes);
    this.#texts.changed();
  }

  bytes(): number {
    return this.#texts.content.bytes();
  }

  durableBytes(): number {
    return this.#texts.content.storedBytes();
  }

  savedBytes(): number {
    return this.lost.aborted ? 0 : this.#texts.content.storedBytes();
  }

  appendPending(text: string): void {
    this.#texts.pending.append(text);
    this.#texts.changed();
  }

  clearPending(): void {
    this.#texts.pending.clear();
    this.#texts.changed();
  }

  async *readPending(): AsyncGenerator<string, void, undefined> {
    const decoder = new Wtf8Decoder();
    for await (const chunk of this.#texts.read('pending')) {
      const text = decoder.decode(chunk);
      if (text !== '') yield text;
    }
    const rest = decoder.end();
    if (rest !== '') yield rest;
  }

  setAside(text: string): void {
    this.#texts.trailing.append(text);
    this.#texts.changed();
  }

  /** Text that another program has saved, as what was set aside. */
  setBytesAside(bytes: Uint8Array): void {
    this.#texts.trailing.appendBytes(bytes);
    this.#texts.changed();
  }

  /** Sets aside what an earlier owner had not decided about. Returns its length. */
  async setPendingAside(): Promise<number> {
    const { pending, trailing } = this.#texts;
    const bytes = pending.bytes();
    if (bytes === 0) return 0;
    for await (const chunk of this.#texts.read('pending')) trailing.appendBytes(chunk);
    pending.clear();
    await repeated(this.#options.clock, () => this.#texts.flush());
    return bytes;
  }

  startOver(record: SessionRecord): Promise<void> {
    return this.#exclusively(async () => {
      this.#record = record;
      this.#texts.content.settle();
      await this.#texts.startOver();
    });
  }

  async save(record: SessionRecord): Promise<SaveResult> {
    this.#record = record;
    this.#texts.recordsChanged('state');
    await this.#texts.flush();
    return { durableBytes: this.durableBytes(), persistence: this.persistence() };
  }

  async saveTurn(turn: TurnRecord): Promise<void> {
    this.#turn = turn;
    this.#texts.recordsChanged('turn');
    await this.#texts.flush().catch(ignore);
  }

  readContent(start?: number, end?: number): AsyncGenerator<Uint8Array, void, undefined> {
    return this.#texts.read('content', start, end);
  }

  async rescue(): Promise<string> {
    const path = await onDisk('copy the text to the temporary folder', () =>
      writeRescued({
        id: this.id,
        metadata: metadataBytes(this.#options),
        turn: this.#turn === null ? null : jsonBytes(this.#turn),
        content: this.#texts.read('content'),
        trailing: this.#texts.notTheFile(),
        state: (content) => this.#state(content),
      }),
    );
    await this.#leaveRescued();
    this.#rescuedIn = dirname(path);
    return path;
  }

  recordWriting(writing: WritingRecord): Promise<void> {
    return this.#exclusively(async () => {
      if (this.#isClosed || this.lost.aborted) throw this.#lostError();
      // Whoever has to repeat the change needs all of the text.
      await repeated(this.#options.clock, () => this.#texts.flush());
      const stands = this.#writing?.stands === true;
      await this.#decide(stands ? { ...writing, stands } : writing);
    });
  }

  resolveWriting(writing: WritingRecord): Promise<WritingOutcome> {
    return this.#exclusively(async () => {
      const outcome = await this.#options.judgeWriting(writing);
      if (outcome === 'after') return outcome;
      // Only now can this outcome be proved: the evidence may be gone by the next check.
      await this.#decide(outcome === 'changed_after' ? { ...writing, stands: true } : null);
      return outcome;
    });
  }

  release(): Promise<void> {
    return this.#close(async () => {
      await this.#saveLast();
      await this.#giveBack();
    });
  }

  async remove(): Promise<{ readonly trailing?: string; readonly warnings: readonly string[] }> {
    const warnings: string[] = [];
    let trailing: string | null = null;
    await this.#close(async () => {
      if (this.lost.aborted) {
        warnings.push('session_lost');
        return;
      }
      try {
        trailing = await this.#keepTrailing();
      } catch (error) {
        if (errnoOf(error) === null && !OrionError.isInstance(error)) throw error;
        // The session stays because it contains the only copy.
        warnings.push('trailing_not_moved', this.#rescuedIn ?? this.directory);
        await this.#saveLast();
        await this.#giveBack();
        return;
      }
      await this.#texts.stop();
      const { content, clock } = this.#options;
      await repeated(clock, () => content.remove(this.owner)).catch((error: unknown) => {
        if (!OrionError.isInstance(error)) throw error;
        // Its next owner finds that it is finished.
        warnings.push('session_directory_left');
      });
      await this.#leaveRescued();
    });
    return trailing === null ? { warnings } : { trailing, warnings };
  }

  async discard(): Promise<{ readonly attic: string }> {
    await this.#close(async () => {
      await this.#saveLast();
      await this.#texts.stop();
      const { content, root, clock } = this.#options;
      const putAway = (): Promise<boolean> => content.putAway(root, this.id, this.owner);
      if (await repeated(clock, putAway, LEAVING_MS)) return;
      // It may have been put away without an answer.
      const found = await repeated(clock, () => content.find(root, this.id), LEAVING_MS);
      if (found?.isPutAway !== true) throw this.#lostError();
    });
    return { attic: this.directory };
  }

  #lostError(): OrionError {
    return new OrionError({
      code: 'SESSION_BUSY',
      message: 'Another process has taken this write session over.',
      details: { session_id: this.id },
    });
  }

  async #decide(writing: WritingRecord | null): Promise<void> {
    const { content, clock } = this.#options;
    const decided =
      writing === null
        ? null
        : {
            path: writing.target ?? this.metadata.target.path,
            before: writing.before,
            after: writing.after,
            record: JSON.stringify(writing),
          };
    if (!(await repeated(clock, () => content.decide(this.owner, decided)))) {
      this.lose();
      throw this.#lostError();
    }
    this.#writing = writing;
  }

  #state({ bytes, lineFeeds, file }: StoredContent): string {
    return formatState({
      record: this.#record,
      bufferSize: bytes,
      lineCount: lineFeeds,
      lastSave: new Date(this.#options.clock.now()).toISOString(),
      contentFile: file,
      writing: null,
      ...defined({ recoveredAt: this.#recoveredAt }),
    });
  }

  /** Saves all text that is not part of the file to the attic as one file. Returns its path. */
  async #keepTrailing(): Promise<string | null> {
    const { state, clock } = this.#options;
    this.#texts.settle();
    const { content, pending, trailing } = this.#texts;
    const { content_start: start = 0, content_end: end = content.bytes() } = this.#record ?? {};
    const isAll = start === 0 && end >= content.bytes();
    if (isAll && pending.bytes() === 0 && trailing.bytes() === 0) return null;
    return keepTrailing(state, clock, this.id, this.#texts.notTheFile(start, end));
  }

  /** Saves the last record again, with everything that has arrived since. Ignores failures. */
  async #saveLast(): Promise<void> {
    this.#texts.settle();
    if (this.#texts.isStored()) return;
    this.#texts.recordsChanged('state');
    await this.#texts.flush().catch(ignore);
  }

  /** If the store is away, the next owner comes when this one was silent for long enough. */
  async #giveBack(): Promise<void> {
    await this.#texts.stop();
    await this.#options.content.release(this.owner).catch(ignore);
  }

  /** Runs `finish` once. Later calls find the handle closed. */
  async #close(finish: () => Promise<void>): Promise<void> {
    await this.#exclusively(async () => {
      if (this.#isClosed) return;
      try {
        await finish();
      } finally {
        this.#isClosed = true;
        this.#texts.close();
        this.#options.onClosed();
      }
    });
  }

  /** Removes the rescue folder, whose contents are now elsewhere. */
  async #leaveRescued(): Promise<void> {
    const folder = this.#rescuedIn;
    this.#rescuedIn = null;
    if (folder !== null) await removeRescued(folder);
  }

  #exclusively<T>(step: () => Promise<T>): Promise<T> {
    const result = this.#queue.then(step);
    this.#queue = result.then(ignore, ignore);
    return result;
  }
}

/** The stored form of the metadata, with this user's MAC. */
export function metadataBytes({
  key,
  state,
  metadata: given,
}: Pick<StoredSessionOptions, 'key' | 'state' | 'metadata'>): Buffer {
  const metadata = { ...given, root: state.root };
  return jsonBytes(key === null ? metadata : { ...metadata, mac: key.sign(metadata) });
}

function ignore(): void {}

/**
 * A session that this process owns and whose texts and records are rows.
 *
 * E1. The content that the stored state covers is stored with it or before it.
 * E2. A failure of the store does not end the session: it lives in memory until the store is back, which is tried at each
 *     `save` and every second. But nothing is committed that the store has not decided.
 * E3. Nothing is stored after the session was lost to another owner, and the decision about a commit says so, too.
 */
import { dirname } from 'node:path';
import { countLineFeeds, defined, OrionError } from '@orion/contracts';
import type {
  Clock,
  SaveResult,
  SessionAppend,
  SessionAppended,
  SessionContent,
  SessionHandle,
  SessionMetadata,
  SessionOwner,
  SessionRecord,
  SessionTextName,
  TextPlaces,
  TurnRecord,
  WritingOutcome,
  WritingRecord,
} from '@orion/contracts';
import { errnoOf, onDisk } from '../disk/disk-error.ts';
import { jsonBytes } from '../disk/files.ts';
import { removeRescued, writeRescued } from '../session-dir/rescued-session.ts';
import { keepTrailing } from '../session-dir/session-attic.ts';
import { formatState, numberedName } from '../session-dir/session-files.ts';
import type { StoredContent } from '../session-dir/session-files.ts';
import type { RecoveredSession } from '../session-dir/session-handle.ts';
import type { SessionKey } from '../session-dir/session-key.ts';
import type { EventSink } from '../session-dir/session-store-options.ts';
import type { ByteCounts } from '../session-dir/session-texts.ts';
import { Wtf8Decoder } from '../session-dir/wtf8.ts';
import type { StateDirectory } from '../state-directory.ts';
import type { SessionGroup } from './session-group.ts';
import { StoredText } from './stored-text.ts';

const HAND_OVER_BYTES = 64 * 1024;
/** How often a store that is away is tried. */
const RETRY_MS = 1_000;
const CONTENT_FILE = numberedName('content', 1);

export type StoredSessionOptions = {
  readonly clock: Clock;
  readonly content: SessionContent;
  readonly group: SessionGroup;
  readonly root: string;
  readonly state: StateDirectory;
  readonly key: SessionKey | null;
  readonly metadata: SessionMetadata;
  readonly owner: SessionOwner;
  /** Of all sessions of the store. */
  readonly counts: ByteCounts;
  readonly onEvent: EventSink;
  /** Determines the outcome of a decided commit from the target's bytes. */
  readonly judgeWriting: (writing: WritingRecord) => Promise<WritingOutcome>;
  /** Called when the session no longer belongs to this process. */
  readonly onClosed: () => void;
};

type Texts = { readonly [Text in SessionTextName]: StoredText };

/** Resolved once the store has the texts up to here, and the records of this version. */
type Waiter = {
  readonly goals: readonly (readonly [text: SessionTextName, generation: number, end: number])[];
  readonly version: number;
  readonly settled: PromiseWithResolvers<void>;
};

export class StoredSession implements SessionHandle {
  readonly id: string;
  readonly metadata: SessionMetadata;
  readonly directory: string;
  readonly owner: SessionOwner;

  readonly #options: StoredSessionOptions;
  readonly #lost: AbortController = new AbortController();
  #texts: Texts;
  #record: SessionRecord | null = null;
  #turn: TurnRecord | null = null;
  #writing: WritingRecord | null = null;
  #recoveredAt: string | undefined;
  /** Counts changes of the records. */
  #version = 0;
  #turnVersion = 0;
  /** What the store has of them. */
  #storedVersion = 0;
  /** What a statement under way has of them; null if there is none with records. */
  #sentVersion: number | null = null;
  #waiters: readonly Waiter[] = [];
  #persistence: 'disk' | 'memory' = 'disk';
  #cancelRetry: (() => void) | null = null;
  #isPaused = false;
  #isClosed = false;
  #queue: Promise<unknown> = Promise.resolve();
  /** The rescue folder that also contains this session. */
  #rescuedIn: string | null = null;

  constructor(options: StoredSessionOptions, places: TextPlaces | null, lineFeeds: number = 0) {
    this.#options = options;
    this.metadata = options.metadata;
    this.id = options.metadata.session_id;
    this.directory = `database:${this.id}`;
    this.owner = options.owner;
    this.#texts = {
      content: new StoredText(options.metadata.uploaded !== true, places?.content, lineFeeds),
      pending: new StoredText(true, places?.pending),
      trailing: new StoredText(false, places?.trailing),
    };
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

  contentPath(): string {
    return `${this.directory}/${CONTENT_FILE}`;
  }

  persistence(): 'disk' | 'memory' {
    return this.#lost.signal.aborted ? 'memory' : this.#persistence;
  }

  append(text: string): void {
    this.#texts.content.append(text);
    this.#appended();
  }

  appendBytes(bytes: Uint8Array): void {
    this.#texts.content.appendBytes(bytes);
    this.#appended();
  }

  bytes(): number {
    return this.#texts.content.bytes();
  }

  durableBytes(): number {
    return this.#texts.content.storedBytes();
  }

  savedBytes(): number {
    return this.#lost.signal.aborted ? 0 : this.#texts.content.storedBytes();
  }

  appendPending(text: string): void {
    this.#texts.pending.append(text);
    this.#appended();
  }

  clearPending(): void {
    this.#texts.pending.clear();
    this.#appended();
  }

  async *readPending(): AsyncGenerator<string, void, undefined> {
    const decoder = new Wtf8Decoder();
    for await (const chunk of this.#read('pending')) {
      const text = decoder.decode(chunk);
      if (text !== '') yield text;
    }
    const rest = decoder.end();
    if (rest !== '') yield rest;
  }

  setAside(text: string): void {
    this.#texts.trailing.append(text);
    this.#appended();
  }

  /** Text that an earlier owner had not decided about. Returns its length. */
  async setPendingAside(): Promise<number> {
    const bytes = this.#texts.pending.bytes();
    if (bytes === 0) return 0;
    for await (const chunk of this.#read('pending')) this.#texts.trailing.appendBytes(chunk);
    this.#texts.pending.clear();
    await this.#flush();
    return bytes;
  }

  /** Text that another program has saved, as what was set aside. */
  appendTrailing(bytes: Uint8Array): void {
    this.#texts.trailing.appendBytes(bytes);
    this.#appended();
  }

  startOver(record: SessionRecord): Promise<void> {
    return this.#exclusively(async () => {
      this.#record = record;
      this.#texts.content.settle();
      await this.#alone(async () => {
        const { content, trailing } = this.#texts;
        const generation = content.generation + 1;
        const state = this.#state({ bytes: 0, lineFeeds: 0, file: CONTENT_FILE });
        const places = await this.#options.content.startOver(this.owner, generation, state);
        if (places === null) return this.lose();
        trailing.moveBehind(content.bytes());
        const isText = this.metadata.uploaded !== true;
        this.#texts = { ...this.#texts, content: new StoredText(isText, places.content) };
      });
    });
  }

  async save(record: SessionRecord): Promise<SaveResult> {
    this.#record = record;
    this.#version += 1;
    await this.#flush();
    return {
      durableBytes: this.#texts.content.storedBytes(),
      persistence: this.persistence(),
    };
  }

  async saveTurn(turn: TurnRecord): Promise<void> {
    this.#turn = turn;
    this.#version += 1;
    this.#turnVersion = this.#version;
    await this.#flush().catch(() => undefined);
  }

  readContent(start?: number, end?: number): AsyncGenerator<Uint8Array, void, undefined> {
    return this.#read('content', start, end);
  }

  async rescue(): Promise<string> {
    const path = await onDisk('copy the text to the temporary folder', () =>
      writeRescued({
        id: this.id,
        metadata: metadataBytes(this.#options),
        turn: this.#turn === null ? null : jsonBytes(this.#turn),
        content: this.#read('content'),
        trailing: this.#notTheFile(),
        state: (content) => this.#state(content),
      }),
    );
    await this.#leaveRescued();
    this.#rescuedIn = dirname(path);
    return path;
  }

  recordWriting(writing: WritingRecord): Promise<void> {
    return this.#exclusively(async () => {
      if (this.#isClosed || this.#lost.signal.aborted) throw this.lostError();
      // Whoever has to repeat the change needs all of the text.
      await this.#flush();
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
      await this.#stopStoring();
      // If the store is away, the next owner comes when this one was silent for long enough.
      await this.#options.content.release(this.owner).catch(ignore);
    });
  }

  async remove(): Promise<{ readonly trailing?: string; readonly warnings: readonly string[] }> {
    const warnings: string[] = [];
    let trailing: string | null = null;
    await this.#close(async () => {
      if (this.#lost.signal.aborted) {
        warnings.push('session_lost');
        return;
      }
      try {
        trailing = await this.#keepTrailing();
      } catch (error) {
        if (errnoOf(error) === null && !OrionError.isInstance(error)) throw error;
        // The session stays because it contains the only copy.
        warnings.push('trailing_not_moved', this.#rescuedIn ?? this.directory);
        await this.#stopStoring();
        await this.#options.content.release(this.owner).catch(ignore);
        return;
      }
      await this.#stopStoring();
      try {
        await this.#options.content.remove(this.owner);
      } catch {
        warnings.push('session_directory_left');
      }
      await this.#leaveRescued();
    });
    return trailing === null ? { warnings } : { trailing, warnings };
  }

  async discard(): Promise<{ readonly attic: string }> {
    await this.#close(async () => {
      await this.#saveLast();
      await this.#stopStoring();
      const { content, root } = this.#options;
      if (!(await content.putAway(root, this.id, this.owner))) throw this.lostError();
    });
    return { attic: this.directory };
  }

  /** Another owner has the session. */
  lose(): void {
    if (this.#lost.signal.aborted) return;
    this.#lost.abort(this.lostError());
    this.#stopRetrying();
    this.#options.group.remove(this);
    this.#options.onEvent('lease_lost', { session_id: this.id });
    const waiters = this.#waiters;
    this.#waiters = [];
    for (const { settled } of waiters) settled.resolve();
  }

  lostError(): OrionError {
    return new OrionError({
      code: 'SESSION_BUSY',
      message: 'Another process has taken this write session over.',
      details: { session_id: this.id },
    });
  }

  take(): SessionAppend | null {
    if (this.#isPaused || this.#lost.signal.aborted) return null;
    const { content, pending, trailing } = this.#texts;
    const pieces = { content: content.take(), pending: pending.take(), trailing: trailing.take() };
    const given = Object.fromEntries(
      Object.entries(pieces).filter(([, piece]) => piece !== null),
    ) as SessionAppend['pieces'];
    const end =
      pieces.content === null ? content.end() : content.storedBytes() + pieces.content.bytes.length;
    const goals = this.#waiters.flatMap((waiter) => waiter.goals);
    const covers = goals.every(
      ([text, generation, goal]) =>
        text !== 'content' || generation !== content.generation || end >= goal,
    );
    const isNew = this.#version > this.#storedVersion;
    this.#sentVersion = isNew && covers ? this.#version : null;
    if (this.#sentVersion === null) {
      return Object.keys(given).length === 0 ? null : { owner: this.owner, pieces: given };
    }
    const lineFeeds =
      content.storedLineFeeds() + countLineFeeds(pieces.content?.bytes ?? new Uint8Array());
    return {
      owner: this.owner,
      pieces: given,
      state: this.#state({ bytes: end, lineFeeds, file: CONTENT_FILE }),
      ...(this.#turn !== null && this.#turnVersion > this.#storedVersion
        ? { turn: JSON.stringify(this.#turn) }
        : {}),
    };
  }

  answered(outcome: SessionAppended): void {
    if (this.#lost.signal.aborted) return;
    if (outcome.kind === 'fenced') {
      this.lose();
      return;
    }
    const { counts } = this.#options;
    for (const name of TEXTS) {
      const text = this.#texts[name];
      const before = text.storedBytes();
      if (!text.stored(outcome.places[name])) {
        this.lose();
        return;
      }
      const added = Math.max(0, text.storedBytes() - before);
      counts.saved += added;
      counts.synced += added;
    }
    if (outcome.kind === 'stored') this.#storedVersion = this.#sentVersion ?? this.#storedVersion;
    this.#restore();
    const waiting: Waiter[] = [];
    for (const waiter of this.#waiters) {
      if (this.#isReached(waiter)) waiter.settled.resolve();
      else waiting.push(waiter);
    }
    this.#waiters = waiting;
    const isUrgent = waiting.length > 0 || outcome.kind === 'elsewhere';
    if (isUrgent || !this.#isStored()) this.#ask(isUrgent);
  }

  failed(error: unknown): void {
    if (this.#lost.signal.aborted) return;
    this.#degrade(error);
    this.#cancelRetry ??= this.#options.clock.schedule(RETRY_MS, () => {
      this.#cancelRetry = null;
      this.#ask(true);
    });
    const waiters = this.#waiters;
    this.#waiters = [];
    for (const { settled } of waiters) settled.reject(error);
  }

  #read(
    name: SessionTextName,
    start?: number,
    end?: number,
  ): AsyncGenerator<Uint8Array, void, undefined> {
    const { content } = this.#options;
    return this.#texts[name].read((from, to) => content.read(this.id, name, from, to), start, end);
  }

  #appended(): void {
    if (this.#isClosed || this.#persistence === 'memory') return;
    const waiting = this.#texts.content.bytes() - this.#texts.content.storedBytes();
    this.#ask(waiting >= HAND_OVER_BYTES);
  }

  #ask(urgent: boolean): void {
    if (this.#isPaused || this.#isClosed || this.#lost.signal.aborted) return;
    this.#options.group.add(this, { urgent });
  }

  #isStored(): boolean {
    return TEXTS.every((name) => this.#texts[name].isStored());
  }

  #isReached({ goals, version }: Waiter): boolean {
    if (this.#storedVersion < version) return false;
    return goals.every(([name, generation, end]) => {
      const text = this.#texts[name];
      return text.generation !== generation || text.storedBytes() >= end;
    });
  }

  /** Waits until everything so far is stored, or the session is lost. Rejects if the store is away. */
  async #flush(): Promise<void> {
    if (this.#isClosed || this.#lost.signal.aborted) return;
    const goals = TEXTS.map((name) => {
      const text = this.#texts[name];
      return [name, text.generation, text.end()] as const;
    });
    const waiter = { goals, version: this.#version, settled: Promise.withResolvers<void>() };
    if (this.#isReached(waiter) && this.#isStored() && this.#persistence === 'disk') return;
    // Without a part of a text the store is asked all the same: whether it is there.
    if (this.#persistence === 'memory') this.#version += 1;
    this.#waiters = [...this.#waiters, waiter];
    this.#ask(true);
    try {
      await waiter.settled.promise;
    } catch (error) {
      throw notStored(error);
    }
  }

  /** Runs `step` when everything is stored and while nothing else is. */
  async #alone(step: () => Promise<void>): Promise<void> {
    while (!this.#lost.signal.aborted) {
      await this.#flush();
      this.#isPaused = true;
      try {
        await this.#options.group.idle();
        if (!this.#isStored()) continue;
        await step();
        return;
      } catch (error) {
        throw notStored(error);
      } finally {
        this.#isPaused = false;
        if (!this.#isStored() || this.#waiters.length > 0) this.#ask(this.#waiters.length > 0);
      }
    }
  }

  async #decide(writing: WritingRecord | null): Promise<void> {
    const decided =
      writing === null
        ? null
        : {
            path: writing.target ?? this.metadata.target.path,
            before: writing.before,
            after: writing.after,
            record: JSON.stringify(writing),
          };
    if (!(await this.#options.content.decide(this.owner, decided))) {
      this.lose();
      throw this.lostError();
    }
    this.#writing = writing;
  }

  #state(content: StoredContent): string {
    return formatState({
      record: this.#record,
      bufferSize: content.bytes,
      lineCount: content.lineFeeds,
      lastSave: new Date(this.#options.clock.now()).toISOString(),
      contentFile: content.file,
      writing: this.#writing,
      ...defined({ recoveredAt: this.#recoveredAt }),
    });
  }

  /** Saves all text that is not part of the file to the attic as one file. Returns its path. */
  async #keepTrailing(): Promise<string | null> {
    const { state, clock } = this.#options;
    for (const name of TEXTS) this.#texts[name].settle();
    const { content, pending, trailing } = this.#texts;
    const { content_start: start = 0, content_end: end = content.bytes() } = this.#record ?? {};
    const isAll = start === 0 && end >= content.bytes();
    if (isAll && pending.bytes() === 0 && trailing.bytes() === 0) return null;
    return keepTrailing(state, clock, this.id, this.#notTheFile(start, end));
  }

  async *#notTheFile(
    start: number = 0,
    end: number = this.#texts.content.bytes(),
  ): AsyncGenerator<Uint8Array, void, undefined> {
    if (start > 0) yield* this.#read('content', 0, start);
    if (end < this.#texts.content.bytes()) yield* this.#read('content', end);
    yield* this.#read('trailing');
    yield* this.#read('pending');
  }

  /** Saves the last record again, with everything that has arrived since. Ignores failures. */
  async #saveLast(): Promise<void> {
    for (const name of TEXTS) this.#texts[name].settle();
    if (this.#isStored() && this.#persistence === 'disk') return;
    this.#version += 1;
    await this.#flush().catch(ignore);
  }

  async #stopStoring(): Promise<void> {
    this.#isPaused = true;
    this.#options.group.remove(this);
    await this.#options.group.idle();
  }

  /** Runs `finish` once. Later calls find the handle closed. */
  async #close(finish: () => Promise<void>): Promise<void> {
    await this.#exclusively(async () => {
      if (this.#isClosed) return;
      try {
        await finish();
      } finally {
        this.#isClosed = true;
        this.#stopRetrying();
        this.#options.group.remove(this);
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

  #degrade(error: unknown): void {
    if (this.#persistence === 'memory') return;
    this.#persistence = 'memory';
    const { code, message } = notStored(error);
    this.#options.onEvent('degraded', { session_id: this.id, code, message });
  }

  #stopRetrying(): void {
    this.#cancelRetry?.();
    this.#cancelRetry = null;
  }

  #restore(): void {
    if (this.#persistence === 'disk') return;
    this.#persistence = 'disk';
    this.#options.onEvent('restored', { session_id: this.id });
  }
}

const TEXTS: readonly SessionTextName[] = ['content', 'pending', 'trailing'];

/** The stored form of the metadata, with this user's MAC. */
export function metadataBytes({
  key,
  state,
  metadata: given,
}: Pick<StoredSessionOptions, 'key' | 'state' | 'metadata'>): Buffer {
  const metadata = { ...given, root: state.root };
  return jsonBytes(key === null ? metadata : { ...metadata, mac: key.sign(metadata) });
}

function notStored(error: unknown): OrionError {
  if (!OrionError.isInstance(error)) throw error;
  return new OrionError({
    code: 'WRITE_FAILED',
    message: `Could not save the write session: ${error.message}.`,
    retryable: error.retryable,
    cause: error,
  });
}

function ignore(): void {}

/**
 * The texts and records of a stored session: what the store has of them, and what has still to be stored.
 *
 * E1. The content that the stored state covers is stored with it or before it.
 * E2. A failure of the store loses nothing: everything stays in memory until the store is back, which is tried at each
 *     `flush` and every second.
 * E3. Nothing is stored after the session was lost to another owner.
 * E4. Held text is cleared in the store with the end of what was made of it, or after it.
 */
import { countLineFeeds, OrionError } from '@orion/contracts';
import type {
  Clock,
  SessionAppend,
  SessionAppended,
  SessionContent,
  SessionOwner,
  SessionPiece,
  SessionTextName,
  TextPlaces,
} from '@orion/contracts';
import { numberedName } from '../session-dir/session-files.ts';
import type { StoredContent } from '../session-dir/session-files.ts';
import type { ByteCounts } from '../session-dir/session-texts.ts';
import type { GroupMember, SessionGroup } from './session-group.ts';
import { repeated, resumed } from './repeated.ts';
import { StoredText } from './stored-text.ts';
import type { TextMark } from './stored-text.ts';

const HAND_OVER_BYTES = 64 * 1024;
/** How often a store that is away is tried. */
const RETRY_MS = 1_000;
export const CONTENT_FILE: string = numberedName('content', 1);
/** What is held may become a part of those before it. */
const TEXTS: readonly SessionTextName[] = ['content', 'trailing', 'pending'];

export type StoredTextsOptions = {
  readonly clock: Clock;
  readonly content: SessionContent;
  readonly group: SessionGroup;
  readonly owner: SessionOwner;
  /** False for content that may be any bytes. */
  readonly isText: boolean;
  /** Of all sessions of the store. */
  readonly counts: ByteCounts;
  /** The records as they are now, with this content. */
  readonly records: {
    readonly state: (content: StoredContent) => string;
    readonly turn: () => string | null;
  };
  readonly onDegraded: (error: OrionError) => void;
  readonly onRestored: () => void;
  /** Called once. */
  readonly onLost: () => void;
};

/** Resolved once the store has the texts up to here, and the records of this version. */
type Waiter = {
  readonly goals: { readonly [Text in SessionTextName]: TextMark };
  readonly version: number;
  readonly settled: PromiseWithResolvers<void>;
};

export class StoredTexts implements GroupMember {
  readonly #options: StoredTextsOptions;
  #texts: { readonly [Text in SessionTextName]: StoredText };
  /** Counts changes of the records. */
  #version = 0;
  #turnVersion = 0;
  /** What the store has of them. */
  #storedVersion = 0;
  /** What a statement under way has of them; null if there is none with records. */
  #sentVersion: number | null = null;
  #waiters: readonly Waiter[] = [];
  #isInMemory = false;
  #cancelRetry: (() => void) | null = null;
  #isPaused = false;
  #isLost = false;
  #isClosed = false;

  constructor(options: StoredTextsOptions, places: TextPlaces | null, lineFeeds: number) {
    this.#options = options;
    this.#texts = {
      content: new StoredText(options.isText, places?.content, lineFeeds),
      pending: new StoredText(true, places?.pending),
      trailing: new StoredText(false, places?.trailing),
    };
  }

  get content(): StoredText {
    return this.#texts.content;
  }

  get pending(): StoredText {
    return this.#texts.pending;
  }

  get trailing(): StoredText {
    return this.#texts.trailing;
  }

  isInMemory(): boolean {
    return this.#isInMemory;
  }

  /** Something was appended to a text, or a text was cleared. */
  changed(): void {
    // While the store is away, `failed` has planned the next try.
    if (this.#isInMemory) return;
    const { content } = this.#texts;
    this.#ask(content.bytes() - content.storedBytes() >= HAND_OVER_BYTES);
  }

  /** The records have changed; the next `flush` stores them. */
  recordsChanged(which: 'state' | 'turn'): void {
    this.#version += 1;
    if (which === 'turn') this.#turnVersion = this.#version;
  }

  isStored(): boolean {
    return !this.#isInMemory && this.#areTextsStored();
  }

  /** Writes waiting high surrogates as they are. */
  settle(): void {
    for (const name of TEXTS) this.#texts[name].settle();
  }

  /** Waits until everything so far is stored, or the session is lost. Rejects with WRITE_FAILED if the store is away. */
  async flush(): Promise<void> {
    if (this.#isClosed || this.#isLost) return;
    const { content, pending, trailing } = this.#texts;
    const goals = { content: content.mark(), pending: pending.mark(), trailing: trailing.mark() };
    const waiter = { goals, version: this.#version, settled: Promise.withResolvers<void>() };
    if (this.#isReached(waiter) && this.isStored()) return;
    // Without a part of a text the store is asked all the same: whether it is there.
    if (this.#isInMemory) this.#version += 1;
    this.#waiters = [...this.#waiters, waiter];
    this.#ask(true);
    try {
      await waiter.settled.promise;
    } catch (error) {
      throw notStored(error);
    }
  }

  /** Moves the content behind the text that was set aside, and begins a new one. */
  async startOver(): Promise<void> {
    await this.#alone(async () => {
      const { content, trailing } = this.#texts;
      const { clock, content: store, owner, records, isText } = this.#options;
      const state = records.state({ bytes: 0, lineFeeds: 0, file: CONTENT_FILE });
      const places = await repeated(clock, () =>
        store.startOver(owner, content.generation + 1, state),
      );
      if (places === null) {
        this.lose();
        return;
      }
      trailing.moveBehind(places.trailing);
      this.#texts = { ...this.#texts, content: new StoredText(isText, places.content) };
    });
  }

  read(
    name: SessionTextName,
    start?: number,
    end?: number,
  ): AsyncGenerator<Uint8Array, void, undefined> {
    const { clock, content, owner } = this.#options;
    const stored = (from: number, to: number): AsyncIterable<Uint8Array> =>
      resumed(clock, from, (at) => content.read(owner.sessionId, name, at, to));
    return this.#texts[name].read(stored, start, end);
  }

  /** All text that is not part of the file, in order: content before `start` and after `end`, then everything else. */
  async *notTheFile(
    start: number = 0,
    end: number = this.#texts.content.bytes(),
  ): AsyncGenerator<Uint8Array, void, undefined> {
    if (start > 0) yield* this.read('content', 0, start);
    if (end < this.#texts.content.bytes()) yield* this.read('content', end);
    yield* this.read('trailing');
    yield* this.read('pending');
  }

  /**
   * Stores nothing from here on, because the session gets another owner, or none: that it has this one no more is no
   * loss. Waits for the statement that is under way.
   */
  async stop(): Promise<void> {
    this.#isClosed = true;
    await this.#options.group.settled();
    this.close();
  }

  /** Nobody uses it any more. */
  close(): void {
    this.#isClosed = true;
    this.#leave();
  }

  /** Another owner has the session. */
  lose(): void {
    if (this.#isLost || this.#isClosed) return;
    this.#isLost = true;
    this.#options.onLost();
    this.#leave();
  }

  take(): SessionAppend | null {
    if (this.#isPaused || this.#isClosed || this.#isLost) return null;
    const { owner, records } = this.#options;
    const { content } = this.#texts;
    const pieces = this.#takePieces();
    const added = pieces.content?.bytes ?? new Uint8Array();
    const bytes = content.storedBytes() + added.length;
    this.#sentVersion = this.#mayBeCoveredBy(bytes) ? this.#version : null;
    if (this.#sentVersion === null)
      return Object.keys(pieces).length === 0 ? null : { owner, pieces };
    const lineFeeds = content.storedLineFeeds() + countLineFeeds(added);
    const turn = this.#turnVersion > this.#storedVersion ? records.turn() : null;
    return {
      owner,
      pieces,
      state: records.state({ bytes, lineFeeds, file: CONTENT_FILE }),
      ...(turn === null ? {} : { turn }),
    };
  }

  answered(outcome: SessionAppended): void {
    if (this.#isLost) return;
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
    if (this.#isInMemory) {
      this.#isInMemory = false;
      this.#options.onRestored();
    }
    const waiting: Waiter[] = [];
    for (const waiter of this.#waiters) {
      if (this.#isReached(waiter)) waiter.settled.resolve();
      else waiting.push(waiter);
    }
    this.#waiters = waiting;
    const isUrgent = waiting.length > 0 || outcome.kind === 'elsewhere';
    if (isUrgent || !this.#areTextsStored()) this.#ask(isUrgent);
  }

  failed(error: unknown): void {
    if (this.#isLost) return;
    this.#cancelRetry ??= this.#options.clock.schedule(RETRY_MS, () => {
      this.#cancelRetry = null;
      this.#ask(true);
    });
    if (!this.#isInMemory) {
      this.#isInMemory = true;
      this.#options.onDegraded(notStored(error));
    }
    const waiters = this.#waiters;
    this.#waiters = [];
    for (const { settled } of waiters) settled.reject(error);
  }

  #takePieces(): SessionAppend['pieces'] {
    const pieces: { [Text in SessionTextName]?: SessionPiece } = {};
    let isWhole = true;
    for (const name of TEXTS) {
      const text = this.#texts[name];
      // E4
      const piece: SessionPiece | null = isWhole || !text.isCleared() ? text.take() : null;
      if (piece === null) continue;
      pieces[name] = piece;
      isWhole &&= piece.at + piece.bytes.length === text.end();
    }
    return pieces;
  }

  #ask(urgent: boolean): void {
    if (this.#isPaused || this.#isClosed || this.#isLost) return;
    this.#options.group.add(this, { urgent });
  }

  #areTextsStored(): boolean {
    return TEXTS.every((name) => this.#texts[name].isStored());
  }

  /** Whether there are new records, and nobody waits for more content to be stored with them (E1). */
  #mayBeCoveredBy(contentEnd: number): boolean {
    if (this.#version === this.#storedVersion) return false;
    const { generation } = this.#texts.content;
    if (this.#waiters.length === 0) return contentEnd === this.#texts.content.end();
    return this.#waiters.every(
      ({ goals }) => goals.content.generation !== generation || contentEnd >= goals.content.end,
    );
  }

  #isReached({ goals, version }: Waiter): boolean {
    if (this.#storedVersion < version) return false;
    return TEXTS.every((name) => this.#texts[name].isStoredTo(goals[name]));
  }

  /** Runs `step` when everything is stored and while nothing else is. Waits while the store is away for a moment. */
  async #alone(step: () => Promise<void>): Promise<void> {
    while (!this.#isLost && !this.#isClosed) {
      await repeated(this.#options.clock, () => this.flush());
      this.#isPaused = true;
      try {
        await this.#options.group.settled();
        if (!this.#areTextsStored()) continue;
        await step();
        return;
      } catch (error) {
        throw notStored(error);
      } finally {
        this.#isPaused = false;
        const isUrgent = this.#waiters.length > 0;
        if (isUrgent || !this.#areTextsStored()) this.#ask(isUrgent);
      }
    }
  }

  /** Nobody waits for what is not stored any more. */
  #leave(): void {
    this.#cancelRetry?.();
    this.#cancelRetry = null;
    this.#options.group.remove(this);
    const waiters = this.#waiters;
    this.#waiters = [];
    for (const { settled } of waiters) settled.resolve();
  }
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

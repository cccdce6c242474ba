import type {
  Clock,
  ConversationSave,
  ConversationStore,
  Message,
  Redact,
  SaveOutcome,
  StoredConversation,
} from '@orion/contracts';
import { defined, OrionError } from '@orion/contracts';

import { redactMessages } from '../keys/redacted-messages.ts';
import type { FoundConversation } from '../orion.ts';
import {
  behind,
  isStored,
  newThread,
  NOT_STORED,
  startsWith,
  storedBefore,
  toWrite,
} from './conversation-thread.ts';
import type { ConversationThread, StoredFront, WrittenHistory } from './conversation-thread.ts';
import type { StoreHealth } from './store-health.ts';
import { settlesWithin } from './deadline.ts';

/** How long a turn waits for a history that can do without: the model then answers in another conversation. */
const LOAD_WAIT_MS = 1000;
/** The most conversations that wait for a store that fails; the oldest are dropped first. */
const MAX_UNSAVED = 1000;
/** How much of a history is read, from its end: more than fits into any model. */
const MAX_HISTORY_BYTES = 8 * 1024 * 1024;

export type KeptConversation = FoundConversation & {
  /** Without the system prompt, which belongs to a turn. */
  readonly history: readonly Message[];
  /** What it builds on: that of the conversation as it was found. */
  readonly thread: ConversationThread;
  /** The owned turn that says it; left out of a turn of a command. */
  readonly fence?: ConversationSave['fence'];
};

/** Which conversation is meant. */
export type ConversationQuestion =
  | { readonly conversationId: string }
  | { readonly projectId: string };

/** Where the messages of a turn are stored: in that conversation, from position `at` on. */
export type TurnPlace = { readonly id: string; readonly at: number };

export type ConversationKeeperOptions = {
  readonly store: ConversationStore;
  readonly clock: Clock;
  readonly health: StoreHealth;
  readonly createId: () => string;
  /** Takes the keys in use out of what a provider said. */
  readonly redact: Redact;
};

/**
 * The histories of conversations: stored beside the turns, and in memory where the store fails.
 *
 * 1. `keep` never waits and never fails. Of several states of one conversation only the newest need be stored.
 * 2. What is not stored is answered from memory, so a conversation continues in this process whatever the store does.
 * 3. What could not be read is not written over: it is read before the first save, and what was said here comes after.
 * 4. Nor is what another process saved meanwhile: what was said here comes after that, whole, or becomes a conversation
 *    of its own where it changed older messages.
 */
export class ConversationKeeper {
  readonly #options: ConversationKeeperOptions;
  /** What is not stored, or not yet. */
  readonly #unsaved = new Map<string, KeptConversation>();
  readonly #notices: string[] = [];
  /** Messages of a provider without keys: those of a long history are cleaned once. */
  readonly #clean = new WeakMap<Message, Message>();
  #saving: Promise<void> | null = null;

  constructor(options: ConversationKeeperOptions) {
    this.#options = options;
  }

  /** Conversations of which the store does not have the newest state. */
  unsaved(): number {
    return this.#unsaved.size;
  }

  /** A notice about a conversation for the person, given once; null if there is none. */
  takeNotice(): string | null {
    return this.#notices.shift() ?? null;
  }

  keep(conversation: KeptConversation): void {
    const { conversationId } = conversation;
    const history = redactMessages(conversation.history, this.#options.redact);
    this.#unsaved.delete(conversationId);
    this.#unsaved.set(conversationId, { ...conversation, history });
    const [oldest] = this.#unsaved.keys();
    if (this.#unsaved.size > MAX_UNSAVED && oldest !== undefined) this.#unsaved.delete(oldest);
    this.#save();
  }

  /**
   * Stores what an owned turn leaves by `write`, after what is under way, as often as somebody else was faster. Rejects
   * as `write` or the store does.
   */
  async conclude(
    conversation: KeptConversation,
    write: (save: ConversationSave) => Promise<SaveOutcome>,
  ): Promise<void> {
    const history = redactMessages(conversation.history, this.#options.redact, this.#clean);
    this.#unsaved.delete(conversation.conversationId);
    await this.#saving;
    await this.#store({ ...conversation, history }, write);
  }

  /**
   * Stores what an owned turn has said so far, and answers where it begins. What is stored already costs nothing.
   * Rejects as the store does.
   */
  async store(conversation: KeptConversation): Promise<TurnPlace> {
    const { thread } = conversation;
    await this.conclude(conversation, (save) =>
      isStored(thread, save)
        ? Promise.resolve({ kind: 'saved', revision: save.revision })
        : this.#options.store.save(save),
    );
    return placeOf(thread);
  }

  /**
   * The conversation as it was before a turn, of which that many messages are stored at that place, and these messages.
   * `prompt` is the turn's own first message. Null if they are not there. Rejects if the store does not answer.
   */
  async findTurn(
    { id, at }: TurnPlace,
    messages: number,
    { prompt, projectId }: { readonly prompt: string; readonly projectId: string },
  ): Promise<{ readonly before: KeptConversation; readonly own: readonly Message[] } | null> {
    const { store } = this.#options;
    let stored = await store.load(id, { maxBytes: MAX_HISTORY_BYTES });
    if (stored !== null && stored.from > at) {
      stored = await store.load(id, { from: at });
    }
    if (stored === null) {
      return messages > 0 ? null : { before: this.begin(id, projectId), own: [] };
    }
    const { history, from } = stored;
    const start = at - from;
    const own = history.slice(start, start + messages);
    if (own.length < messages || (messages > 0 && own[0]?.role !== 'user')) return null;
    // A turn has one prompt: what follows it is the turn's, and what follows the next one somebody else's.
    const first = history[start];
    const isBegun = messages > 0 || (first?.role === 'user' && first.content === prompt);
    const next = history.findIndex(({ role }, index) => index > start && role === 'user');
    const end = isBegun ? (next === -1 ? history.length : next) : start;
    const before = goOn({ ...stored, history: history.slice(0, start) }, this.#options.redact);
    const front = history.toSpliced(start, end - start);
    const thread = {
      ...before.thread,
      stored: fromATurn({ ...stored, history: front }),
      written: [{ history, own: history.slice(start, end) }],
    };
    return { before: { ...before, thread }, own };
  }

  /** The conversation that a turn continues; an empty one if there is none, or if the store does not answer. */
  async find(conversationId: string, projectId: string): Promise<KeptConversation> {
    const unsaved = this.#unsaved.get(conversationId);
    if (unsaved !== undefined) return unsaved;
    try {
      return await this.#soon(this.findStored(conversationId, projectId));
    } catch (error) {
      this.#options.health.report(error);
      return { ...this.begin(conversationId, projectId), thread: newThread(conversationId, null) };
    }
  }

  /** The same as it is stored, for as long as the store takes. Rejects if it does not answer. */
  async findStored(conversationId: string, projectId: string): Promise<KeptConversation> {
    const { store } = this.#options;
    const stored = await store.load(conversationId, { maxBytes: MAX_HISTORY_BYTES });
    return stored === null
      ? this.begin(conversationId, projectId)
      : goOn(stored, this.#options.redact);
  }

  /** One that is not stored. */
  begin(conversationId: string, projectId: string): KeptConversation {
    const thread = newThread(conversationId, NOT_STORED);
    return { conversationId, projectId, history: [], openSessionId: null, thread };
  }

  /**
   * Where a turn would go on: the stored conversation of that id, or the latest of a project; null when there is none.
   * Rejects with STORE_UNAVAILABLE if the store does not answer.
   */
  async look(which: ConversationQuestion): Promise<FoundConversation | null> {
    const { store } = this.#options;
    try {
      if ('conversationId' in which) {
        return await this.#soon(store.load(which.conversationId, { maxBytes: 0 }));
      }
      const [latest] = await this.#soon(store.list({ ...which, limit: 1 }));
      return latest ?? null;
    } catch (error) {
      this.#options.health.report(error);
      throw error;
    }
  }

  /** When everything kept so far is stored, or that is not worth waiting for. Never rejects. */
  async settled(): Promise<void> {
    if (this.#saving !== null) await this.#options.health.wait(this.#saving);
  }

  /** Tries once more what could not be stored, and ends when that is over. Never rejects. */
  async end(): Promise<void> {
    if (this.#unsaved.size > 0) this.#save();
    await this.#saving;
  }

  async #soon<T>(answer: Promise<T>): Promise<T> {
    if (await settlesWithin(this.#options.clock, LOAD_WAIT_MS, answer)) return answer;
    throw new OrionError({
      code: 'STORE_UNAVAILABLE',
      message: 'The store does not answer',
      retryable: true,
    });
  }

  async #store(
    kept: KeptConversation,
    write: (save: ConversationSave) => Promise<SaveOutcome>,
  ): Promise<void> {
    const { store } = this.#options;
    const { thread, projectId, openSessionId, fence } = kept;
    let { stored } = thread;
    if (stored === null) {
      const found = await store.load(thread.conversationId, { maxBytes: MAX_HISTORY_BYTES });
      stored = found === null ? NOT_STORED : { ...found, front: found.history };
    }
    for (;;) {
      thread.stored = stored;
      const next = toWrite(thread, stored, kept.history);
      const known = thread.written;
      thread.written = [...known, next];
      const { conversationId } = thread;
      const { revision } = stored;
      const same = storedBefore(thread, stored, next);
      const from = stored.from + same;
      const history = next.history.slice(same);
      const save = { conversationId, projectId, history, from, openSessionId, revision };
      const outcome = await write({ ...save, ...defined({ fence }) });
      if (outcome.kind === 'saved') {
        confirm(thread, stored, next, outcome.revision);
        const { from: start } = stored;
        thread.saved = { revision: outcome.revision, start, history: next.history, openSessionId };
        return;
      }
      // What another owner says in the turn is the newer state.
      if (outcome.kind === 'fenced') return;
      thread.written = known;
      stored = await this.#overtaken(thread, stored, next);
    }
  }

  /** What the next attempt builds on. */
  async #overtaken(
    thread: ConversationThread,
    { revision, from, front }: StoredFront,
    next: WrittenHistory,
  ): Promise<StoredFront> {
    const { store, createId } = this.#options;
    let found = await store.load(thread.conversationId, { from });
    if (found === null) return { revision: 0, from, front };
    // The store went back, as with a failover: what is there behind the front is an earlier state of the own turns.
    if (found.revision < revision && startsWith(found.history, front)) {
      return { revision: found.revision, from, front };
    }
    // What stood before it was changed, too.
    if (found.from < from) {
      found = (await store.load(thread.conversationId, { from: 0 })) ?? found;
    }
    const place = behind(thread, next, found);
    if (place !== null) return place;
    const newId = createId();
    this.#notices.push(
      `Another process continued the conversation ${thread.conversationId} while this turn changed what stands ` +
        `in it. Both are kept: this turn is in the new conversation ${newId}, and --resume ${newId} continues it.`,
    );
    thread.conversationId = newId;
    thread.written = [];
    return NOT_STORED;
  }

  #save(): void {
    this.#saving ??= this.#saveAll().finally(() => {
      this.#saving = null;
    });
  }

  async #saveAll(): Promise<void> {
    const failed = new Set<KeptConversation>();
    for (;;) {
      const next = [...this.#unsaved.values()].find((one) => !failed.has(one));
      if (next === undefined) return;
      try {
        await this.#store(next, (save) => this.#options.store.save(save));
        // Meanwhile a newer state may wait.
        if (this.#unsaved.get(next.conversationId) === next) {
          this.#unsaved.delete(next.conversationId);
        }
      } catch (error) {
        failed.add(next);
        this.#options.health.report(error);
        // What is away for one is away for all.
        if (OrionError.isInstance(error) && error.code === 'STORE_UNAVAILABLE') return;
      }
    }
  }
}

/** Where a turn begins that builds on it. */
export function placeOf({ conversationId: id, stored }: ConversationThread): TurnPlace {
  return { id, at: (stored?.from ?? 0) + (stored?.front.length ?? 0) };
}

function goOn(stored: StoredConversation, redact: Redact): KeptConversation {
  const { conversationId, projectId, openSessionId } = stored;
  const readable = fromATurn(stored);
  // A stored system message is dropped: the store must not give orders to the model.
  const said = readable.front.filter((message) => message.role !== 'system');
  const history = redactMessages(said, redact);
  const thread = newThread(conversationId, readable, history);
  return { conversationId, projectId, openSessionId, history, thread };
}

/** A part of a history begins with a turn: a result is not read without its call. */
function fromATurn({ revision, from, history }: StoredConversation): StoredFront {
  if (from === 0) return { revision, from, front: history };
  const first = history.findIndex((message) => message.role === 'user');
  const left = first === -1 ? history.length : first;
  return { revision, from: from + left, front: history.slice(left) };
}

function confirm(
  thread: ConversationThread,
  { from, front }: StoredFront,
  { history, own }: WrittenHistory,
  revision: number,
): void {
  // Where older messages were changed, they are now what the next turns build on.
  thread.base = own === null ? history : thread.base;
  thread.stored = { revision, from, front: own === null ? history : front };
  thread.written = [{ history, own: own ?? [] }];
}

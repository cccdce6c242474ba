import type { Clock, ConversationStore, Message } from '@orion/contracts';
import { OrionError } from '@orion/contracts';

import type { StoreHealth } from './store-health.ts';
import { endsWithin } from './wait.ts';

/** How long a history is waited for: without it the model would answer in another conversation. */
const LOAD_WAIT_MS = 1000;
/** So many conversations are kept for a store that does not work; the oldest go first. */
const MAX_UNSAVED = 1000;
/** How many conversations are looked through for the one that a write session belongs to. */
const LOOKED_THROUGH = 200;

export type KeptConversation = {
  readonly conversationId: string;
  readonly projectId: string;
  /** Without the system prompt, which belongs to a turn. */
  readonly history: readonly Message[];
  readonly openSessionId: string | null;
};

/** Which conversation is meant. */
export type ConversationQuestion =
  | { readonly conversationId: string }
  | { readonly projectId: string };

export type ConversationKeeperOptions = {
  readonly store: ConversationStore;
  readonly clock: Clock;
  readonly health: StoreHealth;
};

/**
 * The histories of conversations: stored beside the turns, and in memory where the store fails.
 *
 * 1. `keep` never waits and never fails. Of several states of one conversation only the newest need be stored.
 * 2. What is not stored is answered from memory, so a conversation goes on in this process whatever the store does.
 * 3. What could not be read is not written over: it is read before the first save, and what was said here comes after.
 */
export class ConversationKeeper {
  readonly #options: ConversationKeeperOptions;
  /** What is not stored, or not yet. */
  readonly #unsaved = new Map<string, KeptConversation>();
  /** Conversations that go on here without having been read: what stands before them, once it is known. */
  readonly #unread = new Map<string, readonly Message[] | null>();
  #saving: Promise<void> | null = null;
  constructor(options: ConversationKeeperOptions) {
    this.#options = options;
  }

  /** Conversations of which the store does not have the newest state. */
  unsaved(): number {
    return this.#unsaved.size;
  }

  keep(conversation: KeptConversation): void {
    const { conversationId } = conversation;
    this.#unsaved.delete(conversationId);
    this.#unsaved.set(conversationId, conversation);
    const [oldest] = this.#unsaved.keys();
    if (this.#unsaved.size > MAX_UNSAVED && oldest !== undefined) this.#unsaved.delete(oldest);
    this.#save();
  }

  /** Null when there is none, or when the store cannot tell. */
  async find(conversationId: string): Promise<KeptConversation | null> {
    const unsaved = this.#unsaved.get(conversationId);
    if (unsaved !== undefined) return unsaved;
    try {
      const stored = await this.#ask((store) => store.load(conversationId));
      this.#unread.delete(conversationId);
      return stored;
    } catch (error) {
      this.#options.health.tell(error);
      if (!this.#unread.has(conversationId)) this.#unread.set(conversationId, null);
      return null;
    }
  }

  /**
   * Where a turn would go on: the stored conversation of that id, or the latest of a project; null when there is none.
   * Rejects with STORE_UNAVAILABLE when the store cannot tell.
   */
  async look(which: ConversationQuestion): Promise<Omit<KeptConversation, 'history'> | null> {
    try {
      if ('conversationId' in which) {
        return await this.#ask((store) => store.load(which.conversationId));
      }
      const [latest] = await this.#ask((store) => store.list({ ...which, limit: 1 }));
      return latest ?? null;
    } catch (error) {
      this.#options.health.tell(error);
      throw error;
    }
  }

  /** The conversation whose turn left this write session open. */
  async ofSession(sessionId: string): Promise<Omit<KeptConversation, 'history'> | null> {
    const belongs = (one: { readonly openSessionId: string | null }): boolean =>
      one.openSessionId === sessionId;
    const unsaved = [...this.#unsaved.values()].find(belongs);
    if (unsaved !== undefined) return unsaved;
    try {
      const listed = await this.#ask((store) => store.list({ limit: LOOKED_THROUGH }));
      return listed.find(belongs) ?? null;
    } catch (error) {
      this.#options.health.tell(error);
      return null;
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

  async #ask<T>(question: (store: ConversationStore) => Promise<T>): Promise<T> {
    const { store, clock } = this.#options;
    const answer = question(store);
    if (await endsWithin(clock, LOAD_WAIT_MS, answer)) return answer;
    throw new OrionError({
      code: 'STORE_UNAVAILABLE',
      message: 'The store does not answer',
      retryable: true,
    });
  }

  async #whole(conversation: KeptConversation): Promise<KeptConversation> {
    const { conversationId, history } = conversation;
    const known = this.#unread.get(conversationId) ?? null;
    const before = known ?? (await this.#options.store.load(conversationId))?.history ?? [];
    this.#unread.set(conversationId, before);
    return { ...conversation, history: [...before, ...history] };
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
        const whole = this.#unread.has(next.conversationId) ? await this.#whole(next) : next;
        await this.#options.store.save(whole);
        // Meanwhile a newer state may wait.
        if (this.#unsaved.get(next.conversationId) === next) {
          this.#unsaved.delete(next.conversationId);
        }
      } catch (error) {
        failed.add(next);
        this.#options.health.tell(error);
        // What is away for one is away for all.
        if (OrionError.isInstance(error) && error.code === 'STORE_UNAVAILABLE') return;
      }
    }
  }
}

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
 */
export class ConversationKeeper {
  readonly #options: ConversationKeeperOptions;
  /** What is not stored, or not yet. */
  readonly #unsaved = new Map<string, KeptConversation>();
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
    return this.#ask((store) => store.load(conversationId));
  }

  /** The conversation whose turn left this write session open. */
  async ofSession(sessionId: string): Promise<Omit<KeptConversation, 'history'> | null> {
    const belongs = (one: { readonly openSessionId: string | null }): boolean =>
      one.openSessionId === sessionId;
    const unsaved = [...this.#unsaved.values()].find(belongs);
    if (unsaved !== undefined) return unsaved;
    const listed = await this.#ask((store) => store.list({ limit: LOOKED_THROUGH }));
    return listed?.find(belongs) ?? null;
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

  async #ask<T>(question: (store: ConversationStore) => Promise<T>): Promise<T | null> {
    const { store, clock, health } = this.#options;
    let answer: T | null = null;
    const asking = question(store).then(
      (value) => {
        answer = value;
      },
      (error: unknown) => {
        health.tell(error);
      },
    );
    if (!(await endsWithin(clock, LOAD_WAIT_MS, asking))) {
      health.tell(new Error('it does not answer'));
    }
    return answer;
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
        await this.#options.store.save(next);
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

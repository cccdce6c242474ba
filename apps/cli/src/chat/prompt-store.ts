import type { Orion, QueuedPrompt } from '@orion/agent';

import type { Waiting } from './controller.ts';

/** What of prompts outlives this process: those that wait, until they are sent or taken back, and a history. */
export class PromptStore {
  readonly #open: () => Promise<Pick<Orion, 'queuedPrompts' | 'promptHistory'>>;
  /** Ids by the keys of what waits; null where it could not be stored. */
  readonly #ids = new Map<number, Promise<string | null>>();

  #earlier: Promise<readonly QueuedPrompt[]> | null = null;

  constructor(open: () => Promise<Pick<Orion, 'queuedPrompts' | 'promptHistory'>>) {
    this.#open = open;
  }

  /** What waited when an earlier process ended, oldest first. Read before anything of this one is stored. */
  earlier(): Promise<readonly QueuedPrompt[]> {
    this.#earlier ??= this.#open().then(({ queuedPrompts }) => queuedPrompts.list());
    return this.#earlier;
  }

  /** Never rejects: what cannot be stored is sent all the same, if this process lives. */
  store({ key, input }: Waiting, conversationId: string | null): void {
    const prompt = { text: input.typed, conversationId };
    const add = async (): Promise<string> => {
      await this.earlier();
      return (await this.#open()).queuedPrompts.add(prompt);
    };
    this.#ids.set(
      key,
      add().catch(() => null),
    );
  }

  /** Whether it is this process that may send it; called once for what waited. */
  async take({ key, storedId }: Waiting): Promise<boolean> {
    const id = storedId ?? (await this.#ids.get(key)) ?? null;
    this.#ids.delete(key);
    return id === null || (await this.#open()).queuedPrompts.remove(id);
  }

  async remember(prompt: string): Promise<void> {
    await (await this.#open()).promptHistory.add(prompt);
  }

  /** Oldest first. */
  async history(): Promise<readonly string[]> {
    return (await this.#open()).promptHistory.read();
  }
}

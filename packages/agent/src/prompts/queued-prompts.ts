import { isTextOrNull, parseFields } from '@orion/contracts';
import type { WorkspaceTextLists } from '@orion/contracts';

export type QueuedPrompt = {
  readonly id: string;
  readonly text: string;
  /** Null if it begins a new one. */
  readonly conversationId: string | null;
};

/**
 * Prompts that wait for the end of a turn, also of one that a crash ended. They are the user's own: what came with a
 * workspace is not among them.
 */
export type QueuedPrompts = {
  /** Oldest first, without those of other processes that still run. Empty if they cannot be read. */
  list(): Promise<readonly QueuedPrompt[]>;
  /** Its id, once it is durable. Rejects with CONTENT_TOO_LARGE, or if the disk reports an error. */
  add(prompt: Omit<QueuedPrompt, 'id'>): Promise<string>;
  /** True for exactly one caller in all processes: who removes a prompt may send it. */
  remove(id: string): Promise<boolean>;
};

const MAX_QUEUED = 100;
const MAX_PROMPT_BYTES: number = 8 * 1024 * 1024;

export function createQueuedPrompts(workspace: WorkspaceTextLists): QueuedPrompts {
  const list = workspace.textList('queue', {
    maxTexts: MAX_QUEUED,
    maxTextBytes: MAX_PROMPT_BYTES,
  });
  return {
    async list() {
      const texts = await list.read().catch(() => []);
      return texts.flatMap(({ id, text: json, isOfOther }) => {
        if (isOfOther) return [];
        const { text, conversationId } = parseFields(json) ?? {};
        if (typeof text !== 'string' || !isTextOrNull(conversationId)) return [];
        return [{ id, text, conversationId }];
      });
    },
    add: ({ text, conversationId }) => list.add(JSON.stringify({ text, conversationId })),
    remove: (id) => list.remove(id),
  };
}

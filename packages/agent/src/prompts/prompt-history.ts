import type { WorkspaceTextLists } from '@orion/contracts';

/** The prompts of a person in this workspace. No method rejects: what cannot be kept or read is not there. */
export type PromptHistory = {
  /** Oldest first, at most 1,000. */
  read(): Promise<readonly string[]>;
  /** Keeps a prompt; not one that begins with a space, nor the same one twice in a row. Settles when it is durable. */
  add(prompt: string): Promise<void>;
};

const MAX_PROMPTS = 1000;
/** A longer one is not typed again. */
const MAX_PROMPT_BYTES: number = 64 * 1024;

export function createPromptHistory(workspace: WorkspaceTextLists): PromptHistory {
  const list = workspace.textList('history', {
    maxTexts: MAX_PROMPTS,
    maxTextBytes: MAX_PROMPT_BYTES,
  });
  let newest: string | null = null;
  return {
    async read() {
      try {
        return (await list.read()).map(({ text }) => text);
      } catch {
        return [];
      }
    },
    async add(prompt) {
      if (prompt.startsWith(' ') || prompt.trim() === '' || prompt === newest) return;
      newest = prompt;
      await list.add(prompt).catch(() => undefined);
    },
  };
}

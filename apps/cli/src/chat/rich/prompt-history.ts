/** Earlier prompts, and the draft that is put aside while they are looked through. */
export type PromptHistory = {
  /** Keeps it as the newest, unless it begins with a blank or was the newest already. */
  remember(prompt: string): void;
  /** The one before what is shown now; null when there is none. `shown` is what the person has in the editor. */
  previous(shown: string): string | null;
  /** The one after, at last the draft. */
  next(shown: string): string | null;
  /** Newest first, each text once. */
  all(): readonly string[];
  /** Puts older ones, oldest first, before those that are there. */
  addOlder(prompts: readonly string[]): void;
};

export function createPromptHistory(): PromptHistory {
  let prompts: string[] = [];
  /** While one is shown: which, counted from the newest, and the draft. */
  let looking: { readonly age: number; readonly draft: string } | null = null;

  /** What was edited since it was shown is a draft of its own. */
  function lookingAt(shown: string): { readonly age: number; readonly draft: string } {
    const isStill = looking !== null && prompts.at(-1 - looking.age) === shown;
    return isStill && looking !== null ? looking : { age: -1, draft: shown };
  }

  function show(age: number, draft: string): string | null {
    if (age < 0) {
      looking = null;
      return draft;
    }
    const prompt = prompts.at(-1 - age);
    if (prompt === undefined) return null;
    looking = { age, draft };
    return prompt;
  }

  return {
    remember(prompt) {
      if (prompt.trim() === '' || prompt.startsWith(' ') || prompts.at(-1) === prompt) return;
      prompts.push(prompt);
    },
    previous(shown) {
      const { age, draft } = lookingAt(shown);
      return show(age + 1, draft);
    },
    next(shown) {
      const { age, draft } = lookingAt(shown);
      return age === -1 ? null : show(age - 1, draft);
    },
    all: () => [...new Set(prompts.toReversed())],
    addOlder(older) {
      prompts = [...older, ...prompts];
    },
  };
}

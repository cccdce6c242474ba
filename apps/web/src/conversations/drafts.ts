/** What was typed and is not confirmed: it outlives a reload and a server that is gone. One for each conversation. */
export type Draft = {
  readonly content: string;
  /** Names the attempt to send it: sent again, it begins no second turn. */
  readonly key: string;
};

const PREFIX = 'orion-draft ';

export function draftOf(conversationId: string): Draft {
  const text = sessionStorage.getItem(`${PREFIX}${conversationId}`);
  return text === null ? newDraft('') : (JSON.parse(text) as Draft);
}

export function keepDraft(conversationId: string, draft: Draft): void {
  if (draft.content === '') sessionStorage.removeItem(`${PREFIX}${conversationId}`);
  else sessionStorage.setItem(`${PREFIX}${conversationId}`, JSON.stringify(draft));
}

/** Another text is another attempt. */
export function newDraft(content: string): Draft {
  return { content, key: crypto.randomUUID() };
}

import type { Mode } from '@orion/contracts';
import { useMemo, useSyncExternalStore } from 'react';

/**
 * What was typed and is not confirmed, and the mode that was chosen for it: it outlives a reload, the view that shows it,
 * and a server that is gone. One for each conversation.
 */
export type Draft = {
  readonly content: string;
  readonly mode: Mode;
  /** Names the attempt to send it: sent again, it begins no second turn. */
  readonly key: string;
  /** Where the conversation ended, as far as was known, when it was first sent; null before that. */
  readonly sentAt: number | null;
};

const PREFIX = 'orion-draft ';
const EMPTY: Draft = { content: '', mode: 'act', key: '', sentAt: null };
const listeners = new Set<() => void>();

export function useDraft(conversationId: string): Draft {
  const stored = useSyncExternalStore(subscribe, () => storedDraft(conversationId));
  return useMemo(() => draftOf(stored), [stored]);
}

/** Another text, or another mode, is another attempt. */
export function changeDraft(
  conversationId: string,
  change: Partial<Pick<Draft, 'content' | 'mode'>>,
): void {
  const before = draftOf(storedDraft(conversationId));
  keepDraft(conversationId, { ...before, ...change, key: crypto.randomUUID(), sentAt: null });
}

export function keepDraft(conversationId: string, draft: Draft): void {
  const name = `${PREFIX}${conversationId}`;
  if (draft.content === '' && draft.mode === EMPTY.mode) sessionStorage.removeItem(name);
  else sessionStorage.setItem(name, JSON.stringify(draft));
  for (const changed of listeners) changed();
}

/** Its text has begun a turn; what was typed meanwhile has not, and stays. */
export function confirmDraft(conversationId: string, { content }: Draft): void {
  const { content: now } = draftOf(storedDraft(conversationId));
  if (now === content) changeDraft(conversationId, { content: '' });
}

function storedDraft(conversationId: string): string | null {
  return sessionStorage.getItem(`${PREFIX}${conversationId}`);
}

function draftOf(stored: string | null): Draft {
  return stored === null ? EMPTY : { ...EMPTY, ...(JSON.parse(stored) as Partial<Draft>) };
}

function subscribe(changed: () => void): () => void {
  listeners.add(changed);
  return () => listeners.delete(changed);
}

import type { Mode } from '@orion/contracts';
import { useState } from 'react';
import type { ReactNode } from 'react';

import { useServices } from '../api/context.tsx';
import { Problem } from '../ui/states.tsx';
import { draftOf, keepDraft, newDraft } from './drafts.ts';
import type { Draft } from './drafts.ts';

export type SentTurn = { readonly turnId: string; readonly content: string };

/** Where a message is written. It stays until the server has confirmed the turn. */
export function Composer({
  conversationId,
  isBusy,
  sent,
}: {
  readonly conversationId: string;
  readonly isBusy: boolean;
  readonly sent: (turn: SentTurn) => void;
}): ReactNode {
  const { api } = useServices();
  const [draft, setDraft] = useState(() => draftOf(conversationId));
  const [mode, setMode] = useState<Mode>('act');
  const [isSending, setSending] = useState(false);
  const [problem, setProblem] = useState<Error | null>(null);
  const change = (next: Draft): void => {
    keepDraft(conversationId, next);
    setDraft(next);
  };
  const send = async (): Promise<void> => {
    const { content, key } = draft;
    if (isSending || isBusy || content.trim() === '') return;
    setSending(true);
    setProblem(null);
    try {
      const body = { content, mode, conversationId };
      const { turnId } = await api.call<{ readonly turnId: string }>('/api/chat/messages', {
        method: 'POST',
        body,
        key: `${key}-${mode}`,
      });
      change(newDraft(''));
      sent({ turnId, content });
    } catch (error) {
      setProblem(error as Error);
    } finally {
      setSending(false);
    }
  };
  return (
    <form
      className="composer"
      onSubmit={(event) => {
        event.preventDefault();
        void send();
      }}
    >
      {problem !== null && <Problem error={problem} />}
      <label>
        Message
        <textarea
          rows={3}
          value={draft.content}
          dir="auto"
          onChange={(event) => change(newDraft(event.target.value))}
          onKeyDown={(event) => {
            if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
            event.preventDefault();
            void send();
          }}
        />
      </label>
      <div className="actions">
        <fieldset className="modes">
          <legend>Mode</legend>
          {(['plan', 'act'] as const).map((name) => (
            <label key={name}>
              <input
                type="radio"
                name="mode"
                checked={mode === name}
                onChange={() => setMode(name)}
              />
              {name === 'plan' ? 'Plan: change nothing' : 'Act'}
            </label>
          ))}
        </fieldset>
        <button type="submit" className="strong" disabled={isSending || isBusy}>
          {isBusy ? 'A turn is running' : 'Send'}
        </button>
        <span className="faint">Ctrl+Enter or ⌘+Enter</span>
      </div>
    </form>
  );
}

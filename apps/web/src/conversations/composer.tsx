import { useState } from 'react';
import type { ReactNode } from 'react';

import { useServices } from '../api/context.tsx';
import { useIsRunning } from '../turn/use-turn.ts';
import { Problem } from '../ui/states.tsx';
import { changeDraft, confirmDraft, keepDraft, useDraft } from './drafts.ts';
import type { SentTurn } from './stored-part.ts';

/** Where a message is written. It stays until the server has confirmed the turn. */
export function Composer({
  conversationId,
  lastTurnId,
  end,
  sent,
}: {
  readonly conversationId: string;
  /** No other turn begins while this one runs; null if there is none. */
  readonly lastTurnId: string | null;
  /** Where the conversation ends, as far as is known. */
  readonly end: number;
  readonly sent: (turn: SentTurn) => void;
}): ReactNode {
  const { api } = useServices();
  const draft = useDraft(conversationId);
  const isBusy = useIsRunning(lastTurnId);
  const [isSending, setSending] = useState(false);
  const [problem, setProblem] = useState<Error | null>(null);
  const send = async (): Promise<void> => {
    const { content, mode, key, sentAt } = draft;
    if (isSending || isBusy || content.trim() === '') return;
    setSending(true);
    setProblem(null);
    // From here on it may have begun a turn, whatever becomes of the answer.
    keepDraft(conversationId, { ...draft, sentAt: sentAt ?? end });
    try {
      const body = { content, mode, conversationId };
      const { turnId } = await api.call<{ readonly turnId: string }>('/api/chat/messages', {
        method: 'POST',
        body,
        key,
      });
      confirmDraft(conversationId, draft);
      sent({ turnId, content, after: sentAt ?? end, isRepeated: sentAt !== null });
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
          onChange={(event) => changeDraft(conversationId, { content: event.target.value })}
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
                checked={draft.mode === name}
                onChange={() => changeDraft(conversationId, { mode: name })}
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

import { costOf, type Price } from '@orion/agent';
import type { PausedSession, RunEvent, Usage } from '@orion/contracts';

import { followProgress, toolProgressLine, type Progress } from '../rendering/progress.ts';

/** What the turns of this run of the command have told, as far as it is shown or decides how it ends. */
export type ChatFacts = {
  /** The conversation that the next turn continues; null: a new one. */
  readonly conversationId: string | null;
  /** The file that is being written. */
  readonly progress: Progress | null;
  /** What the running tool says that it is doing. */
  readonly toolProgress: string | null;
  /** Whether a file is being changed now. */
  readonly committing: boolean;
  /** Tokens of the latest request with its answer; null before the first. */
  readonly contextTokens: number | null;
  readonly usage: Usage;
  /** In US dollars, as far as it is known; null: nothing is known of it. */
  readonly cost: number | null;
  readonly kept: { readonly files: number; readonly bytes: number };
  /** Sessions that turns of this run have left unfinished. */
  readonly unfinished: readonly string[];
  /** The session that was paused last. */
  readonly paused: PausedSession | null;
  /** Backups of what its turns changed in this run of the command. */
  readonly backups: readonly string[];
  /** What the model said in the latest turn that said something. */
  readonly lastAnswer: string;
};

export const NO_FACTS: ChatFacts = {
  conversationId: null,
  progress: null,
  toolProgress: null,
  committing: false,
  contextTokens: null,
  usage: { inputTokens: 0, outputTokens: 0, cachedTokens: 0, reasoningTokens: 0 },
  cost: null,
  kept: { files: 0, bytes: 0 },
  unfinished: [],
  paused: null,
  backups: [],
  lastAnswer: '',
};

/** `now` grows in milliseconds; `price` is that of the model. */
export function addToFacts(
  facts: ChatFacts,
  event: RunEvent,
  now: number,
  price?: Price,
): ChatFacts {
  const progress = followProgress(facts.progress, event, now);
  const next =
    progress === facts.progress && event.conversationId === facts.conversationId
      ? facts
      : { ...facts, progress, conversationId: event.conversationId };
  switch (event.type) {
    case 'write_session': {
      const { sessionId, status, receipt, paused = facts.paused } = event;
      const others = facts.unfinished.filter((id) => id !== sessionId);
      const isOver = status === 'done' || status === 'aborted';
      const { files, bytes } = facts.kept;
      return {
        ...next,
        paused,
        backups:
          receipt?.backup_id === undefined ? facts.backups : [...facts.backups, receipt.backup_id],
        committing: status === 'session_active.finalizing',
        unfinished: isOver ? others : [...others, sessionId],
        kept:
          receipt === undefined ? facts.kept : { files: files + 1, bytes: bytes + receipt.bytes },
      };
    }
    case 'tool_progress':
      return { ...next, toolProgress: toolProgressLine(event) };
    case 'tool_result':
      return { ...next, toolProgress: null };
    case 'usage': {
      const cost = costOf(event, price);
      return {
        ...next,
        cost: cost === null ? facts.cost : (facts.cost ?? 0) + cost,
        contextTokens: event.inputTokens + event.outputTokens,
        usage: {
          inputTokens: facts.usage.inputTokens + event.inputTokens,
          outputTokens: facts.usage.outputTokens + event.outputTokens,
          cachedTokens: facts.usage.cachedTokens + event.cachedTokens,
          reasoningTokens: facts.usage.reasoningTokens + event.reasoningTokens,
        },
      };
    }
    case 'done':
      return {
        ...next,
        progress: null,
        toolProgress: null,
        committing: false,
        lastAnswer: event.fullContent.trim() === '' ? facts.lastAnswer : event.fullContent,
      };
    default:
      return next;
  }
}

/** Another conversation goes on. */
export function inConversation(facts: ChatFacts, conversationId: string | null): ChatFacts {
  return { ...facts, conversationId, contextTokens: null, backups: [], lastAnswer: '' };
}

/** The session was put aside or finished by other means. */
export function withoutSession(facts: ChatFacts, sessionId: string): ChatFacts {
  return { ...facts, unfinished: facts.unfinished.filter((id) => id !== sessionId) };
}

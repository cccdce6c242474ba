import { defined } from '@orion/contracts';
import type { Clock, ErrorCode, RunEventBody, SaveResult } from '@orion/contracts';
import { isOpen, stateNameOf } from '@orion/core';
import type { PromptReason, WriteSession } from '@orion/core';

import { promptNotice } from './prompt-notice.ts';
import type { SessionEnd } from './session-end.ts';
import { linesOf, sessionEvent } from './session-event.ts';
import type { SessionEvent } from './session-event.ts';
import type { SessionDriverOptions } from './session-run.ts';

/** The least time between two `saved` traces, in milliseconds. */
const SAVED_TRACE_MS = 5000;

/** What is in memory for so many looks is held up: the disk does not take it, whether text goes on coming or not. */
const IDLE_LOOKS = 4;

/** Prompts whose trace the session makes itself, or that the stream's own events explain. */
const UNTRACED: ReadonlySet<PromptReason> = new Set<PromptReason>([
  'continuation',
  'ask_again',
  'corrections',
]);

export type SessionReportOptions = Pick<
  SessionDriverOptions,
  'handle' | 'clock' | 'trace' | 'projectId' | 'requestId'
>;

type Marks = {
  readonly savedBytes: number;
  readonly durableBytes: number;
  /** Some of the text is in memory only. */
  readonly isBehind: boolean;
};

/**
 * What one session reports: events, until `drain` takes them, and traces. A status is reported once, a failing disk
 * once until it works again.
 */
export class SessionReport {
  readonly #options: SessionReportOptions;
  readonly #durableBytes: () => number;
  readonly #events: RunEventBody[] = [];
  readonly #isSavedTraceDue: () => boolean;
  /** The last watermarks that a reader of the events has, and the size of the text at the last look. */
  #reported: Marks = { savedBytes: 0, durableBytes: 0, isBehind: false };
  #lookedAt = 0;
  /** So many looks have found the same text saved, while there is more of it. */
  #idleLooks = 0;
  #lastSaved = 0;
  #isRecovered = false;
  #status: string | null = null;
  #seams: number | null = null;
  #saysMemoryOnly = false;

  constructor(options: SessionReportOptions, durableBytes: () => number) {
    this.#options = options;
    this.#durableBytes = durableBytes;
    this.#isSavedTraceDue = every(SAVED_TRACE_MS, options.clock);
  }

  *drain(): Generator<RunEventBody, void> {
    for (let event = this.#events.shift(); event !== undefined; event = this.#events.shift())
      yield event;
  }

  event(event: RunEventBody): void {
    if (event.type === 'write_chunk') {
      const { durableBytes = 0 } = event;
      this.#reported = { ...this.#reported, durableBytes };
    }
    this.#events.push(event);
  }

  notice(message: string): void {
    this.event({ type: 'chunk', content: `${message}\n`, source: 'notice' });
  }

  trace(type: string, details: { readonly [key: string]: string | number | boolean | null }): void {
    const { trace, handle, projectId, requestId } = this.#options;
    trace.record({
      type: `write_session_${type}`,
      source: 'write-session',
      projectId,
      requestId,
      sessionId: handle.id,
      details,
    });
  }

  /** A prompt to the model. */
  asked(reason: PromptReason, session: WriteSession): void {
    if (!UNTRACED.has(reason)) {
      const isIdle = reason === 'idle' || reason === 'question';
      this.trace(isIdle ? 'idle_prompt' : 'prompt', { reason });
    }
    this.notice(promptNotice(reason, session));
  }

  /** Another process, or an earlier turn, has left the session: each of its states says so from here on. */
  recovered(): void {
    this.#isRecovered = true;
  }

  /** A change of the status, or text that was joined. The final statuses carry more; `end` reports them. */
  status(session: WriteSession): void {
    const name = stateNameOf(session.control);
    const known = this.#seams ?? session.seams.length;
    const seam = session.seams.length > known ? session.seams.at(-1) : undefined;
    this.#seams = session.seams.length;
    if (name === this.#status && seam === undefined) return;
    this.#status = name;
    if (isOpen(session.control)) this.event({ ...this.#state(session), ...defined({ seam }) });
  }

  /** Without this last word a reader of the events would take the session for open. */
  end(session: WriteSession, { said }: SessionEnd): void {
    if (said !== null) this.event({ ...this.#state(session), ...said });
  }

  #state(session: WriteSession): SessionEvent {
    const recovered = this.#isRecovered ? { recovered: true as const } : {};
    return { ...sessionEvent(session, this.#durableBytes()), ...recovered };
  }

  saved({ persistence, durableBytes }: SaveResult): void {
    if (persistence === 'disk') this.#saysMemoryOnly = false;
    if (this.#isSavedTraceDue()) this.trace('saved', { bytes: durableBytes });
  }

  /** What is safe of the text, where that has changed since the last look without new text, and where it is held up. */
  progress(
    { summary }: WriteSession,
    more: 'may come' | 'no more text' = 'may come',
  ): 'reported' | 'known' | 'all safe' {
    const { handle } = this.#options;
    const receivedBytes = summary.bytes;
    const savedBytes = Math.min(handle.savedBytes(), receivedBytes);
    const durableBytes = Math.min(this.#durableBytes(), savedBytes);
    const hasText = more === 'may come' && this.#lookedAt !== receivedBytes;
    this.#lookedAt = receivedBytes;
    const isBehind = savedBytes < receivedBytes;
    this.#idleLooks = isBehind && savedBytes === this.#lastSaved ? this.#idleLooks + 1 : 0;
    this.#lastSaved = savedBytes;
    if (hasText && this.#idleLooks < IDLE_LOOKS) return 'known';
    const marksNow = { savedBytes, durableBytes, isBehind };
    if (isSame(marksNow, this.#reported))
      return durableBytes === receivedBytes ? 'all safe' : 'known';
    this.#reported = marksNow;
    const marks = { receivedBytes, savedBytes, durableBytes, lines: linesOf(summary) };
    this.event({ type: 'write_progress', sessionId: handle.id, ...marks });
    return 'reported';
  }

  saveFailed(code: ErrorCode, message: string): void {
    if (!this.#saysMemoryOnly) {
      this.#saysMemoryOnly = true;
      this.notice(
        `The session cannot be saved (${code}: ${message}). It continues in memory only, where its size is not limited; a crash would lose it.`,
      );
    }
    this.trace('save_failed', { code });
  }
}

function isSame(one: Marks, other: Marks): boolean {
  return (
    one.savedBytes === other.savedBytes &&
    one.durableBytes === other.durableBytes &&
    one.isBehind === other.isBehind
  );
}

/** True for the first call, and for the next one that comes so long after the last that was answered so. */
function every(milliseconds: number, clock: Clock): () => boolean {
  let last = Number.NEGATIVE_INFINITY;
  return () => {
    const now = clock.monotonic();
    if (now - last < milliseconds) return false;
    last = now;
    return true;
  };
}

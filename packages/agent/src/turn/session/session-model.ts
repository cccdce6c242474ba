import type { ErrorInfo, ProtocolEvent, ProtocolOutcome } from '@orion/contracts';
import type { MessageEnd, SessionInput } from '@orion/core';

import { contentMessages } from '../../context/content-messages.ts';
import type { Mailbox } from '../mailbox.ts';
import type { SessionDriverOptions } from './session-run.ts';

/** What the session driver waits for: something happened elsewhere, or the message it reads has gone on. */
export type Arrival =
  | { readonly kind: 'wake' }
  /** `message` distinguishes late events of an abandoned message from those of the next. */
  | {
      readonly kind: 'event';
      readonly message: symbol;
      readonly result: IteratorResult<ProtocolEvent>;
    }
  | { readonly kind: 'failed'; readonly message: symbol; readonly error: unknown };

/** What a message that the provider refused is to a session: what came of it may be the refusal itself. */
const REFUSED: ErrorInfo = {
  code: 'MODEL_REFUSED',
  message: 'The model or its provider refused to go on; the end of the saved text may be its words',
  retryable: false,
};

export type SessionModel = {
  /** What the next message is a reply to, and those that repeat it; `opening`: how it has to begin, if that is known. */
  ask(prompt: string, opening: string | null): void;
  /**
   * The next message: the input that its session needs first, then its events, and null whenever something else has
   * happened. `lines`: of the content so far.
   */
  next(lines: number): Promise<{
    readonly started: SessionInput;
    readonly events: AsyncGenerator<ProtocolEvent | null, void>;
  }>;
};

/** The model, as a session asks it: each message is a reply to all that is saved. */
export function sessionModel(
  { content, context, base, handle, contextLimit: limit }: SessionDriverOptions,
  mailbox: Mailbox<Arrival>,
): SessionModel {
  let prompt: string | null = null;
  let opening: string | null = null;
  return {
    ask(...given) {
      [prompt, opening] = given;
    },
    async next(lines) {
      if (context === null) throw new Error('a model was asked although none was given');
      const { limits, writesThinkTags: thinkTags = false } = context.adapter;
      // Never white space at its end, which providers refuse.
      const prefill = limits?.prefill === true ? (opening?.trimEnd() ?? '') : '';
      const messages = await contentMessages({ base, handle, prompt, prefill, limit, lines });
      const open = (leave: AbortSignal): AsyncIterable<ProtocolEvent> => {
        const signal = AbortSignal.any([context.signal, leave]);
        return content.executeStreaming({ ...context, messages, signal });
      };
      return {
        started: { type: 'message_started', prefilled: prefill !== '', thinkTags },
        events: messageEvents(open, mailbox, prefill),
      };
    },
  };
}

/**
 * One message of the model while it arrives: its events, and null whenever something else has happened. Returning
 * early closes it, whether it has ended or not: a stalled one would never answer a `return` without its signal.
 */
export async function* messageEvents(
  open: (leave: AbortSignal) => AsyncIterable<ProtocolEvent>,
  mailbox: Mailbox<Arrival>,
  prefill: string,
): AsyncGenerator<ProtocolEvent | null, void> {
  const message = Symbol('message');
  let given = prefill;
  const leave = new AbortController();
  const events = open(leave.signal)[Symbol.asyncIterator]();
  const request = (): void => {
    events.next().then(
      (result) => mailbox.push({ kind: 'event', message, result }),
      (error: unknown) => mailbox.push({ kind: 'failed', message, error }),
    );
  };
  try {
    request();
    for (;;) {
      const item = await mailbox.take();
      if (item.kind === 'wake') {
        yield null;
      } else if (item.message === message) {
        if (item.kind === 'failed') throw item.error;
        if (item.result.done === true) return;
        const event = item.result.value;
        if (event.type === 'chunk') {
          // Only a model that answers has said the words that were given to it.
          yield given === '' ? event : { ...event, content: `${given}${event.content}` };
          given = '';
        } else yield event;
        request();
      }
    }
  } finally {
    leave.abort();
    await events.return?.();
  }
}

/** How a message ended, for its session; null: it was called off. */
export function messageEndOf(outcome: ProtocolOutcome): MessageEnd | null {
  switch (outcome.kind) {
    case 'message_end':
      if (outcome.finish === 'refusal') return { kind: 'error', ...REFUSED };
      return { kind: outcome.finish === 'length' ? 'length' : 'stop' };
    case 'error': {
      const { code, message, retryable } = outcome.error;
      return { kind: 'error', code, message, retryable };
    }
    case 'aborted':
      return null;
    case 'complete':
    case 'incomplete':
    case 'stopped':
    case 'handover':
      throw new Error(`the content stage ended with ${outcome.kind}`);
    default:
      return outcome satisfies never;
  }
}

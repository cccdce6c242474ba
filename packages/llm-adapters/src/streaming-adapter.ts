import { sleep } from '@orion/contracts';
import type {
  Clock,
  ErrorInfo,
  Fields,
  LlmAdapter,
  LlmEvent,
  Message,
  Redact,
  SendOptions,
  ToolNames,
} from '@orion/contracts';

import type { CheckedOptions } from './adapter-options.ts';
import { withinContext } from './answer-room.ts';
import { toolNamesOf } from './conversation.ts';
import { missesReasoning, withReasoning } from './historic-reasoning.ts';
import { missesTools, withTools } from './historic-tools.ts';
import {
  askedWait,
  classifyConnectionFailure,
  classifyFailure,
  providerError,
  readHttpFailure,
} from './provider-error.ts';
import { readRefusal, withoutRefused } from './refused-parameters.ts';
import type { OptionalParameters, Remedy } from './refused-parameters.ts';
import { isWorthRetrying, readRetryAfter, retryWait } from './retry.ts';
import type { Body } from './stream/body.ts';
import { createAnswerDecoder } from './stream/answer-decoder.ts';
import type { AnswerDecoder } from './stream/answer-decoder.ts';
import type { MessageEvents } from './stream/message-events.ts';
import type { WireFormat } from './stream/payloads.ts';
import { HttpFailure } from './stream/post-json.ts';
import { createSilenceWatch } from './stream/silence-watch.ts';
import { refusesRoles, strictRoles } from './strict-roles.ts';

/** What is specific to a provider: its requests, and the meaning of its payloads. */
export type Provider<RequestBody extends object> = {
  readonly name: string;
  readonly writesThinkTags: boolean;
  readonly buildRequest: (messages: readonly Message[], options: SendOptions) => RequestBody;
  /** Sends the request, as `postJson` does; rejects with `HttpFailure` for any status but 2xx. */
  readonly post: (body: RequestBody, signal: AbortSignal) => Promise<Body>;
  readonly createFormat: (message: MessageEvents) => WireFormat;
  readonly optional: OptionalParameters;
};

/** How long a server may take to close an answer after its end mark, before the connection is closed. */
const CLOSE_GRACE_MS = 1000;

type Failure = { readonly error: ErrorInfo; readonly retryAfterMs?: number | undefined };
/** `limit`: of output tokens, as it was sent. */
type Outcome = { readonly body: Body; readonly limit: number | undefined } | Failure;

/** The names that the limit of an answer has in the formats. */
const LIMITS = ['max_tokens', 'max_completion_tokens', 'max_output_tokens'] as const;

/**
 * A provider as a stream of events: everything that does not depend on the wire format.
 *
 * 1. The provider builds and sends a request; the body of its answer is decoded here.
 * 2. Every failure is one final `error` event; nothing is thrown.
 * 3. The connection is closed if the iteration ends early or the signal aborts; what had arrived by then is still passed
 *    on. After an orderly end it is kept for the next request.
 * 4. A parameter that the server refuses is omitted, once per parameter, in this and all later requests.
 * 5. A server that refuses calls in a conversation without tools gets stubs of them, in this and all later requests; one
 *    that refuses messages without reasoning gets a blank where there is none.
 * 6. A request is retried only while nothing of its answer has been passed on: a second answer could differ.
 * 7. A server that stops sending is abandoned after a while, and after a longer one if it sends only keep-alives; what it
 *    sent is kept. Only time in which its bytes are awaited counts.
 * 8. A server that refuses the order of roles gets the strict one, in this and all later requests.
 * 9. The limit of an answer leaves room for the request in the model's context.
 */
export function createStreamingAdapter<RequestBody extends object>(
  provider: Provider<RequestBody>,
  settings: CheckedOptions,
): LlmAdapter {
  const { address, redact, clock, retry } = settings;
  const refusals = new Map<string, Remedy>();
  const owner = { adapter: provider.name, model: settings.model };
  let needsTools = false;
  let needsReasoning = false;
  let needsStrictRoles = false;

  async function request(
    messages: readonly Message[],
    options: SendOptions,
    signal: AbortSignal,
  ): Promise<Outcome> {
    const bounded = withinContext(messages, options, settings);
    for (;;) {
      const built = provider.buildRequest(messages, bounded);
      const body = withoutRefused(built, refusals, provider.optional);
      try {
        return { body: await provider.post(body, signal), limit: limitOf(body) };
      } catch (error) {
        if (signal.aborted) return { error: aborted() };
        if (!(error instanceof HttpFailure))
          return { error: classifyConnectionFailure(error, address, redact) };
        const failure = readHttpFailure(error);
        // It names a parameter of this body, and no body contains one that was refused before: this ends.
        const refusal = readRefusal(failure, body, provider.optional);
        if (refusal === undefined) {
          return {
            error: classifyFailure(failure, redact),
            retryAfterMs: readRetryAfter(error.headers, clock.now()) ?? askedWait(failure),
          };
        }
        refusals.set(refusal.parameter, refusal.remedy);
      }
    }
  }

  /** The events of one answer, read by read; the last batch contains the final event. */
  async function* receive(
    body: Body,
    answer: AnswerDecoder,
    controller: AbortController,
  ): AsyncGenerator<readonly LlmEvent[], void, undefined> {
    const { message } = answer;
    let isSilent = false;
    const watch = createSilenceWatch(clock, () => {
      isSilent = true;
      controller.abort();
    });
    let limit = settings.firstEventMs;
    let eventlessMs = 0;
    try {
      while (!message.ended) {
        const since = clock.monotonic();
        const left = Math.max(0, settings.eventlessMs - eventlessMs);
        watch.waiting(Math.min(limit, left));
        const arrival = await body.read();
        watch.arrived();
        eventlessMs += clock.monotonic() - since;
        // What arrived before an abort is part of the answer; a reader may have been slower than the network.
        if (arrival.kind === 'bytes') answer.feed(arrival.bytes);
        if (isSilent) {
          message.fail(
            left < limit
              ? stalled(`${address} has sent only keep-alives`, settings.eventlessMs)
              : stalled(`${address} has sent nothing`, limit),
          );
        } else if (controller.signal.aborted) message.fail(aborted());
        else if (arrival.kind === 'error')
          message.fail(classifyBreak(arrival.error, address, redact));
        else if (arrival.kind === 'end') answer.end();
        const events = answer.take();
        if (events.length === 0) continue;
        limit = settings.silenceMs;
        eventlessMs = 0;
        yield events;
      }
    } finally {
      watch.stop();
    }
  }

  async function* send(
    messages: readonly Message[],
    options: SendOptions,
  ): AsyncGenerator<LlmEvent, void, undefined> {
    const cancel = new AbortController();
    const onAbort = (): void => cancel.abort();
    if (options.signal?.aborted === true) {
      yield { type: 'error', error: aborted() };
      return;
    }
    options.signal?.addEventListener('abort', onAbort, { once: true });
    const { wait = (begin) => begin() } = options;
    try {
      let offersTools = needsTools;
      let addsReasoning = needsReasoning;
      let isStrict = needsStrictRoles;
      for (let attempt = 0; ; attempt += 1) {
        const said = addsReasoning ? withReasoning(messages, owner) : messages;
        const sent = offersTools ? withTools(messages, options) : options;
        const conversation = isStrict ? strictRoles(said) : said;
        const failure = yield* attemptOnce(conversation, sent, cancel.signal);
        if (failure === undefined) {
          needsTools ||= offersTools;
          needsReasoning ||= addsReasoning;
          needsStrictRoles ||= isStrict;
          return;
        }
        const { error, retryAfterMs } = failure;
        if (!offersTools && missesTools(error, messages, options)) {
          offersTools = true;
          continue;
        }
        if (!addsReasoning && missesReasoning(error, messages, owner)) {
          addsReasoning = true;
          continue;
        }
        if (!isStrict && refusesRoles(error)) {
          isStrict = true;
          continue;
        }
        if (attempt >= retry.retries || !isWorthRetrying(error)) {
          yield { type: 'error', error };
          return;
        }
        const waitMs = retryWait(retry, attempt, retryAfterMs, settings.random);
        settings.onRetry?.({ waitMs, code: error.code });
        await wait(() => sleep(clock, waitMs, cancel.signal));
        if (cancel.signal.aborted) {
          yield { type: 'error', error: aborted() };
          return;
        }
      }
    } finally {
      options.signal?.removeEventListener('abort', onAbort);
      cancel.abort();
    }
  }

  /** One request. Returns its failure if nothing was passed on before it; otherwise undefined, once it is over. */
  async function* attemptOnce(
    messages: readonly Message[],
    options: SendOptions,
    cancel: AbortSignal,
  ): AsyncGenerator<LlmEvent, Failure | undefined, undefined> {
    const controller = new AbortController();
    const names = toolNamesOf(options);
    const onCancel = (): void => controller.abort();
    if (cancel.aborted) controller.abort();
    cancel.addEventListener('abort', onCancel, { once: true });
    let ended = false;
    try {
      const outcome = await request(messages, options, controller.signal);
      if ('error' in outcome) return outcome;
      const { body, limit } = outcome;
      const answer = createAnswerDecoder(provider.createFormat, redact, {
        verbatim: options.verbatim ?? false,
        limit,
        ...owner,
      });
      let begun = false;
      for await (const events of receive(body, answer, controller)) {
        const last = events.at(-1);
        if (last?.type === 'error' && !begun && events.every(isLastWord))
          return { error: last.error, retryAfterMs: answer.message.askedWaitMs };
        begun = true;
        if (last?.type === 'finish') {
          ended = true;
          // An abort while the last events are read has nothing left to cancel.
          cancel.removeEventListener('abort', onCancel);
          leaveOpen(body, controller, clock);
        }
        for (const event of events) yield names.differ ? named(event, names) : event;
      }
      return undefined;
    } finally {
      cancel.removeEventListener('abort', onCancel);
      if (!ended) controller.abort();
    }
  }

  return {
    name: provider.name,
    model: settings.model,
    limits: settings.limits,
    signalsMessageEnd: true,
    structuredOutput: true,
    writesThinkTags: provider.writesThinkTags,
    sendMessagesStreaming: send,
  };
}

/** With Orion's name of a tool in place of the provider's (R280). */
function named(event: LlmEvent, names: ToolNames): LlmEvent {
  switch (event.type) {
    case 'tool-call-start':
      return { ...event, name: names.fromWire(event.name) };
    case 'tool-call-end':
      return { ...event, call: { ...event.call, name: names.fromWire(event.call.name) } };
    default:
      return event;
  }
}

function limitOf(body: object): number | undefined {
  const fields = body as Fields;
  return LIMITS.map((name) => fields[name]).find((value) => typeof value === 'number');
}

/** Not part of the answer itself. */
function isLastWord(event: LlmEvent): boolean {
  return event.type === 'error' || event.type === 'usage';
}

/** After the head of an answer, every failure of the connection is a break, whatever its cause. */
function classifyBreak(error: unknown, address: string, redact: Redact): ErrorInfo {
  const known = classifyConnectionFailure(error, address, redact);
  if (known.code === 'STREAM_STALLED') return known;
  return providerError(
    'STREAM_BROKEN',
    `The connection to ${address} broke while it was sending`,
    true,
  );
}

/** Reads the rest of an ended answer, so that its connection can serve the next request. */
function leaveOpen(body: Body, controller: AbortController, clock: Clock): void {
  const cancelTimer = clock.schedule(CLOSE_GRACE_MS, () => controller.abort());
  const drain = async (): Promise<void> => {
    for (;;) {
      if ((await body.read()).kind !== 'bytes') break;
    }
    cancelTimer();
  };
  void drain();
}

function aborted(): ErrorInfo {
  return providerError('ABORTED', 'The request was cancelled', false);
}

function stalled(what: string, milliseconds: number): ErrorInfo {
  return providerError('STREAM_STALLED', `${what} for ${milliseconds / 1000} seconds`, true);
}

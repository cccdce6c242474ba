import { defined, toErrorInfo } from '@orion/contracts';
import type {
  ErrorInfo,
  FinishReason,
  KeptArgument,
  Message,
  ProtocolContext,
  ProtocolEvent,
  ProviderData,
  ResponseFormat,
  ToolCall,
  ToolDefinition,
  TurnStop,
  Usage,
} from '@orion/contracts';
import { allowanceOf } from '../stop-policy/allowance.ts';
import type { CallPurpose } from '../stop-policy/allowance.ts';
import { CallMeter } from '../stop-policy/call-meter.ts';
import { isUsable, sendableMessages, withDistinctIds } from './history.ts';
import type { ProtocolTrace } from './protocol-trace.ts';
import { isAbort, NO_TERMINAL_EVENT } from './stream-errors.ts';

/** The result of one model call. `text` is what arrived, even if the message broke off. */
export type ModelAnswer = {
  readonly text: string;
  /** Whether the text is empty or only white space. */
  readonly isBlank: boolean;
  /**
   * In the order in which they were closed, each with a unique id. After `enough_calls` this includes calls that
   * arrived along with the last requested one, as far as they arrived.
   */
  readonly calls: readonly ToolCall[];
  /** Data that the provider wants back with the message, besides that of its calls. */
  readonly providerData?: ProviderData | undefined;
  /** Where text is kept of a message that is an action. */
  readonly kept?: readonly KeptArgument[] | undefined;
  readonly end:
    | { readonly kind: 'finish'; readonly reason: FinishReason }
    /** Reading stopped because the requested number of calls is complete. */
    | { readonly kind: 'enough_calls' }
    /** Reading stopped at a limit. */
    | { readonly kind: 'cut'; readonly stop: TurnStop }
    | { readonly kind: 'error'; readonly error: ErrorInfo }
    | { readonly kind: 'aborted' };
};

export type ModelRequest = {
  readonly messages: readonly Message[];
  readonly tools: readonly ToolDefinition[];
  readonly purpose: Exclude<CallPurpose, 'content'>;
  readonly responseFormat?: ResponseFormat;
  /** Stops reading and closes the request as soon as this many usable calls are complete. */
  readonly enoughCalls?: number;
  /** Which part of each piece of text the user sees, as it arrives; all of it if left out. */
  readonly show?: (piece: string) => string;
};

/**
 * One model call as an action phase: `phase`, then text and usage as they come (R146). Does not pass reasoning on.
 * Never throws, whatever the adapter does (R158), and stays within the limits of the turn (R169).
 *
 * When enough calls are complete, the request is closed (R148) but the adapter's remaining events are still read: the
 * adapter has read beyond the calls, and knows how many tokens were used, or that the message ended and its
 * connection can be kept.
 */
export async function* callModel(
  context: ProtocolContext,
  signal: AbortSignal,
  trace: ProtocolTrace,
  request: ModelRequest,
): AsyncGenerator<ProtocolEvent, ModelAnswer, undefined> {
  const { adapter, config, requestId, projectId, turnState, clock } = context;
  const { tools, responseFormat, enoughCalls = Number.POSITIVE_INFINITY } = request;
  const { temperature, maxTokens } = config;
  const { show = (piece: string) => piece } = request;
  const phaseIndex = turnState.nextPhaseIndex++;
  yield { type: 'phase', phase: 'action', index: phaseIndex };
  trace.phaseStart('action', phaseIndex);

  const messages = sendableMessages(request.messages);
  trace.llmCall(phaseIndex, messages, tools.length, request.purpose);
  const allowance = allowanceOf(context, request.purpose);
  const meter = new CallMeter(clock, turnState.spent.protocol, allowance, signal);
  let text = '';
  let shown = '';
  let isBlank = true;
  const calls: ToolCall[] = [];
  const open = new Map<number, { readonly id: string; readonly name: string; arguments: string }>();
  let usable = 0;
  let usage: Usage | null = null;
  let providerData: ProviderData | undefined;
  let kept: ModelAnswer['kept'];
  let end: ModelAnswer['end'] | null = null;
  try {
    const stream = adapter.sendMessagesStreaming(messages, {
      signal: meter.signal,
      context: { requestId, projectId },
      ...(tools.length === 0 ? {} : { tools }),
      ...defined({ responseFormat, temperature, max_tokens: maxTokens }),
    });
    for await (const event of stream) {
      const cut = meter.count(event);
      const left = end !== null;
      switch (event.type) {
        case 'text-delta':
          if (left || event.text === '') break;
          text += event.text;
          // Tested piece by piece: testing the whole text would first copy it into one string.
          isBlank &&= !/\S/.test(event.text);
          shown = show(event.text);
          if (shown !== '') yield { type: 'chunk', content: shown, source: 'model' };
          break;
        case 'tool-call-start':
          open.set(event.index, { id: event.id, name: event.name, arguments: '' });
          break;
        case 'tool-call-delta': {
          const call = open.get(event.index);
          if (call !== undefined) call.arguments += event.argumentsDelta;
          break;
        }
        case 'tool-call-end':
          open.delete(event.index);
          calls.push(event.call);
          if (isUsable(event.call)) usable += 1;
          if (left || cut || usable < enoughCalls) break;
          end = { kind: 'enough_calls' };
          meter.leave();
          break;
        case 'usage':
          usage = event.usage;
          yield { type: 'usage', usage: event.usage };
          break;
        case 'finish':
          end ??= { kind: 'finish', reason: event.reason };
          ({ providerData, kept } = event);
          break;
        case 'error':
          end ??= { kind: 'error', error: event.error };
          break;
        case 'reasoning-delta':
          break;
      }
      if (cut || event.type === 'finish' || event.type === 'error') break;
    }
  } catch (error) {
    end ??= { kind: 'error', error: toErrorInfo(error) };
  } finally {
    meter.end();
  }
  end = endOf(end, meter.cut, signal);
  if (end.kind === 'enough_calls') {
    for (const call of open.values()) calls.push({ ...call, state: 'cut' });
  }

  const distinct = withDistinctIds(calls, messages, phaseIndex);
  const finish = end.kind === 'finish' ? end.reason : end.kind;
  trace.llmResult(phaseIndex, { finish, textLength: text.length, calls: distinct, usage });
  if (end.kind === 'error') trace.errorOccurred(phaseIndex, end.error);
  trace.phaseEnd('action', phaseIndex, finish);
  return { text, isBlank, calls: distinct, end, providerData, kept };
}

/** An abort outranks everything. A limit outranks the stream error that its own abort causes. */
function endOf(
  seen: ModelAnswer['end'] | null,
  cut: TurnStop | null,
  signal: AbortSignal,
): ModelAnswer['end'] {
  if (signal.aborted) return { kind: 'aborted' };
  const isWhole = seen?.kind === 'finish' || seen?.kind === 'enough_calls';
  if (cut !== null && !isWhole) return { kind: 'cut', stop: cut };
  if (seen === null) return { kind: 'error', error: NO_TERMINAL_EVENT };
  if (seen.kind === 'error' && isAbort(seen.error, signal)) return { kind: 'aborted' };
  return seen;
}

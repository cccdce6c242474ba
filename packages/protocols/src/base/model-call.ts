import { toErrorInfo } from '@orion/contracts';
import type {
  ErrorInfo,
  FinishReason,
  Message,
  ProtocolContext,
  ProtocolEvent,
  ToolCall,
  ToolDefinition,
  Usage,
} from '@orion/contracts';
import { sendableMessages, withDistinctIds } from './history.ts';
import type { ProtocolTrace } from './protocol-trace.ts';
import { isAbort, NO_TERMINAL_EVENT } from './stream-errors.ts';

/** What one model call came to. `text` is what was forwarded, also when the message broke off. */
export type ModelAnswer = {
  readonly text: string;
  /** In the order in which they were closed, each with an id of its own. */
  readonly calls: readonly ToolCall[];
  readonly end:
    | { readonly kind: 'finish'; readonly reason: FinishReason }
    | { readonly kind: 'error'; readonly error: ErrorInfo }
    | { readonly kind: 'aborted' };
};

/**
 * One model call as an action phase: `phase`, then text and usage as they come (R146). Reasoning is not passed
 * on. Never throws for what the adapter does (R158).
 */
export async function* callModel(
  context: ProtocolContext,
  signal: AbortSignal,
  trace: ProtocolTrace,
  request: {
    readonly messages: readonly Message[];
    readonly tools: readonly ToolDefinition[];
    readonly purpose: string;
  },
): AsyncGenerator<ProtocolEvent, ModelAnswer, undefined> {
  const { adapter, config, requestId, projectId, turnState } = context;
  const phaseIndex = turnState.nextPhaseIndex++;
  yield { type: 'phase', phase: 'action', index: phaseIndex };
  trace.phaseStart('action', phaseIndex);

  const messages = sendableMessages(request.messages);
  trace.llmCall(phaseIndex, messages, request.tools.length, request.purpose);
  const texts: string[] = [];
  const calls: ToolCall[] = [];
  let usage: Usage | null = null;
  let end: ModelAnswer['end'] | null = null;
  try {
    const stream = adapter.sendMessagesStreaming(messages, {
      signal,
      context: { requestId, projectId },
      ...(request.tools.length === 0 ? {} : { tools: request.tools }),
      ...(config.temperature === undefined ? {} : { temperature: config.temperature }),
      ...(config.maxTokens === undefined ? {} : { max_tokens: config.maxTokens }),
    });
    for await (const event of stream) {
      switch (event.type) {
        case 'text-delta':
          if (event.text === '') break;
          texts.push(event.text);
          yield { type: 'chunk', content: event.text, source: 'model' };
          break;
        case 'tool-call-end':
          calls.push(event.call);
          break;
        case 'usage':
          usage = event.usage;
          yield { type: 'usage', usage: event.usage };
          break;
        case 'finish':
          end = { kind: 'finish', reason: event.reason };
          break;
        case 'error':
          end = { kind: 'error', error: event.error };
          break;
        case 'reasoning-delta':
        case 'tool-call-start':
        case 'tool-call-delta':
          break;
      }
      if (end !== null) break;
    }
  } catch (error) {
    end ??= { kind: 'error', error: toErrorInfo(error) };
  }
  end ??= { kind: 'error', error: NO_TERMINAL_EVENT };
  if (signal.aborted || (end.kind === 'error' && isAbort(end.error, signal))) {
    end = { kind: 'aborted' };
  }

  const text = texts.join('');
  const distinct = withDistinctIds(calls, messages, phaseIndex);
  const finish = end.kind === 'finish' ? end.reason : end.kind;
  trace.llmResult(phaseIndex, { finish, textLength: text.length, calls: distinct, usage });
  if (end.kind === 'error') trace.errorOccurred(phaseIndex, end.error);
  trace.phaseEnd('action', phaseIndex, finish);
  return { text, calls: distinct, end };
}

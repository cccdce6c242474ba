import { cutText } from '@orion/contracts';
import type { JsonValue, Message, Redact, ToolCall, ToolResult } from '@orion/contracts';

/** What stands in the history for a call without a name: providers refuse an empty one. */
export const UNNAMED_TOOL = 'unnamed_tool';

const SHOWN_BROKEN_ARGUMENTS = 1024;
/** Of a tool's result, in characters of JSON: tools have limits of their own, and this one is for those without. */
const MAX_RESULT = 128 * 1024;

/** Whether a call is whole and names a tool; anything else is answered, never run (R147). */
export function isUsable(call: ToolCall): boolean {
  return call.state === 'complete' && call.name.trim() !== '';
}

/**
 * The messages that can be sent: without empty and malformed ones, which providers refuse, but with every
 * assistant message that carries calls and every answer to a call (R142). Never changes its input.
 */
export function sendableMessages(messages: readonly Message[]): Message[] {
  return messages.filter((message) => {
    const given: unknown = message;
    if (typeof given !== 'object' || given === null) return false;
    if (typeof message.content !== 'string') return false;
    switch (message.role) {
      case 'tool':
        return typeof message.toolCallId === 'string' && message.toolCallId !== '';
      case 'assistant':
        return (message.toolCalls?.length ?? 0) > 0 || /\S/.test(message.content);
      case 'system':
      case 'user':
        return /\S/.test(message.content);
      default:
        return false;
    }
  });
}

/**
 * Gives every call an id that no other call of its message or of the history has: an answer finds its call by
 * nothing else, and some servers count the calls of each message from 0 again.
 */
export function withDistinctIds(
  calls: readonly ToolCall[],
  history: readonly Message[],
  phaseIndex: number,
): ToolCall[] {
  const taken = new Set(
    history.flatMap((message) =>
      message.role === 'assistant' ? (message.toolCalls ?? []).map((call) => call.id) : [],
    ),
  );
  return calls.map((call, position) => {
    const given = call.id === '' ? `call_${phaseIndex}_${position}` : call.id;
    let id = given;
    for (let copy = 2; taken.has(id); copy++) id = `${given}_${copy}`;
    taken.add(id);
    return id === call.id ? call : { ...call, id };
  });
}

/**
 * A call as the history keeps it. One that was not run because of its shape or size goes in with arguments that
 * are a JSON object naming what arrived: servers parse the arguments of the history, and a cut argument of a
 * megabyte would otherwise be paid for in every later request. `redact` comes before the cut.
 */
export function historicCall(
  call: ToolCall,
  shorten: boolean,
  redact: Redact = (text) => text,
): ToolCall {
  const name = historicName(call.name);
  if (!shorten) return name === call.name ? call : { ...call, name };
  return {
    ...call,
    name,
    arguments: JSON.stringify({
      arguments_not_used: cutText(redact(call.arguments), SHOWN_BROKEN_ARGUMENTS),
      length: call.arguments.length,
    }),
  };
}

/** A name that a provider takes back: one refuses the whole request for a name that it finds misshapen. */
export function historicName(name: string): string {
  if (name.trim() === '') return UNNAMED_TOOL;
  return name.replaceAll(/[^\w.-]/g, '_').slice(0, 128);
}

/** What the model reads of a result. */
export function toolMessage(result: ToolResult, earlier?: JsonValue): Message {
  return {
    role: 'tool',
    toolCallId: result.toolCallId,
    toolName: historicName(result.toolName),
    content: toolMessageContent(result, earlier),
  };
}

function toolMessageContent(result: ToolResult, earlier: JsonValue | undefined): string {
  if (result.success) {
    const text = JSON.stringify(result.result);
    if (text.length <= MAX_RESULT) return text;
    return JSON.stringify({
      result_start: cutText(text, MAX_RESULT),
      result_length: text.length,
      note: 'The result is longer than can be shown; ask for a part of it.',
    });
  }
  const { code, message, hint } = result.error;
  return JSON.stringify({ error: { code, message, hint }, earlier_result: earlier });
}

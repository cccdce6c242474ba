import { countCodePoints, firstCodePoints, OrionError, toErrorInfo } from '@orion/contracts';
import type {
  JsonObject,
  JsonValue,
  Redact,
  Tool,
  ToolCall,
  ToolConversation,
  ToolExecutionContext,
  ToolOutput,
  ToolOutputStore,
} from '@orion/contracts';

import { isArray, isObject, ownMembers, typeOf } from './json-types.ts';

/** Longer results are stored (R202); in code points of their JSON. */
export const AUTO_CHARACTERS = 4_096;
/** Of results that the model needs whole. */
export const INLINE_CHARACTERS = 16_384;
const PREVIEW_CHARACTERS = 1_200;
const SHOWN_KEYS = 20;

/** Where large results go. */
export type OutputKeeper = {
  readonly store: Pick<ToolOutputStore, 'put'>;
  /** For the result of a call: whoever runs the same call of a turn again replaces what is stored of it. */
  readonly idOf: (requestId: string, callId: string) => string;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** In place of 4,096. */
  readonly autoCharacters?: number;
  /** In place of 16,384. */
  readonly inlineCharacters?: number;
};

export type ResultContext = {
  readonly call: ToolCall;
  readonly tool: Tool;
  readonly args: JsonObject;
  readonly context: Pick<ToolExecutionContext, 'projectId' | 'requestId'>;
  readonly conversation: ToolConversation | undefined;
  readonly redact: Redact | undefined;
};

/**
 * The output as the model reads it: a large result is stored, and a message with its beginning takes its place (R203).
 * Throws if it cannot be stored: the model would believe that it has seen all of it (R205).
 */
export async function keepLargeResult(
  output: ToolOutput,
  keeper: OutputKeeper,
  result: ResultContext,
): Promise<ToolOutput> {
  const { tool } = result;
  const { resultMode = 'auto', inlineCharacters = keeper.inlineCharacters } = tool;
  if (resultMode === 'never' || output.next !== undefined) return output;
  const shown = jsonOf(output.result);
  const whole = output.stored === undefined ? shown : jsonOf(output.stored);
  // The registry says that this is no result.
  if (shown === null || whole === null) return output;
  const limit = {
    auto: keeper.autoCharacters ?? AUTO_CHARACTERS,
    inline: inlineCharacters ?? INLINE_CHARACTERS,
    stored: -1,
  }[resultMode];
  const isLarge = codePointsBeyond(shown, limit);
  if (!isLarge && whole.length <= shown.length) return output;
  const text = result.redact?.(whole) ?? whole;
  const reference = await put(text, keeper, result);
  const { stored: _, details, ...others } = output;
  const rest = { ...others, details: { ...details, output_id: reference.output_ref.id } };
  // What a tool shows of a longer output is its own preview.
  if (!isLarge && isObject(output.result)) {
    return { ...rest, result: { ...output.result, ...reference, available_tools: TOOLS } };
  }
  const preview = firstCodePoints(text, PREVIEW_CHARACTERS);
  return {
    ...rest,
    result: {
      ...reference,
      preview,
      preview_truncated: preview.length < text.length,
      metadata: metadataOf(output.stored ?? output.result),
      available_tools: TOOLS,
    },
  };
}

/** The line for the user about a result that was stored; null for any other. */
export function storedSummary(toolName: string, result: JsonValue): string | null {
  if (!isObject(result) || result['persisted'] !== true || result['metadata'] === undefined)
    return null;
  return `${toolName}: ${JSON.stringify(result['size_chars'])} characters, stored`;
}

/** The same in every message, so that it costs a provider's cache nothing. */
const TOOLS: readonly string[] = [
  'tool_outputs.read — load full output into context',
  'tool_outputs.extract — extract fields via JSONPath',
  'tool_outputs.stats — get schema, field types, counts',
  'tool_outputs.list — list all stored outputs',
  'tool_outputs.count — count matching elements',
  'tool_outputs.sample — random sample from arrays',
];

type Reference = JsonObject & {
  readonly output_ref: { readonly id: string; readonly storage: string };
};

async function put(
  text: string,
  { store, idOf, now }: OutputKeeper,
  { call, args, context, conversation, redact }: ResultContext,
): Promise<Reference> {
  const id = idOf(context.requestId, call.id);
  const parameters = redact === undefined ? args : redacted(args, redact);
  try {
    const { cut } = await store.put({
      id,
      project_id: context.projectId,
      tool_name: call.name,
      conversation_id: conversation?.id ?? '',
      message_id: conversation?.messageId ?? context.requestId,
      created_at: now(),
      success: true,
      parameters,
      output: text,
    });
    return {
      persisted: true,
      output_ref: { id, storage: 'app_data' },
      size_chars: countCodePoints(text),
      ...(cut ? { stored_in_part: true } : {}),
    };
  } catch (error) {
    const { code, message } = toErrorInfo(error);
    throw new OrionError({
      code,
      message: `${call.name} ran, but its result of ${countCodePoints(text)} characters could not be stored: ${message}`,
      hint: 'Ask the tool for less, or go on without its result.',
    });
  }
}

function redacted(args: JsonObject, redact: Redact): JsonValue {
  try {
    return JSON.parse(redact(JSON.stringify(args))) as JsonValue;
  } catch {
    return {};
  }
}

/** R204. */
function metadataOf(value: JsonValue): JsonObject {
  if (isArray(value)) return { root_type: 'array', array_length: value.length };
  if (!isObject(value)) return { root_type: typeOf(value) };
  const entries = Object.entries(value) as [string, JsonValue][];
  const arrays = entries.flatMap(([key, inner]): [string, JsonValue][] =>
    isArray(inner) ? [[key, inner.length]] : [],
  );
  return {
    root_type: 'object',
    key_count: entries.length,
    top_level_keys: entries.slice(0, SHOWN_KEYS).map(([key]) => key),
    array_lengths: ownMembers(arrays.slice(0, SHOWN_KEYS)),
  };
}

/** Null for what is no JSON. */
function jsonOf(value: JsonValue): string | null {
  try {
    return JSON.stringify(value) ?? null;
  } catch {
    return null;
  }
}

function codePointsBeyond(text: string, limit: number): boolean {
  return text.length > limit && (text.length > 2 * limit || countCodePoints(text) > limit);
}

import { BEGIN_TOOL_NAME, OrionError, cutText, jsonErrorPosition } from '@orion/contracts';
import type {
  ErrorCode,
  JsonValue,
  KeptArgument,
  OrionErrorOptions,
  ToolCall,
  ToolFailure,
  ToolResult,
  TurnStop,
} from '@orion/contracts';
import { UNNAMED_TOOL } from '../base/history.ts';

/** Results for calls that were not run. Each explains why and what to do instead. */

const SHOWN_EARLIER_RESULT = 8192;
const SHOWN_NAME = 100;
const SHOWN_BEFORE_ERROR = 40;

function refusal(
  call: ToolCall,
  code: ErrorCode,
  message: string,
  { details = {}, ...more }: Pick<OrionErrorOptions, 'hint' | 'retryable' | 'details'> = {},
): ToolFailure {
  return {
    toolCallId: call.id,
    toolName: call.name.trim() === '' ? UNNAMED_TOOL : call.name,
    success: false,
    error: new OrionError({ code, message, ...more }).toInfo(),
    details,
    attempts: 0,
  };
}

/** For a call whose arguments are not a complete JSON object, or that names no tool (R131, R164). */
export function refuseBroken(call: ToolCall): ToolFailure {
  const length = call.arguments.length;
  if (call.name.trim() === '') {
    return refusal(call, 'INVALID_TOOL_ARGUMENTS', 'The call names no tool; it was not run.', {
      hint: 'Call one of the offered tools by its name.',
      details: { length },
    });
  }
  if (call.state === 'cut') {
    return refusal(
      call,
      'INVALID_TOOL_ARGUMENTS',
      `The arguments were cut off after ${length} characters; the tool was not run.`,
      { details: { length, position: length, state: call.state } },
    );
  }
  const position = jsonErrorPosition(call.arguments, 'object');
  const before = call.arguments.slice(Math.max(0, position - SHOWN_BEFORE_ERROR), position);
  const where = before === '' ? '' : `, right after ${JSON.stringify(before)}`;
  return refusal(
    call,
    'INVALID_TOOL_ARGUMENTS',
    `The arguments (${length} characters) are not a JSON object: they go wrong at position ${position}${where}; the tool was not run.`,
    { details: { length, position, state: call.state } },
  );
}

/** For a tool that this mode does not offer (R178). */
export function refuseInPlanMode(call: ToolCall): ToolFailure {
  return refusal(
    call,
    'TOOL_NOT_ALLOWED',
    `${cutText(call.name, SHOWN_NAME)} was not run: PLAN mode does not allow it.`,
    { hint: 'Go on with the offered tools, or ask the user to switch to ACT mode.' },
  );
}

/** For a call that has already run in this turn (R167, R173). */
export function refuseDuplicate(call: ToolCall, earlier: ToolResult): ToolFailure {
  return refusal(
    call,
    'DUPLICATE_BLOCKED',
    'Duplicate tool call detected (already executed in this turn). Do NOT call this tool again. Use previous results.',
    {
      hint: `Use the result of call ${earlier.toolCallId}, repeated in earlier_result.`,
      details: { earlier_call_id: earlier.toolCallId },
    },
  );
}

/**
 * The part of the first result that a refused duplicate repeats. The whole result is in the answer to the call that
 * it names.
 */
export function earlierResult(earlier: ToolResult): JsonValue {
  const { toolCallId } = earlier;
  if (!earlier.success) {
    const { code, message } = earlier.error;
    return { tool_call_id: toolCallId, error: { code, message } };
  }
  const text = JSON.stringify(earlier.result);
  if (text.length <= SHOWN_EARLIER_RESULT) {
    return { tool_call_id: toolCallId, result: earlier.result };
  }
  return {
    tool_call_id: toolCallId,
    result_start: cutText(text, SHOWN_EARLIER_RESULT),
    result_length: text.length,
  };
}

/** For calls after one that opened a write session (R160; a second begin: R007). */
export function refuseAfterHandover(call: ToolCall): ToolFailure {
  if (call.name === BEGIN_TOOL_NAME) {
    return refusal(
      call,
      'SESSION_ALREADY_ACTIVE',
      'Another write session is already active. Please wait for it to complete, then call again after it.',
      { hint: 'Stream the content of the first file, then begin the next one.', retryable: true },
    );
  }
  return refusal(
    call,
    'SESSION_BUSY',
    'Not run: a write session was opened by an earlier call of this message; call again after it.',
    { hint: 'Stream the content first, then call again.', retryable: true },
  );
}

/** For a call whose result no model call could read, because a budget is used up (R251). */
export function refuseBeyondBudget(call: ToolCall, stop: TurnStop): ToolFailure {
  return refusal(
    call,
    'BUDGET_EXHAUSTED',
    `Not run: the turn has used up its ${stop.limit} of ${stop.value}.`,
  );
}

export function refuseAborted(call: ToolCall): ToolFailure {
  return refusal(call, 'ABORTED', 'Not run: the turn was cancelled.');
}

/** For a call that another process began and did not learn the outcome of. It may have run, and counts as if it had. */
export function unknownOutcome(call: ToolCall): ToolFailure {
  const message =
    'The call was interrupted while it ran; whether it had any effect is not known. It was not run again.';
  return { ...refusal(call, 'UNKNOWN_OUTCOME', message, { retryable: true }), attempts: 1 };
}

/** For a registry that returns no result, or that throws although its contract forbids it (R158). */
export function failedByRegistry(call: ToolCall, reason: string): ToolFailure {
  return { ...refusal(call, 'TOOL_FAILED', reason), attempts: 1 };
}

/** If the text of a failed call was kept, adds where, so that it need not be written again (R258). */
export function namingKeptText(call: ToolCall, result: ToolResult): ToolResult {
  if (result.success || call.kept === undefined || call.kept.length === 0) return result;
  const { error } = result;
  const message = [error.message, ...keptNote(call.kept)].join(' ');
  return { ...result, error: { ...error, message } };
}

/** Sentences for the model: where the texts are, and how it writes one to a file. None if none was kept. */
export function keptNote(kept: readonly KeptArgument[]): readonly string[] {
  if (kept.length === 0) return [];
  const how = `To write it to a file, call ${BEGIN_TOOL_NAME} with intent, target_file and operation only, then stream the text as your next message.`;
  return [...kept.map(keptPlace), how];
}

export function keptPlace({ name, path, lines, bytes, raw }: KeptArgument): string {
  const size = `(${lines} ${lines === 1 ? 'line' : 'lines'}, ${bytes} bytes)`;
  return raw === true
    ? `The arguments ${size} are not lost: exactly as they came, they are kept in ${path}.`
    : `The text of "${cutText(name, SHOWN_NAME)}" ${size} is not lost: it is kept in ${path}.`;
}

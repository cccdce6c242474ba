import { OrionError, toErrorInfo } from '@orion/contracts';
import type {
  ErrorCode,
  ErrorInfo,
  JsonObject,
  JsonValue,
  OrionErrorOptions,
  Redact,
  Tool,
  ToolCall,
  ToolOutput,
  ToolResult,
} from '@orion/contracts';
import { storedSummary } from '../outputs/large-results.ts';

const SUMMARY_LENGTH = 200;
/** Of the message of a failure, which is not stored; it may repeat what the model or somebody else has written. */
const ERROR_LENGTH = 4_096;
/** How much of each end of a longer one is kept. */
const SHOWN_ENDS = 2_000;
/** How much of a tool's name is shown, because a model may have invented it. */
export const SHOWN_NAME = 100;

/** Errors of the operating system that may be temporary. */
const TRANSIENT_SYSTEM_ERRORS: ReadonlySet<unknown> = new Set([
  'EAGAIN',
  'EBUSY',
  'ECONNRESET',
  'EINTR',
  'EMFILE',
  'ENFILE',
  'ETIMEDOUT',
]);

/** Codes by which a tool reports that it rejected the arguments and did nothing. */
const REFUSALS: ReadonlySet<ErrorCode> = new Set([
  'INVALID_TOOL_ARGUMENTS',
  'ARGUMENTS_TOO_LARGE',
  'CONTENT_IN_ARGUMENTS',
  'INVALID_OUTPUT_ID',
  'OUTPUT_NOT_FOUND',
  'OUTPUT_NOT_ALLOWED',
  'OUTPUT_EXPIRED',
]);

export function success(call: ToolCall, output: ToolOutput, attempts: number): ToolResult {
  const { result, details = {}, next } = output;
  if (!isJson(result)) {
    return thrown(call, new Error('The tool answered with something that is not JSON'), attempts);
  }
  return {
    ...base(call, attempts, details),
    success: true,
    result,
    ...(next === undefined ? {} : { next }),
  };
}

function isJson(value: JsonValue): boolean {
  try {
    return typeof JSON.stringify(value) === 'string';
  } catch {
    return false;
  }
}

/** A result for an error that the tool or the check of its arguments threw. */
export function thrown(call: ToolCall, error: unknown, attempts: number): ToolResult {
  if (OrionError.isInstance(error)) {
    const ran = REFUSALS.has(error.code) ? 0 : attempts;
    return failure(call, error.toInfo(), ran, error.details);
  }
  const { message } = toErrorInfo(error);
  return refusal(call, { code: 'TOOL_FAILED', message, retryable: isTransient(error) }, attempts);
}

export function cancelled(call: ToolCall, attempts: number): ToolResult {
  return refusal(call, { code: 'ABORTED', message: 'The call was cancelled.' }, attempts);
}

export function timedOut(call: ToolCall, limitMs: number, attempts: number): ToolResult {
  const name = call.name.slice(0, SHOWN_NAME);
  const message = `${name} took longer than ${limitMs / 1000} s and was stopped.`;
  return refusal(call, { code: 'TOOL_FAILED', message }, attempts);
}

/** `attempts`: how often the tool ran. */
export function refusal(
  call: ToolCall,
  error: OrionErrorOptions,
  attempts: number = 0,
): ToolResult {
  return failure(call, new OrionError(error).toInfo(), attempts);
}

function failure(
  call: ToolCall,
  error: ErrorInfo,
  attempts: number,
  details: JsonObject = {},
): ToolResult {
  return { ...base(call, attempts, details), success: false, error };
}

function base(
  call: ToolCall,
  attempts: number,
  details: JsonObject,
): { toolCallId: string; toolName: string; details: JsonObject; attempts: number } {
  return { toolCallId: call.id, toolName: call.name, details, attempts };
}

/** The result with no more than the beginning and the end of a failure's message: why it failed is often said last. */
export function bounded(result: ToolResult, redact: Redact = String): ToolResult {
  if (result.success || result.error.message.length <= ERROR_LENGTH) return result;
  const message = shortened(redact(result.error.message));
  return { ...result, error: { ...result.error, message } };
}

function shortened(text: string): string {
  if (text.length <= ERROR_LENGTH) return text;
  const leftOut = text.length - 2 * SHOWN_ENDS;
  const [start, end] = [text.slice(0, SHOWN_ENDS), text.slice(-SHOWN_ENDS)];
  return `${start.toWellFormed()} [${leftOut} characters left out] ${end.toWellFormed()}`;
}

export function isTransient(error: unknown): boolean {
  if (OrionError.isInstance(error)) return error.retryable;
  if (typeof error !== 'object' || error === null || !('code' in error)) return false;
  return TRANSIENT_SYSTEM_ERRORS.has(error.code);
}

/** One line about a result for the user. */
export function summaryOf(result: ToolResult, tool: Tool | undefined): string {
  const { toolName } = result;
  if (!result.success) {
    const { code, message } = result.error;
    return `${toolName} failed (${code}): ${message}`;
  }
  const stored = storedSummary(toolName, result.result);
  if (stored !== null) return stored;
  try {
    return tool?.summarize?.(result.result) ?? `${toolName} succeeded`;
  } catch {
    return `${toolName} succeeded`;
  }
}

export function oneLine(text: string): string {
  // oxlint-disable-next-line no-control-regex -- control characters are what is taken out
  const line = text.replaceAll(/[\s\u0000-\u001f\u007f-\u009f]+/g, ' ').trim();
  return cutAt(line, SUMMARY_LENGTH);
}

function cutAt(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, length - 1).toWellFormed()}…`;
}

import { OrionError, isPlanModeTool, sleep, toErrorInfo, visibleName } from '@orion/contracts';
import type {
  Clock,
  ErrorCode,
  ErrorInfo,
  JsonObject,
  JsonValue,
  PatternMatcher,
  Redact,
  Tool,
  ToolCall,
  ToolContext,
  ToolDefinition,
  ToolExecutionContext,
  ToolOutput,
  ToolRegistry,
  ToolResult,
} from '@orion/contracts';
import { MAX_ARGUMENT_BYTES, parseArguments } from './arguments.ts';
import { readSchema, UnreadableSchema } from './schema-document.ts';
import type { SchemaCheck } from './schema-check.ts';
import { signature } from './signature.ts';

/** What an approval decides about: a call whose arguments are known to be valid. */
export type ApprovalRequest = {
  readonly call: ToolCall;
  readonly effect: Tool['effect'];
  readonly args: JsonObject;
  readonly context: ToolExecutionContext;
};

export type Approval =
  | { readonly approved: true }
  | { readonly approved: false; readonly reason: string };

export type ToolRegistryOptions = {
  /** Asked before every run; everything is approved when left out. A rejection counts as a refusal. */
  readonly approve?: (request: ApprovalRequest) => Promise<Approval>;
  /** Sees every result once, refusals included; what it throws is ignored. */
  readonly record?: (call: ToolCall, result: ToolResult) => void;
  /** For the time limit of tools and the waits between retries; without one there is neither. */
  readonly clock?: Clock;
  /** Takes the keys in use out of a summary before that is cut. */
  readonly redact?: Redact;
  /** Matches the expressions of schemas; without one a tool whose schema has any is left out. */
  readonly patterns?: PatternMatcher;
  /** Hears of each tool that is left out, in a sentence about it. */
  readonly leftOut?: (why: string) => void;
};

type Entry = {
  readonly tool: Tool;
  readonly check: ((args: JsonObject) => Promise<void>) | null;
};

const MAX_RETRIES = 3;
const FIRST_RETRY_DELAY = 100;
const DEFAULT_TIMEOUT_MS = 120_000;
const SUMMARY_LENGTH = 200;
const SHOWN_NAME = 100;

/** Errors of the operating system that may be gone a moment later. */
const TRANSIENT_SYSTEM_ERRORS: ReadonlySet<unknown> = new Set([
  'EAGAIN',
  'EBUSY',
  'ECONNRESET',
  'EINTR',
  'EMFILE',
  'ENFILE',
  'ETIMEDOUT',
]);

/** Codes with which a tool says that it has refused the arguments and done nothing. */
const REFUSALS: ReadonlySet<ErrorCode> = new Set([
  'INVALID_TOOL_ARGUMENTS',
  'ARGUMENTS_TOO_LARGE',
  'CONTENT_IN_ARGUMENTS',
]);

/**
 * Builds the registry of a list of tools, which may come from anywhere: a tool whose name or schema cannot be used
 * is left out, and the others are there.
 *
 * 1. A call goes validate → approve → execute → record, and comes out as exactly one result.
 * 2. Tools are found in a `Map` by their exact name, so that no name reaches anything else (R085).
 * 3. Only a read tool is ever run twice by itself, at most 3 more times, for an error that may pass (R176).
 * 4. PLAN mode offers what reads and stands on its list of exact names, nothing else (R177).
 * 5. An abort, or the tool's time limit, ends the wait for a read tool; a write tool is always waited for, since what it has done must be known.
 */
export function createToolRegistry(
  given: readonly Tool[],
  options: ToolRegistryOptions = {},
): ToolRegistry {
  const entries = new Map<string, Entry>();
  for (const tool of given) {
    const { name } = tool.definition;
    try {
      if (typeof name !== 'string' || !/^[\w.-]{1,128}$/.test(name))
        throw new UnreadableSchema('no provider takes such a name');
      if (entries.has(name)) throw new UnreadableSchema('another tool has this name');
      entries.set(name, {
        tool,
        check:
          tool.checksArguments === true ? null : schemaCheck(tool.definition, options.patterns),
      });
    } catch (error) {
      if (!(error instanceof UnreadableSchema)) throw error;
      options.leftOut?.(`The tool ${shownName(name)} is left out: ${error.message}.`);
    }
  }
  const tools = [...entries.values()].map(({ tool }) => tool);

  const isOffered = (tool: Tool, mode: ToolExecutionContext['mode']): boolean =>
    mode === 'act' || (tool.effect === 'read' && isPlanModeTool(tool.definition.name));

  const offeredNames = (mode: ToolExecutionContext['mode']): string =>
    tools
      .filter((tool) => isOffered(tool, mode))
      .map((tool) => tool.definition.name)
      .join(', ');

  async function runCall(call: ToolCall, context: ToolExecutionContext): Promise<ToolResult> {
    const entry = entries.get(call.name);
    if (entry === undefined) {
      return failure(call, {
        code: 'UNKNOWN_TOOL',
        message: `There is no tool ${JSON.stringify(call.name.slice(0, SHOWN_NAME))}.`,
        retryable: false,
        hint: `Offered tools: ${offeredNames(context.mode) || 'none'}.`,
      });
    }
    const { tool } = entry;
    if (!isOffered(tool, context.mode)) {
      return failure(call, {
        code: 'TOOL_NOT_ALLOWED',
        message: `${call.name} was not run: PLAN mode does not allow it.`,
        retryable: false,
        hint: 'Go on with the offered tools, or ask the user to switch to ACT mode.',
      });
    }
    let args: JsonObject;
    try {
      args = parseArguments(call, tool.maxArgumentBytes ?? MAX_ARGUMENT_BYTES);
      await entry.check?.(args);
    } catch (error) {
      return thrown(call, error, 0);
    }
    if (context.signal.aborted) return cancelled(call, 0);
    const refusal = await askApproval(call, tool, args, context);
    if (refusal !== null) return refusal;
    return execute(call, tool, args, context);
  }

  async function askApproval(
    call: ToolCall,
    tool: Tool,
    args: JsonObject,
    context: ToolExecutionContext,
  ): Promise<ToolResult | null> {
    if (options.approve === undefined) return null;
    let approval: Approval;
    try {
      approval = await options.approve({ call, effect: tool.effect, args, context });
    } catch (error) {
      approval = { approved: false, reason: toErrorInfo(error).message };
    }
    if (context.signal.aborted) return cancelled(call, 0);
    if (approval.approved) return null;
    return failure(call, {
      code: 'TOOL_NOT_ALLOWED',
      message: `${call.name} was not approved: ${approval.reason}`,
      retryable: false,
      hint: 'Go on without this call, or ask the user.',
    });
  }

  async function execute(
    call: ToolCall,
    tool: Tool,
    args: JsonObject,
    context: ToolExecutionContext,
  ): Promise<ToolResult> {
    const limitMs = tool.timeoutMs ?? DEFAULT_TIMEOUT_MS;
    for (let attempts = 1; ; attempts++) {
      const limited = withTimeLimit(context.signal, limitMs, options.clock);
      const toolContext: ToolContext = {
        ...context,
        signal: limited.signal,
        toolCallId: call.id,
      };
      try {
        // A new object each time: a tool that changes its arguments must not change the next attempt's.
        const running = tool.execute(structuredClone(args), toolContext);
        const output =
          tool.effect === 'read' ? await orAborted(running, limited.signal) : await running;
        limited.end();
        return success(call, output, attempts);
      } catch (error) {
        limited.end();
        if (limited.signal.aborted && !context.signal.aborted) {
          return timedOut(call, limitMs, attempts);
        }
        if (error === ABORTED) return cancelled(call, attempts);
        const retry = tool.effect === 'read' && attempts <= MAX_RETRIES && isTransient(error);
        if (!retry || context.signal.aborted) return thrown(call, error, attempts);
        if (options.clock !== undefined)
          await sleep(options.clock, FIRST_RETRY_DELAY * 2 ** (attempts - 1), context.signal);
        if (context.signal.aborted) return cancelled(call, attempts);
      }
    }
  }

  return {
    definitions: (mode) =>
      tools.filter((tool) => isOffered(tool, mode)).map((tool) => tool.definition),

    traitsOf(toolName) {
      const tool = entries.get(toolName)?.tool;
      return tool && { effect: tool.effect, pollable: tool.pollable ?? false };
    },

    async executeToolCalls(calls, context) {
      const results: ToolResult[] = [];
      for (const call of calls) {
        const result = await runCall(call, context);
        results.push(result);
        try {
          options.record?.(call, result);
        } catch {
          // A record is made for whoever looks later; the turn goes on without it.
        }
      }
      return results;
    },

    signatureOf(call, projectId) {
      const tool = entries.get(call.name)?.tool;
      let args: JsonObject;
      try {
        args = parseArguments(call, tool?.maxArgumentBytes ?? MAX_ARGUMENT_BYTES);
      } catch {
        return signature(call.name, { unparsed: call.arguments }, projectId);
      }
      try {
        args = tool?.normalize?.(args) ?? args;
      } catch {
        // Arguments that the tool cannot normalise are compared as they are.
      }
      return signature(call.name, args, projectId);
    },

    summarize(result) {
      const summary = summaryOf(result, entries.get(result.toolName)?.tool);
      return oneLine(options.redact?.(summary) ?? summary);
    },
  };
}

/** Throws `UnreadableSchema` at once; the validator is loaded at the first check. */
function schemaCheck(
  { name, parameters }: ToolDefinition,
  patterns: PatternMatcher | undefined,
): (args: JsonObject) => Promise<void> {
  const document = readSchema(parameters);
  if (document.patterns.length > 0 && patterns === undefined)
    throw new UnreadableSchema('its schema has expressions, and nothing is there to match them');
  let check: Promise<SchemaCheck> | undefined;
  return async (args) => {
    check ??= import('./schema-check.ts').then(({ createSchemaCheck }) =>
      createSchemaCheck(name, document, patterns),
    );
    await (
      await check
    )(args);
  };
}

function shownName(name: unknown): string {
  return visibleName(JSON.stringify(String(name).slice(0, SHOWN_NAME)));
}

function summaryOf(result: ToolResult, tool: Tool | undefined): string {
  const { toolName } = result;
  if (!result.success) {
    const { code, message } = result.error;
    return `${toolName} failed (${code}): ${message}`;
  }
  try {
    return tool?.summarize?.(result.result) ?? `${toolName} succeeded`;
  } catch {
    return `${toolName} succeeded`;
  }
}

function oneLine(text: string): string {
  // oxlint-disable-next-line no-control-regex -- control characters are what is taken out
  const line = text.replaceAll(/[\s\u0000-\u001f\u007f-\u009f]+/g, ' ').trim();
  if (line.length <= SUMMARY_LENGTH) return line;
  return `${line.slice(0, SUMMARY_LENGTH - 1).toWellFormed()}…`;
}

function success(call: ToolCall, output: ToolOutput, attempts: number): ToolResult {
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

/** What a tool has thrown, or the check of its arguments, as the model reads it. */
function thrown(call: ToolCall, error: unknown, attempts: number): ToolResult {
  if (OrionError.isInstance(error)) {
    const ran = REFUSALS.has(error.code) ? 0 : attempts;
    return failure(call, error.toInfo(), ran, error.details);
  }
  const { message } = toErrorInfo(error);
  return failure(
    call,
    new OrionError({ code: 'TOOL_FAILED', message, retryable: isTransient(error) }).toInfo(),
    attempts,
  );
}

function cancelled(call: ToolCall, attempts: number): ToolResult {
  return failure(
    call,
    new OrionError({ code: 'ABORTED', message: 'The call was cancelled.' }).toInfo(),
    attempts,
  );
}

function timedOut(call: ToolCall, limitMs: number, attempts: number): ToolResult {
  return failure(
    call,
    new OrionError({
      code: 'TOOL_FAILED',
      message: `${call.name.slice(0, SHOWN_NAME)} took longer than ${limitMs / 1000} s and was stopped.`,
    }).toInfo(),
    attempts,
  );
}

/** The signal for one run: aborted with the given one, and after so many milliseconds. */
function withTimeLimit(
  outer: AbortSignal,
  milliseconds: number,
  clock: Clock | undefined,
): { readonly signal: AbortSignal; readonly end: () => void } {
  if (clock === undefined) return { signal: outer, end: () => undefined };
  const controller = new AbortController();
  const abort = (): void => controller.abort(outer.reason);
  if (outer.aborted) abort();
  else outer.addEventListener('abort', abort, { once: true });
  const cancel = clock.schedule(milliseconds, () => controller.abort());
  return {
    signal: controller.signal,
    end: () => {
      cancel();
      outer.removeEventListener('abort', abort);
    },
  };
}

function failure(
  call: ToolCall,
  error: ErrorInfo,
  attempts: number = 0,
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

function isTransient(error: unknown): boolean {
  if (OrionError.isInstance(error)) return error.retryable;
  if (typeof error !== 'object' || error === null || !('code' in error)) return false;
  return TRANSIENT_SYSTEM_ERRORS.has(error.code);
}

const ABORTED: unique symbol = Symbol('aborted');

/** The promise, or a rejection with `ABORTED` as soon as the signal says so; what comes later is dropped. */
function orAborted<Value>(promise: Promise<Value>, signal: AbortSignal): Promise<Value> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => {
      // oxlint-disable-next-line prefer-promise-reject-errors -- a mark for the caller, never seen outside
      reject(ABORTED);
    };
    signal.addEventListener('abort', onAbort, { once: true });
    promise.then(resolve, reject).finally(() => {
      signal.removeEventListener('abort', onAbort);
    });
    if (signal.aborted) onAbort();
  });
}

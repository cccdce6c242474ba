import { createToolNames, toErrorInfo, visibleName } from '@orion/contracts';
import type {
  Clock,
  JsonObject,
  PatternMatcher,
  Redact,
  Tool,
  ToolAction,
  ToolCall,
  ToolConversation,
  ToolDefinition,
  ToolExecutionContext,
  ToolRegistry,
  ToolResult,
} from '@orion/contracts';
import { asksOutputs, hydrated, latestReference, referenceIn } from '../outputs/hydration.ts';
import { keepLargeResult } from '../outputs/large-results.ts';
import type { OutputKeeper } from '../outputs/large-results.ts';
import { MAX_ARGUMENT_BYTES, parseArguments } from './arguments.ts';
import { execute } from './attempts.ts';
import { bounded, cancelled, oneLine, refusal, SHOWN_NAME, summaryOf, thrown } from './results.ts';
import { readSchema, UnreadableSchema } from './schema-document.ts';
import { createSchemaCheck } from './schema-check.ts';
import type { SchemaCheck } from './schema-check.ts';
import { signature } from './signature.ts';

/** A call with valid arguments that needs approval. */
export type ApprovalRequest = {
  readonly call: ToolCall;
  readonly effect: Tool['effect'];
  readonly args: JsonObject;
  /** What it would do, of a tool that runs only with a yes. */
  readonly action: ToolAction | null;
  readonly context: ToolExecutionContext;
};

export type Approval =
  | { readonly approved: true }
  | { readonly approved: false; readonly reason: string };

export type ToolRegistryOptions = {
  /** Called before every run. If left out, every call is approved. A rejected promise counts as a refusal. */
  readonly approve?: (request: ApprovalRequest) => Promise<Approval>;
  /** Called once with every result, including refusals. Errors that it throws are ignored. */
  readonly record?: (call: ToolCall, result: ToolResult) => void;
  /** Where results go that are too large for the model; without it the model gets them whole. */
  readonly outputs?: OutputKeeper;
  /** The conversation that the tools are called in. */
  readonly conversation?: ToolConversation;
  /** For the time limit of tools and the delays between retries. Without a clock there are none. */
  readonly clock?: Clock;
  /** Redacts keys in use in a summary before it is cut. */
  readonly redact?: Redact;
  /** Matches regular expressions of schemas. Without it, tools whose schemas contain any are left out. */
  readonly patterns?: PatternMatcher;
  /** Called with a sentence about each tool that is left out. */
  readonly leftOut?: (why: string) => void;
};

/** What PLAN mode offers of a host that has such a tool, unless the tool says otherwise (R177). */
const PLAN_NAMES: ReadonlySet<string> = new Set([
  'FileSystemTool_read_file',
  'FileSystemTool_list_files',
  'FileSystemTool_search_files',
  'DatabaseTool_get_subtask_full_context',
  'DatabaseTool_list_subtasks_by_status',
  'DatabaseTool_search_subtasks',
]);

type Entry = {
  readonly tool: Tool;
  readonly check: ((args: JsonObject) => Promise<void>) | null;
};

/**
 * Builds a registry from a list of tools, which may be untrusted. A tool whose name or schema cannot be used is left
 * out.
 *
 * 1. A call passes through validate → approve → execute → record and produces exactly one result.
 * 2. Tools are looked up in a `Map` by exact name, so that no name can reach anything else (R085).
 * 3. Only read tools are retried, at most 3 times, after an error that may be temporary (R176).
 * 4. PLAN mode offers only read tools with `inPlanMode`, or of a name that it knows (R177).
 * 5. A call that asks a stored output without naming it means the latest one, for its signature too (R214).
 * 6. An abort or the tool's time limit stops waiting for a read tool. A write tool is always waited for, because its
 *    effect must be known.
 */
export function createToolRegistry(
  tools: readonly Tool[],
  options: ToolRegistryOptions = {},
): ToolRegistry {
  const entries = admitted(tools, options);
  const { conversation } = options;
  const wireNames = createToolNames([...entries.keys()]);
  /** Of this turn; earlier ones are in the history. */
  let latest: string | null = null;
  const latestOutput = (): string | null =>
    latest ?? latestReference(conversation?.messages() ?? []);
  const find = (name: string): Entry | undefined =>
    entries.get(name) ?? entries.get(wireNames.fromWire(name));
  const completed = (call: ToolCall): ToolCall => {
    const tool = find(call.name)?.tool;
    if (tool === undefined) return call;
    // A model may say the name that its provider sees, or an alias (R280).
    const { name } = tool.definition;
    return hydrated({ ...call, name }, tool, { latestOutput, conversation });
  };
  const definitions = (mode: ToolExecutionContext['mode']): readonly ToolDefinition[] =>
    [...entries.values()]
      .filter(({ tool }) => isOffered(tool, mode))
      .map(({ tool }) => tool.definition);

  return {
    definitions,

    traitsOf(toolName) {
      const tool = find(toolName)?.tool;
      return (
        tool && {
          effect: tool.effect,
          pollable: tool.pollable ?? false,
          repeatableAfterWrite: tool.repeatableAfterWrite ?? false,
          inPlanMode: isOffered(tool, 'plan'),
        }
      );
    },

    async executeToolCalls(calls, context) {
      const results: ToolResult[] = [];
      for (const given of calls) {
        const entry = find(given.name);
        const call = completed(given);
        const result = bounded(
          entry === undefined
            ? unknownTool(call, definitions(context.mode))
            : await runCall(call, entry, context, options),
          options.redact,
        );
        if (result.success && !asksOutputs(result.toolName))
          latest = referenceIn(result.result) ?? latest;
        results.push(result);
        try {
          options.record?.(call, result);
        } catch {
          // The turn continues without the record.
        }
      }
      return results;
    },

    signatureOf(given, projectId) {
      const call = completed(given);
      const tool = find(call.name)?.tool;
      let args: JsonObject;
      try {
        args = parseArguments(call, tool?.maxArgumentBytes ?? MAX_ARGUMENT_BYTES);
      } catch {
        return signature(call.name, { unparsed: call.arguments }, projectId);
      }
      try {
        args = tool?.normalize?.(args) ?? args;
      } catch {
        // Arguments that the tool cannot normalise are compared unchanged.
      }
      return signature(call.name, args, projectId);
    },

    summarize(result) {
      const summary = summaryOf(result, find(result.toolName)?.tool);
      return oneLine(options.redact?.(summary) ?? summary);
    },
  };
}

/** The usable tools by name. */
function admitted(
  given: readonly Tool[],
  { patterns, leftOut }: ToolRegistryOptions,
): ReadonlyMap<string, Entry> {
  const entries = new Map<string, Entry>();
  for (const tool of given) {
    const { name } = tool.definition;
    try {
      if (typeof name !== 'string' || !/^[\w.-]{1,128}$/.test(name))
        throw new UnreadableSchema('providers do not accept this name');
      if (entries.has(name)) throw new UnreadableSchema('another tool has this name');
      const check = tool.checksArguments === true ? null : schemaCheck(tool.definition, patterns);
      entries.set(name, { tool, check });
    } catch (error) {
      if (!(error instanceof UnreadableSchema)) throw error;
      leftOut?.(`The tool ${shownName(name)} is left out: ${error.message}.`);
    }
  }
  return entries;
}

function isOffered(tool: Tool, mode: ToolExecutionContext['mode']): boolean {
  if (mode === 'act') return true;
  const { inPlanMode = PLAN_NAMES.has(tool.definition.name) } = tool;
  return tool.effect === 'read' && inPlanMode;
}

async function runCall(
  call: ToolCall,
  { tool, check }: Entry,
  context: ToolExecutionContext,
  options: ToolRegistryOptions,
): Promise<ToolResult> {
  if (!isOffered(tool, context.mode)) {
    return refusal(call, {
      code: 'TOOL_NOT_ALLOWED',
      message: `${call.name} was not run: PLAN mode does not allow it.`,
      hint: 'Go on with the offered tools, or ask the user to switch to ACT mode.',
    });
  }
  let args: JsonObject;
  try {
    args = parseArguments(call, tool.maxArgumentBytes ?? MAX_ARGUMENT_BYTES);
    await check?.(args);
  } catch (error) {
    return thrown(call, error, 0);
  }
  if (context.signal.aborted) return cancelled(call, 0);
  const approval = await askApproval(
    { call, effect: tool.effect, args, action: tool.action?.(args) ?? null, context },
    options,
  );
  if (context.signal.aborted) return cancelled(call, 0);
  if (!approval.approved) {
    return refusal(call, {
      code: 'APPROVAL_REFUSED',
      message: `${call.name} was not approved: ${approval.reason}`,
      hint: 'Go on without this call, or ask the user.',
    });
  }
  const { clock, conversation, outputs, redact } = options;
  return execute(call, tool, args, context, {
    clock,
    conversation,
    keep: async (output) =>
      outputs === undefined
        ? output
        : keepLargeResult(output, outputs, { call, tool, args, context, conversation, redact }),
  });
}

async function askApproval(
  request: ApprovalRequest,
  { approve }: ToolRegistryOptions,
): Promise<Approval> {
  try {
    return (await approve?.(request)) ?? { approved: true };
  } catch (error) {
    return { approved: false, reason: toErrorInfo(error).message };
  }
}

function unknownTool(call: ToolCall, offered: readonly ToolDefinition[]): ToolResult {
  return refusal(call, {
    code: 'UNKNOWN_TOOL',
    message: `There is no tool ${JSON.stringify(call.name.slice(0, SHOWN_NAME))}.`,
    hint: `Offered tools: ${offered.map(({ name }) => name).join(', ') || 'none'}.`,
  });
}

/** Throws `UnreadableSchema`. */
function schemaCheck(
  { name, parameters }: ToolDefinition,
  patterns: PatternMatcher | undefined,
): SchemaCheck {
  const document = readSchema(parameters);
  if (document.patterns.length > 0 && patterns === undefined)
    throw new UnreadableSchema('its schema has regular expressions, which cannot be matched here');
  return createSchemaCheck(name, document, patterns);
}

function shownName(name: unknown): string {
  return visibleName(JSON.stringify(String(name).slice(0, SHOWN_NAME)));
}

import type { ErrorInfo } from './errors.ts';
import type { JsonObject, JsonValue } from './json.ts';

/** Plan mode reads only; act mode may change the workspace. */
export type Mode = 'plan' | 'act';

/**
 * A call that a model made. `arguments` is the exact text that arrived.
 *
 * `state` is the truth about that text, whatever the provider's finish reason says: only a `complete` call is
 * ever run. `cut`: it ends before its JSON does. `malformed`: it is not a JSON object at all.
 */
export type ToolCall = {
  readonly id: string;
  readonly name: string;
  readonly arguments: string;
  readonly state: 'complete' | 'cut' | 'malformed';
  /**
   * A call of a provider's free-form tool: `arguments` is any text, `complete` when it is whole. No such tool is
   * ever offered, and no registry runs one.
   */
  readonly kind?: 'custom';
  readonly providerData?: ProviderData;
  /** Where the text of arguments that look like a file's content lies, so that it is not lost with the call. */
  readonly kept?: readonly KeptArgument[];
};

/**
 * What a provider wants back with a call or a message of its own, such as the signature of the reasoning behind it.
 * Nobody reads `value` but the adapter of that name, for that model; for any other one it does not exist. It is stored
 * with the conversation and is no part of what a person, a trace or an event shows.
 */
export type ProviderData = {
  readonly adapter: string;
  readonly model: string;
  readonly value: JsonValue;
};

export type KeptArgument = {
  /** The argument's own name; `arguments` for all of them. */
  readonly name: string;
  /** All arguments as they came: they are no JSON, so that no text could be taken out of them unharmed. */
  readonly raw?: true;
  readonly path: string;
  readonly lines: number;
  readonly bytes: number;
};

/** What a provider is told of a tool. `parameters` is a JSON Schema of an object. */
export type ToolDefinition = {
  readonly name: string;
  readonly description: string;
  readonly parameters: JsonObject;
};

type ToolResultBase = {
  readonly toolCallId: string;
  readonly toolName: string;
  readonly details: JsonObject;
  /** How often the tool ran; 0 when the call was refused before. */
  readonly attempts: number;
};

export type ToolSuccess = ToolResultBase & {
  readonly success: true;
  readonly result: JsonValue;
  /** The turn goes on with the model's plain text as file content. */
  readonly next?: 'content';
};

export type ToolFailure = ToolResultBase & { readonly success: false; readonly error: ErrorInfo };

export type ToolResult = ToolSuccess | ToolFailure;

/**
 * A tool that a registry runs.
 *
 * `execute` receives arguments that match `definition.parameters`, unless `checksArguments` is set. It may throw
 * an `OrionError`, which becomes a failed result that the model reads; anything else that it throws becomes
 * `TOOL_FAILED`. INVALID_TOOL_ARGUMENTS, ARGUMENTS_TOO_LARGE and CONTENT_IN_ARGUMENTS mean that it did not run.
 */
export interface Tool {
  readonly definition: ToolDefinition;
  /** `read` tools may be repeated after an error that may pass; `write` tools never run twice by themselves. */
  readonly effect: 'read' | 'write';
  /** PLAN mode offers it too. For read tools: one that writes is never offered there, whatever this says. */
  readonly inPlanMode?: boolean;
  /** Asked the same again it may answer something else: a repeated call is no duplicate. For read tools. */
  readonly pollable?: boolean;
  /** How long one run may take, in milliseconds; 120,000 when left out. Then its signal is aborted. */
  readonly timeoutMs?: number;
  /** The tool checks its arguments itself and words its refusals; the registry passes any JSON object on. */
  readonly checksArguments?: boolean;
  /** Longer arguments (UTF-8) are refused before they are parsed; 1 MiB when left out. */
  readonly maxArgumentBytes?: number;
  /** The returned value is what the model reads; `next: 'content'` hands the turn over to the content stage. */
  execute(args: JsonObject, context: ToolContext): Promise<ToolOutput>;
  /** One line about the result for a person; the registry's own one when left out. */
  summarize?(result: JsonValue): string;
  /** Arguments with defaults filled and paths normalised, for recognising a repeated call. */
  normalize?(args: JsonObject): JsonObject;
}

export type ToolOutput = {
  readonly result: JsonValue;
  readonly next?: 'content';
  /** Facts for traces, such as ignored arguments; the model does not read them. */
  readonly details?: JsonObject;
};

export type ToolExecutionContext = {
  readonly projectId: string;
  readonly requestId: string;
  readonly mode: Mode;
  readonly signal: AbortSignal;
};

/** What a tool is given besides its arguments. */
export type ToolContext = ToolExecutionContext & { readonly toolCallId: string };

/** What a protocol has to know of a tool to judge its calls. */
export type ToolTraits = Required<Pick<Tool, 'effect' | 'pollable' | 'inPlanMode'>>;

/** The tools of a turn. Nothing registers itself: a registry is built from a list of tools. */
export interface ToolRegistry {
  /** The tools that a request offers: registered and allowed in this mode. */
  definitions(mode: Mode): readonly ToolDefinition[];
  /** Undefined for a name that is not registered. */
  traitsOf(toolName: string): ToolTraits | undefined;
  /** Runs the calls one after the other and answers in their order; never throws for what a call asks. */
  executeToolCalls(
    calls: readonly ToolCall[],
    context: ToolExecutionContext,
  ): Promise<readonly ToolResult[]>;
  /** The same JSON text for calls that mean the same; independent of key order, blanks and left-out defaults. */
  signatureOf(call: ToolCall, projectId: string): string;
  /** One line about a result for a person. */
  summarize(result: ToolResult): string;
}

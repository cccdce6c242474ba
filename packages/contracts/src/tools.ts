import type { ErrorInfo } from './errors.ts';
import type { JsonObject, JsonValue } from './json.ts';
import type { Message } from './messages.ts';
import type { ToolCall } from './tool-call.ts';

/** PLAN mode only reads. ACT mode may change the workspace. */
export type Mode = 'plan' | 'act';

/** The description of a tool for providers. `parameters` is the JSON Schema of an object. */
export type ToolDefinition = {
  readonly name: string;
  readonly description: string;
  readonly parameters: JsonObject;
};

type ToolResultBase = {
  readonly toolCallId: string;
  readonly toolName: string;
  readonly details: JsonObject;
  /** How often the tool ran; 0 if the call was refused. */
  readonly attempts: number;
};

export type ToolSuccess = ToolResultBase & {
  readonly success: true;
  readonly result: JsonValue;
  /** The turn continues with the model's plain text as file content. */
  readonly next?: 'content';
};

export type ToolFailure = ToolResultBase & { readonly success: false; readonly error: ErrorInfo };

export type ToolResult = ToolSuccess | ToolFailure;

/**
 * A tool that a registry runs.
 *
 * `execute` receives arguments that match `definition.parameters`, unless `checksArguments` is set. If it throws an
 * `OrionError`, the model reads it as a failed result; any other error becomes `TOOL_FAILED`. INVALID_TOOL_ARGUMENTS,
 * ARGUMENTS_TOO_LARGE and CONTENT_IN_ARGUMENTS mean that the tool did not run.
 */
export interface Tool {
  readonly definition: ToolDefinition;
  /** `read` tools may be retried after a temporary error. `write` tools are never retried. */
  readonly effect: 'read' | 'write';
  /** PLAN mode offers it too. Ignored for write tools, which PLAN mode never offers. */
  readonly inPlanMode?: boolean;
  /** The same call may return something else later, so repeated calls are not duplicates. For read tools. */
  readonly pollable?: boolean;
  /** Asked the same again after another write it may answer something else, such as the tests. For write tools. */
  readonly repeatableAfterWrite?: boolean;
  /** How long one run may take, in milliseconds, before its signal is aborted. Defaults to 120,000. */
  readonly timeoutMs?: number;
  /** The tool checks its arguments and words its refusals itself. The registry passes any JSON object on. */
  readonly checksArguments?: boolean;
  /** Longer arguments (in bytes of UTF-8) are refused before they are parsed. Defaults to 1 MiB. */
  readonly maxArgumentBytes?: number;
  /**
   * When a result is stored and the model gets a preview of it (R202): `auto`, the default, above 4,096 characters of JSON;
   * `inline` above 16,384; `stored` always; `never` for results with a limit of their own.
   */
  readonly resultMode?: 'auto' | 'inline' | 'stored' | 'never';
  /** In place of 16,384, for an `inline` tool with a cap of its own. */
  readonly inlineCharacters?: number;
  /** The model reads the returned value. `next: 'content'` hands the turn over to the content stage. */
  execute(args: JsonObject, context: ToolContext): Promise<ToolOutput>;
  /** One line about the result for the user. If left out, the registry writes one. */
  summarize?(result: JsonValue): string;
  /** Fills in defaults and normalises paths, so that repeated calls are recognised. */
  normalize?(args: JsonObject): JsonObject;
  /** What these valid arguments would do, for tools that run only with a yes. */
  action?(args: JsonObject): ToolAction;
}

export type ToolOutput = {
  readonly result: JsonValue;
  readonly next?: 'content';
  /** Details for traces, such as ignored arguments. The model does not read them. */
  readonly details?: JsonObject;
  /** What is stored of it, where that is more than `result`; the model can traverse it. */
  readonly stored?: JsonValue;
};

/** What a person decides about before a tool runs. It is shown whole: a yes is given to exactly this. */
export type ToolAction = CommandAction | McpAction;

export type CommandAction = {
  readonly kind: 'command';
  readonly command: string;
  /** Where it runs. */
  readonly folder: string;
  /** What keeps it in its place, and whether it reaches the network. */
  readonly sandbox?: 'auto' | 'require' | 'off';
  readonly network?: boolean;
};

/** A call of a tool of an MCP server. */
export type McpAction = {
  readonly kind: 'mcp';
  readonly server: string;
  /** The command line that started the server, or its URL. */
  readonly place: string;
  /** The tool as the server names it. */
  readonly tool: string;
  /** The tool as a model names it. */
  readonly name: string;
  readonly arguments: JsonObject;
  /** SHA-256 of each part of what the server says about the tool, so that a change can be noticed. */
  readonly definition: { readonly [Part in McpPart]: string };
  /** What has changed since the user last agreed to the tool. */
  readonly changed?: readonly McpPart[];
};

export type McpPart = 'description' | 'schema' | 'command';

/** How far a running tool has come, in its own words; `done` of `total`, where it knows them. */
export type ToolProgress = {
  readonly message: string;
  readonly done?: number;
  readonly total?: number;
};

export type ToolExecutionContext = {
  readonly projectId: string;
  readonly requestId: string;
  readonly mode: Mode;
  readonly signal: AbortSignal;
  /** Shows a person how far the tool has come; never waits, never throws. What comes too often is left out. */
  readonly onProgress?: (progress: ToolProgress) => void;
};

/** The conversation that a tool is called in. */
export type ToolConversation = {
  readonly id: string;
  /** Of the message that the turn answers: its request's id, since messages have no ids of their own. */
  readonly messageId: string;
  /** Its messages before those of the running model calls, the oldest first. */
  messages(): readonly Message[];
};

/** What a tool receives besides its arguments. */
export type ToolContext = ToolExecutionContext & {
  readonly toolCallId: string;
  /** Missing where there is none, as for a command. */
  readonly conversation?: ToolConversation;
};

/** What a protocol needs to know about a tool. */
export type ToolTraits = Required<
  Pick<Tool, 'effect' | 'pollable' | 'inPlanMode' | 'repeatableAfterWrite'>
>;

/** The tools of a turn. A registry is built from a list of tools; tools do not register themselves. */
export interface ToolRegistry {
  /** The tools that a request offers: registered and allowed in this mode. */
  definitions(mode: Mode): readonly ToolDefinition[];
  /** Undefined for a name that is not registered. */
  traitsOf(toolName: string): ToolTraits | undefined;
  /** Runs the calls one after another and returns results in the same order. Never throws because of a call. */
  executeToolCalls(
    calls: readonly ToolCall[],
    context: ToolExecutionContext,
  ): Promise<readonly ToolResult[]>;
  /** A JSON text that is the same for equivalent calls, independent of key order, blanks and omitted defaults. */
  signatureOf(call: ToolCall, projectId: string): string;
  /** One line about a result for the user. */
  summarize(result: ToolResult): string;
}

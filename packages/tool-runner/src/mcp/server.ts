/** An MCP server as its user configured it, with its variables filled in. */
export type McpServer = StdioServer | HttpServer;

/** A program that speaks MCP on its standard input and output. */
export type StdioServer = {
  readonly kind: 'stdio';
  /** At most 32 characters: letters, digits, and single `-` or `_` between them. */
  readonly name: string;
  /** Its command line as a person knows it: without the values of variables, which may be keys. */
  readonly place: string;
  readonly command: string;
  readonly args: readonly string[];
  /** What it sees besides the variables that every server sees. */
  readonly environment: Readonly<Record<string, string>>;
  /** Absolute. */
  readonly folder: string;
  /** In place of the limit of that name. */
  readonly startMs?: number;
};

/** A server that speaks streamable HTTP. */
export type HttpServer = {
  readonly kind: 'http';
  readonly name: string;
  /** Its URL as a person knows it. */
  readonly place: string;
  /** https, or a loopback address. */
  readonly url: string;
  /** The user names its host: it may be asked over http. */
  readonly allowPlainHttp?: boolean;
  readonly headers: Readonly<Record<string, string>>;
  /** In place of the limit of that name. */
  readonly startMs?: number;
};

/** Bounds of what a server may take and send. Times are milliseconds, sizes bytes. */
export type McpLimits = {
  /** Until a server has answered and listed its tools. */
  readonly startMs: number;
  /** A call without an answer or progress. */
  readonly idleMs: number;
  /** A call in all. */
  readonly callMs: number;
  readonly messageBytes: number;
  readonly resultBytes: number;
  /** From one call to the next. */
  readonly messages: number;
  readonly tools: number;
  readonly descriptionBytes: number;
  /** Of what each request says of all tools of a server. */
  readonly definitionBytes: number;
};

const MIB = 1024 * 1024;

export const MCP_LIMITS: McpLimits = {
  startMs: 10_000,
  idleMs: 60_000,
  callMs: 600_000,
  messageBytes: 16 * MIB,
  resultBytes: 8 * MIB,
  messages: 10_000,
  tools: 256,
  descriptionBytes: 4 * 1024,
  definitionBytes: 128 * 1024,
};

/** What the server ran into, or did, that ends its connection; the message completes a sentence about it. */
export class ServerBroke extends Error {}

/** Its process has ended. */
export class ServerExited extends ServerBroke {}

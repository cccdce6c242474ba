import { createHash } from 'node:crypto';

import { OrionError, visibleName } from '@orion/contracts';
import type { Tool } from '@orion/contracts';
import canonicalize from 'canonicalize';

import { connect } from './connection.ts';
import type { Connection, ConnectionOptions, Era } from './connection.ts';
import { resourceResult, toolResult } from './results.ts';
import { MCP_LIMITS, ServerBroke } from './server.ts';
import type { McpLimits, McpServer } from './server.ts';
import { listedTool } from './tool-list.ts';
import type { ServerTool } from './tool-list.ts';
import { mcpToolName } from './tool-name.ts';
import { isRefusal } from './trouble.ts';

/** The name of the tool that reads a server's resources. */
const RESOURCES = 'read_resource';
/** Beyond the time that a call has by itself, so that the server's own limit is the one that is reported. */
const AFTER_CALL_MS = 5_000;

const IS_OVER = 'It is not started again in this turn: go on without its tools.';
const IS_UNKNOWN = 'Whether the call had any effect is not known: check before you repeat it.';

export type McpClientOptions = Omit<ConnectionOptions, 'limits'> & {
  readonly servers: readonly McpServer[];
  /** What differs from `MCP_LIMITS`. */
  readonly limits?: Partial<McpLimits>;
};

/** What the servers offer to one turn. */
export type OfferedTools = {
  /** In the order of their names, so that the provider's prompt cache holds. */
  readonly tools: readonly Tool[];
  /** A sentence about each server and tool that cannot be offered. */
  readonly leftOut: readonly string[];
};

export type ServerReport = {
  readonly server: string;
  readonly place: string;
  /** The revision of the protocol that both speak. */
  readonly revision: string;
  readonly tools: readonly { readonly name: string; readonly description: string }[];
  readonly leftOut: readonly string[];
};

/**
 * The tools of MCP servers. What a server says of its tools is a claim, and what its tools answer is data.
 *
 * 1. A server starts when the first turn asks for tools, and again at the next turn if it has ended. It is not started
 *    again within a turn.
 * 2. A server that does not start, breaks a limit or ends fails its own calls with a sentence that says why, and
 *    nothing else.
 * 3. Every tool has an action, so that it runs only with a yes. None is offered in PLAN mode.
 */
export interface McpClient {
  /** Starts the servers that are not running. Never rejects. */
  offer(signal: AbortSignal): Promise<OfferedTools>;
  /** Starts one server and says what it has. Rejects with TOOL_FAILED, or USAGE for a name that is not configured. */
  inspect(name: string, signal: AbortSignal): Promise<ServerReport>;
  /** Ends all servers with their processes. */
  close(): Promise<void>;
}

export function createMcpClient(options: McpClientOptions): McpClient {
  const limits: McpLimits = { ...MCP_LIMITS, ...options.limits };
  const running = new Map<string, Promise<Connection>>();
  /** What is known of a server, so that it is not asked again: an old one may let the question time out. */
  const eras = new Map<string, Era>();
  const servers = options.servers.toSorted((a, b) => compare(a.name, b.name));

  /** The connection that there is, or a new one: turns at the same time share it. */
  async function reach(server: McpServer, signal: AbortSignal): Promise<Connection> {
    const { name } = server;
    const former = running.get(name);
    if (former !== undefined) {
      const connection = await former.catch(() => null);
      if (connection !== null && connection.broken === null) return connection;
      await connection?.close();
      // Another turn may have started it meanwhile.
      if (running.get(name) !== former) return reach(server, signal);
    }
    const era = eras.get(name) ?? 'auto';
    const { startMs = limits.startMs } = server;
    const begun = connect(server, { ...options, limits: { ...limits, startMs } }, signal, era);
    // Another program may be there the next time, if this one fails.
    eras.delete(name);
    running.set(name, begun);
    const connection = await begun;
    eras.set(name, connection.era);
    return connection;
  }

  async function offerOf(server: McpServer, signal: AbortSignal): Promise<OfferedTools> {
    try {
      const connection = await reach(server, signal);
      return toolsOf(server, connection, await connection.listTools(signal), limits);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      return { tools: [], leftOut: [`The MCP server ${server.name} cannot be used: ${why}.`] };
    }
  }

  return {
    async offer(signal) {
      const offers = await Promise.all(servers.map((server) => offerOf(server, signal)));
      return {
        tools: offers
          .flatMap(({ tools }) => tools)
          .toSorted((a, b) => compare(a.definition.name, b.definition.name)),
        leftOut: offers.flatMap(({ leftOut }) => leftOut),
      };
    },

    async inspect(name, signal) {
      const server = servers.find((each) => each.name === name);
      if (server === undefined) {
        const names = servers.map((each) => each.name).join(', ') || 'none';
        throw new OrionError({
          code: 'USAGE',
          message: `There is no MCP server ${visibleName(JSON.stringify(name))}.`,
          hint: `Configured: ${names}.`,
        });
      }
      try {
        const connection = await reach(server, signal);
        const offered = toolsOf(server, connection, await connection.listTools(signal), limits);
        return {
          server: name,
          place: server.place,
          revision: connection.revision,
          tools: offered.tools.map(({ definition }) => definition),
          leftOut: offered.leftOut,
        };
      } catch (error) {
        throw failure(server, error);
      }
    },

    async close() {
      const begun = await Promise.allSettled(running.values());
      for (const each of begun) if (each.status === 'fulfilled') await each.value.close();
    },
  };
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function failure({ name }: McpServer, error: unknown, ...hints: readonly string[]): OrionError {
  const why = error instanceof Error ? error.message : String(error);
  const all = error instanceof ServerBroke ? [...hints, IS_OVER] : hints;
  return new OrionError({
    code: 'TOOL_FAILED',
    message: `The MCP server ${name} failed: ${why}.`,
    ...(all.length > 0 ? { hint: all.join(' ') } : {}),
  });
}

function toolsOf(
  server: McpServer,
  connection: Connection,
  listed: readonly unknown[],
  limits: McpLimits,
): OfferedTools {
  const leftOut: string[] = [];
  const names = new Set<string>();
  const tools: Tool[] = [];
  let room = limits.definitionBytes;
  let withoutRoom = 0;
  // Only the new revision knows of arguments in headers.
  const mayNeedHeaders = server.kind === 'http' && connection.era === 'auto';
  for (const entry of listed) {
    const found = listedTool(entry, { limits, mayNeedHeaders });
    const name = found.kind === 'tool' ? found.tool.name : found.name;
    if (found.kind === 'left-out' || names.has(found.tool.name)) {
      const which =
        name === null ? 'A tool' : `The tool ${visibleName(JSON.stringify(name.slice(0, 100)))}`;
      const why = found.kind === 'left-out' ? found.why : 'the server lists it twice';
      leftOut.push(`${which} of the MCP server ${server.name} is left out: ${why}.`);
      continue;
    }
    const { tool } = found;
    names.add(tool.name);
    const made = serverTool(server, connection, tool, limits);
    const bytes = Buffer.byteLength(JSON.stringify(made.definition));
    if (bytes > room) {
      withoutRoom += 1;
    } else {
      room -= bytes;
      tools.push(made);
    }
  }
  if (withoutRoom > 0) {
    const which = withoutRoom === 1 ? '1 tool' : `${withoutRoom} tools`;
    leftOut.push(
      `${which} of the MCP server ${server.name} ${withoutRoom === 1 ? 'is' : 'are'} left out: the names, descriptions and schemas of its tools have more than ${limits.definitionBytes} bytes.`,
    );
  }
  if (connection.hasResources && !names.has(RESOURCES)) {
    tools.push(resourceTool(server, connection, limits));
  }
  return { tools, leftOut };
}

function serverTool(
  server: McpServer,
  connection: Connection,
  tool: ServerTool,
  limits: McpLimits,
): Tool {
  const { name, description, inputSchema } = tool;
  const definition = {
    name: mcpToolName(server.name, name),
    description: `A tool of the MCP server ${server.name}. ${description}`.trim(),
    parameters: inputSchema,
  };
  return {
    definition,
    effect: 'write',
    repeatableAfterWrite: true,
    timeoutMs: limits.callMs + AFTER_CALL_MS,
    action: actionOf(server, name, definition),
    async execute(args, context) {
      const wasAsked = connection.broken === null;
      let answer;
      try {
        answer = await connection.callTool(tool, args, context);
      } catch (error) {
        const isUnknown = wasAsked && !isRefusal((error as Error).cause ?? error);
        throw failure(server, error, ...(isUnknown ? [IS_UNKNOWN] : []));
      }
      return toolResult(server.name, answer);
    },
  };
}

function resourceTool(server: McpServer, connection: Connection, limits: McpLimits): Tool {
  const definition = {
    name: mcpToolName(server.name, RESOURCES),
    description: `Reads a resource of the MCP server ${server.name}; without a URI it lists them.`,
    parameters: {
      type: 'object',
      properties: { uri: { type: 'string', description: 'As the list has it' } },
      additionalProperties: false,
    },
  };
  return {
    definition,
    effect: 'read',
    timeoutMs: limits.callMs + AFTER_CALL_MS,
    action: actionOf(server, RESOURCES, definition),
    async execute(args, { signal }) {
      const { uri } = args as { readonly uri?: string };
      try {
        return uri === undefined
          ? resourceResult(server.name, await connection.listResources(signal))
          : resourceResult(server.name, (await connection.readResource(uri, signal)).contents);
      } catch (error) {
        throw failure(server, error);
      }
    },
  };
}

function actionOf(
  server: McpServer,
  tool: string,
  { name, description, parameters }: Tool['definition'],
): NonNullable<Tool['action']> {
  const { place } = server;
  const variables = server.kind === 'stdio' ? Object.keys(server.environment).toSorted() : [];
  const definition = {
    description: sha256(description),
    schema: sha256(canonicalize(parameters) ?? ''),
    command: sha256(JSON.stringify([place, variables])),
  };
  return (args) => ({
    kind: 'mcp',
    server: server.name,
    place,
    tool,
    name,
    arguments: args,
    definition,
  });
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

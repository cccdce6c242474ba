import { randomUUID } from 'node:crypto';

import { defined, KeysInUse, systemClock } from '@orion/contracts';
import type { Clock, Redact } from '@orion/contracts';
import type { McpClient, ServerReport } from '@orion/tool-runner/mcp';
import type { ProgramLog } from '@orion/workspace';

import type { McpOptions } from '../orion.ts';

type Surroundings = {
  readonly clock: Clock;
  readonly redact: Redact;
  /** The workspace. */
  readonly root: string;
};

const NOTHING = { tools: [], leftOut: [] };

/** The client of the configured servers, loaded by the first turn; nothing of it is loaded without servers. */
export function lazyMcpClient(
  options: McpOptions | undefined,
  { clock, redact, root }: Surroundings,
  logOf: (server: string) => ProgramLog,
): Pick<McpClient, 'offer' | 'close'> {
  if (options === undefined || options.servers.length === 0) {
    return { offer: () => Promise.resolve(NOTHING), close: () => Promise.resolve() };
  }
  const logs = new Map<string, ProgramLog>();
  let client: Promise<McpClient> | null = null;
  return {
    async offer(signal) {
      client ??= load(options, { clock, redact, root }, (server, text) => {
        const log = logs.get(server) ?? logOf(server);
        logs.set(server, log);
        log.append(text);
      });
      return (await client).offer(signal);
    },
    async close() {
      await (await client)?.close();
      for (const log of logs.values()) await log.close();
    },
  };
}

/**
 * Starts one of the servers, says what it offers, and ends it. Rejects with TOOL_FAILED if it cannot be used, and with
 * USAGE for a name that is not configured.
 */
export async function inspectMcpServer(
  options: McpOptions,
  name: string,
  {
    signal,
    workspace: root,
    clock = systemClock,
  }: {
    readonly signal: AbortSignal;
    /** The folder that a program is told of as the one to work in. */
    readonly workspace: string;
    readonly clock?: Clock;
  },
): Promise<ServerReport> {
  const { redact } = new KeysInUse(options.secrets);
  const client = await load(options, { clock, redact, root });
  try {
    return await client.inspect(name, signal);
  } finally {
    await client.close();
  }
}

async function load(
  { servers, environment }: McpOptions,
  { clock, redact, root }: Surroundings,
  onStderr?: (server: string, text: string) => void,
): Promise<McpClient> {
  const { createMcpClient } = await import('@orion/tool-runner/mcp');
  return createMcpClient({
    servers,
    environment,
    createId: randomUUID,
    clock,
    redact,
    root,
    ...defined({ onStderr }),
  });
}

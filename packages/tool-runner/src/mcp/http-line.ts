import type { JSONRPCMessage, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { Clock } from '@orion/contracts';

import { isMcpAddress } from './address.ts';
import { boundedFetch } from './http-fetch.ts';
import type { HttpMeter } from './message-stream.ts';
import { ServerBroke } from './server.ts';
import type { HttpServer, McpLimits } from './server.ts';
import { ENDED_EARLY } from './trouble.ts';

/** However soon a server wants to be asked again for a stream that it has ended. */
const SOONEST_RETRY_MS = 100;
/** How long a server may take to end a session. */
const LEAVE_MS = 1_000;
/** JSON-RPC leaves the codes from here to -32099 to implementations. */
const ENDED = -32_000;

type SendOptions = Parameters<StreamableHTTPClientTransport['send']>[1];
type Sdk = typeof import('@modelcontextprotocol/client');

/** A connection over streamable HTTP. A request whose stream ends without an answer fails at once. */
export function httpLine(
  server: HttpServer,
  { limits, clock }: { readonly limits: McpLimits; readonly clock: Clock },
  sdk: Sdk,
): {
  readonly transport: StreamableHTTPClientTransport;
  readonly beginCall: () => void;
  readonly broken: () => ServerBroke | null;
  readonly stderr: () => string;
  readonly leave: () => Promise<void>;
} {
  const url = new URL(server.url);
  if (!isMcpAddress(url, server.allowPlainHttp)) {
    throw new ServerBroke('its URL is neither https nor on this machine');
  }
  const meter: HttpMeter = { messages: 0 };
  let broken: ServerBroke | null = null;
  const transport = new sdk.StreamableHTTPClientTransport(url, {
    requestInit: { headers: { ...server.headers } },
    fetch: boundedFetch(url, limits, meter, (error) => {
      broken ??= error;
      void transport.close();
    }),
    // The server proposes the delay.
    reconnectionScheduler: (reconnect, delay) =>
      clock.schedule(Math.min(Math.max(delay, SOONEST_RETRY_MS), limits.idleMs), reconnect),
  });
  const send = transport.send.bind(transport);
  transport.send = (message: JSONRPCMessage, options?: SendOptions): Promise<void> =>
    send(message, {
      ...options,
      onRequestStreamEnd: () => {
        options?.onRequestStreamEnd?.();
        // Of a request that has its answer nothing is waiting for this one.
        if (!('method' in message) || !('id' in message)) return;
        const error = { code: ENDED, message: ENDED_EARLY };
        transport.onmessage?.({ jsonrpc: '2.0', id: message.id, error });
      },
    });
  return {
    transport,
    beginCall: () => {
      meter.messages = 0;
    },
    broken: () => broken,
    stderr: () => '',
    async leave() {
      const cancel = clock.schedule(LEAVE_MS, () => void transport.close());
      try {
        await transport.terminateSession();
      } catch {
        // It ends by itself, then.
      } finally {
        cancel();
      }
    },
  };
}

import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

import { getRequestListener } from '@hono/node-server';
import { OrionError, sleep, systemClock, toErrorInfo } from '@orion/contracts';
import type { ServerToken } from '@orion/contracts';

import { createApp } from './app.ts';
import { checkOptions } from './configuration.ts';
import type { ServerOptions, ServerSettings } from './configuration.ts';
import { allowedNames } from './front-door/allowed-names.ts';
import { RequestListener } from './front-door/front-door.ts';
import { answerBroken } from './front-door/raw-answers.ts';
import type { ServerLimits } from './limits.ts';
import { createMetrics } from './operation/metrics.ts';
import type { Metrics } from './operation/metrics.ts';
import { createLog } from './operation/request-log.ts';
import type { ServerLog } from './operation/request-log.ts';

export type RunningServer = {
  /** `http://` with the address and the port that was taken. */
  readonly url: string;
  /** The token that the state directory keeps; null if one was given. */
  readonly keptToken: ServerToken | null;
  /**
   * Fails `/health/ready` at once, takes no new requests, waits for those in progress, then closes every connection.
   * Waits at most `drainMs`, 30,000 when left out. May be called twice; the first call decides.
   */
  stop(options?: { readonly drainMs?: number }): Promise<void>;
};

const DRAIN_MS = 30_000;
/** How often connections are looked at whose requests do not arrive. */
const CHECK_MS = 1000;

/**
 * Starts a server. Rejects with CONFIG_INVALID, which lists everything that is wrong with the options or says why the
 * port cannot be taken, and with the disk errors of the state directory.
 */
export async function startServer(options: ServerOptions): Promise<RunningServer> {
  const settings = checkOptions(options);
  const { orion, clock = systemClock } = options;
  const { limits, processName } = settings;
  const keptToken = settings.token === null ? await orion.serverFiles.keepServerToken() : null;
  const log = createLog(options.log ?? process.stderr, processName);
  const server = createServer(serverOptions(limits));
  const port = await listen(server, settings, limits);
  let isStopping = false;
  // The rest needs the port, and answers no request before it is here: there is no await in between.
  const listener = new RequestListener({
    door: {
      ...allowedNames({ host: settings.host, port }, settings.allowHosts),
      token: settings.token ?? keptToken?.token ?? '',
    },
    limits,
    clock,
    log,
    metrics: () => metrics,
    isStopping: () => isStopping,
    route: (request, response) => routes(request, response),
  });
  const metrics: Metrics = createMetrics({
    processName,
    orion,
    requestsInProgress: () => listener.inProgress(),
    connections: () => connectionsOf(server),
  });
  const app = createApp({
    orion,
    clock,
    log,
    metrics: () => metrics,
    isStopping: () => isStopping,
    factsOf: (context) => listener.factsOf(context.env.incoming),
  });
  const routes = getRequestListener(app.fetch, { overrideGlobalObjects: false });
  attach(server, listener, log);
  const host = settings.host.includes(':') ? `[${settings.host}]` : settings.host;
  const address = { url: `http://${host}:${port}`, pid: process.pid };

  async function stop(drainMs: number): Promise<void> {
    isStopping = true;
    const drained = new AbortController();
    await orion.serverFiles.withdrawServer(address);
    await Promise.race([
      listener.idle().then(() => drained.abort()),
      sleep(clock, drainMs, drained.signal),
    ]);
    const closed = new Promise((resolve) => server.close(resolve));
    server.closeAllConnections();
    await closed;
    metrics.close();
  }

  let stopped: Promise<void> | null = null;
  const running: RunningServer = {
    url: address.url,
    keptToken,
    stop: ({ drainMs = DRAIN_MS } = {}) => (stopped ??= stop(drainMs)),
  };
  try {
    await orion.serverFiles.announceServer(address);
  } catch (error) {
    await running.stop({ drainMs: 0 });
    throw error;
  }
  return running;
}

function serverOptions({
  headerBytes,
  headerMs,
}: ServerLimits): Parameters<typeof createServer>[0] {
  return {
    maxHeaderSize: headerBytes,
    headersTimeout: headerMs,
    // A body has limits of its own: an upload may take its time as long as it moves.
    requestTimeout: 0,
    connectionsCheckingInterval: Math.min(CHECK_MS, headerMs),
    // The front door answers it in its own words.
    requireHostHeader: false,
  };
}

async function listen(
  server: Server,
  { host, port }: ServerSettings,
  { idleMs, connections }: ServerLimits,
): Promise<number> {
  server.setTimeout(idleMs);
  server.maxConnections = connections;
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => {
      const { message } = toErrorInfo(error);
      const hint = 'Choose another port or address, or stop the program that uses it.';
      reject(new OrionError({ code: 'CONFIG_INVALID', message, hint, cause: error }));
    });
    server.listen({ host, port }, resolve);
  });
  return (server.address() as AddressInfo).port;
}

function attach(server: Server, listener: RequestListener, log: ServerLog): void {
  const handle =
    (expectsContinue: boolean) =>
    (request: IncomingMessage, response: ServerResponse): void => {
      void listener.handle(request, response, expectsContinue);
    };
  server.on('request', handle(false));
  server.on('checkContinue', handle(true));
  server.on('checkExpectation', handle(false));
  server.on('clientError', (error, socket) => {
    const { status, body } = answerBroken(error, socket, listener.isAnswering(socket));
    log.note(`request not read: ${status} ${body.error.code}`);
  });
  // Such as too many open files: the next connection may be taken again.
  server.on('error', (error) => log.note(`connection not taken: ${toErrorInfo(error).code}`));
}

function connectionsOf(server: Server): Promise<number> {
  return new Promise((resolve) => {
    server.getConnections((error, count) => resolve(error === null ? count : 0));
  });
}

import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

import { defined, OrionError, sleep, systemClock, toErrorInfo } from '@orion/contracts';
import type { Clock, Redact, ServerAddress, ServerToken } from '@orion/contracts';

import { checkOptions } from './configuration.ts';
import type { ServerOptions, ServerSettings } from './configuration.ts';
import { connectRoutes } from './connect-routes.ts';
import { ownUrl } from './front-door/allowed-names.ts';
import type { RequestListener } from './front-door/front-door.ts';
import { answerBroken } from './front-door/raw-answers.ts';
import type { ServerLimits } from './limits.ts';
import { watchEventLoop } from './operation/event-loop-delay.ts';
import type { EventLoopDelay } from './operation/event-loop-delay.ts';
import type { Metrics } from './operation/metrics.ts';
import { createLog } from './operation/request-log.ts';
import type { ServerLog } from './operation/request-log.ts';
import { openPage } from './page/page.ts';
import { projectsOf } from './projects.ts';
import type { EventStreams } from './sse/event-streams.ts';
import { openTurns } from './turns/open-turns.ts';
import type { ServedTurnsHere } from './turns/open-turns.ts';

export type RunningServer = {
  /** `http://` with the address and the port that was taken. */
  readonly url: string;
  /** The token that the state directory keeps; null if one was given. */
  readonly keptToken: ServerToken | null;
  /** Aborted when another process serves the store, which may happen after a broken connection to the database. */
  readonly lost: AbortSignal;
  /** How many turns run in this process, and how many more wait in it for a person, which a stop does not. */
  runningTurns(): { readonly working: number; readonly resting: number };
  /** A new log-in link of the page, which counts once and for five minutes; null where the page was not built. */
  pageLink(): string | null;
  /**
   * Fails `/health/ready` at once, takes no new requests and no further turn, and waits for those in progress, at most
   * `drainMs`, 30,000 when left out. What is not over then is saved and given back, for the next process. Then it ends
   * the streams and closes every connection. May be called again: with `drainMs: 0` it cuts the first call's wait short,
   * and otherwise it only waits for the same end.
   */
  stop(options?: { readonly drainMs?: number }): Promise<void>;
};

const DRAIN_MS = 30_000;
/** For streams to say that they end, and for answers that are under way. */
const LAST_WORDS_MS = 500;
/** How often connections are looked at whose requests do not arrive. */
const CHECK_MS = 1000;

/**
 * Starts a server, and the turns that an earlier one left behind. Rejects with CONFIG_INVALID, which lists everything
 * that is wrong with the options or says why the port cannot be taken, with STORE_IN_USE while another process serves
 * the store and does not share it, and with the errors of the store and of the state directory.
 */
export async function startServer(options: ServerOptions): Promise<RunningServer> {
  const settings = checkOptions(options);
  const { orion, clock = systemClock, pid = process.pid } = options;
  const projects = projectsOf(orion, options.projects);
  const { limits, projectLimits, processName } = settings;
  const keptToken = settings.token === null ? await orion.serverFiles.keepServerToken() : null;
  const token = settings.token ?? keptToken?.token ?? '';
  // Nothing that is shown or stored may hold it, like any other key.
  for (const { keys } of projects.all) keys.add(token);
  const redact: Redact = (text) =>
    projects.all.reduce((clean, { keys }) => keys.redact(clean), text);
  const sink = options.log ?? process.stderr;
  const log = createLog(
    { write: (line) => sink.write(redact(line)) },
    processName,
    options.logLevel,
  );
  const page = await openPage({ orion, token, clock, basePath: settings.basePath });
  const server = createServer(serverOptions(limits));
  let isStopping = false;
  const turns = await openTurns({
    orion,
    projects,
    limits,
    projectLimits,
    clock,
    eventLoopDelayMs: () => eventLoop.p99Ms(),
    log,
    onEvent: (event) => metrics.turn(event),
    isStopping: () => isStopping,
    ...defined({ queue: options.queue }),
  });
  const port = await listen(server, settings, limits).catch(async (error: unknown) => {
    await turns.stop(0);
    await turns.hold.release();
    throw error;
  });
  const eventLoop = watchEventLoop();
  const { listener, streams, metrics } = connectRoutes({
    orion,
    projects,
    settings,
    port,
    token,
    page,
    turns,
    clock,
    log,
    redact,
    connections: () => connectionsOf(server),
    isStopping: () => isStopping,
  });
  attach(server, listener, { log, limits });
  const address = { url: ownUrl({ host: settings.host, port }), pid };

  const stop = (drainMs: number): Promise<void> => {
    isStopping = true;
    return shutDown(
      { orion, address, clock, turns, streams, listener, server, metrics, eventLoop },
      { drainMs, cut: cut.signal },
    );
  };
  const cut = new AbortController();
  let stopped: Promise<void> | null = null;
  const running: RunningServer = {
    url: address.url,
    keptToken,
    lost: turns.hold.lost,
    runningTurns: () => {
      const resting = turns.resting();
      return { working: turns.running() - resting, resting };
    },
    pageLink: () => (page.files.has('/') ? `${address.url}${page.linkPath()}` : null),
    stop: ({ drainMs = DRAIN_MS } = {}) => {
      if (drainMs === 0) cut.abort();
      return (stopped ??= stop(drainMs));
    },
  };
  try {
    await orion.serverFiles.announceServer(address);
    await turns.hold.announce(address.url);
  } catch (error) {
    await running.stop({ drainMs: 0 });
    throw error;
  }
  turns.start();
  turns.hold.lost.addEventListener('abort', () => void running.stop({ drainMs: 0 }), {
    once: true,
  });
  return running;
}

type Serving = Pick<ServerOptions, 'orion'> & {
  readonly address: ServerAddress;
  readonly clock: Clock;
  readonly turns: ServedTurnsHere;
  readonly streams: EventStreams;
  readonly listener: RequestListener;
  readonly server: Server;
  readonly metrics: Metrics;
  readonly eventLoop: EventLoopDelay;
};

async function shutDown(
  { orion, address, clock, turns, streams, listener, server, metrics, eventLoop }: Serving,
  { drainMs, cut }: { readonly drainMs: number; readonly cut: AbortSignal },
): Promise<void> {
  const end = clock.monotonic() + drainMs;
  // A worker has the address in common with others, which serve on; it counts for as long as their parent runs.
  const withdrawn = address.pid === process.pid ? orion.serverFiles.withdrawServer(address) : null;
  await Promise.all([withdrawn, turns.stop(drainMs, cut)]);
  streams.end();
  const drained = new AbortController();
  void listener.idle().then(() => drained.abort());
  await sleep(clock, Math.max(0, end - LAST_WORDS_MS - clock.monotonic()), drained.signal, cut);
  await sleep(clock, LAST_WORDS_MS, drained.signal);
  const closed = new Promise((resolve) => server.close(resolve));
  server.closeAllConnections();
  await closed;
  await streams.settled();
  metrics.close();
  eventLoop.close();
  await turns.hold.release();
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
  { connections }: ServerLimits,
): Promise<number> {
  server.maxConnections = connections;
  // Otherwise workers hand a connection that is too many round among themselves. The types of Node lack it.
  Object.assign(server, { dropMaxConnection: true });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(notListening(error)));
    server.listen({ host, port }, resolve);
  });
  return (server.address() as AddressInfo).port;
}

/** For a port or address that cannot be had. */
export function notListening(error: unknown): OrionError {
  const { message } = toErrorInfo(error);
  const hint = 'Choose another port or address, or stop the program that uses it.';
  return new OrionError({ code: 'CONFIG_INVALID', message, hint, cause: error });
}

function attach(
  server: Server,
  listener: RequestListener,
  { log, limits }: { readonly log: ServerLog; readonly limits: ServerLimits },
): void {
  server.setTimeout(limits.idleMs, (socket) => {
    // A client whose request is here waits for this process, which may wait a minute for its store.
    if (!listener.isOwing(socket)) socket.destroy();
  });
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

/** Everything between a socket and the routes. */
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

import type { Clock } from '@orion/contracts';

import { httpError } from '../answers/http-error.ts';
import type { HttpError } from '../answers/http-error.ts';
import { whenClosed } from '../answers/when-closed.ts';
import type { ServerLimits } from '../limits.ts';
import type { Metrics } from '../operation/metrics.ts';
import type { ServerLog } from '../operation/request-log.ts';
import { admit, pathOf } from './admit.ts';
import type { Access, FrontDoor } from './admit.ts';
import { forwardedOf } from './forwarded.ts';
import type { TrustedProxies } from './forwarded.ts';
import { RateLimit } from './rate-limit.ts';
import { answerError, COMMON_HEADERS, DISCARDED, discardedBody } from './raw-answers.ts';
import { readJsonBody } from './read-body.ts';

/** What the routes and the front door know of a request. */
export type RequestFacts = {
  readonly id: string;
  /** The address that it comes from, as far as that is known. */
  readonly client: string;
  /** The pattern of the route that answered. */
  route: string;
  /** The code of an answer that is an error. */
  code?: string;
};

export type FrontDoorOptions = {
  readonly door: FrontDoor;
  readonly proxies: TrustedProxies;
  /** What a proxy may leave in front of each path; empty if it leaves nothing. */
  readonly basePath: string;
  readonly limits: ServerLimits;
  readonly clock: Clock;
  readonly log: ServerLog;
  readonly metrics: () => Metrics;
  readonly isStopping: () => boolean;
  /** Answers an admitted request; `rawBody` holds its JSON. */
  readonly route: (request: IncomingMessage, response: ServerResponse) => Promise<void>;
};

const NOT_ROUTED = 'none';
const PROBES: ReadonlySet<string> = new Set(['/health/live', '/health/ready']);

export class RequestListener {
  readonly #options: FrontDoorOptions;
  readonly #facts: WeakMap<IncomingMessage, RequestFacts> = new WeakMap();
  readonly #limits: Readonly<Record<Access, RateLimit>>;
  readonly #responses: WeakMap<Duplex, ServerResponse> = new WeakMap();
  #inProgress = 0;
  #onIdle: (() => void)[] = [];

  constructor(options: FrontDoorOptions) {
    this.#options = options;
    const { clock, limits } = options;
    this.#limits = {
      open: new RateLimit(clock, limits.opensPerSecond),
      read: new RateLimit(clock, limits.readsPerSecond),
      change: new RateLimit(clock, limits.changesPerSecond),
      stranger: new RateLimit(clock, limits.refusalsPerSecond),
    };
  }

  /** Without those about health. */
  inProgress(): number {
    return this.#inProgress;
  }

  /** Resolves when no request is in progress. */
  idle(): Promise<void> {
    if (this.#inProgress === 0) return Promise.resolve();
    return new Promise((resolve) => this.#onIdle.push(resolve));
  }

  /** Whether what is sent on this connection now would be taken for a part of an answer, or for that of a request that runs. */
  isAnswering(socket: Duplex): boolean {
    const response = this.#responses.get(socket);
    return response !== undefined && (response.headersSent || response.req.complete);
  }

  /** Whether a request that has come whole has no answer yet, and nothing of one is left that its client does not take. */
  isOwing(socket: Socket): boolean {
    const response = this.#responses.get(socket);
    if (response === undefined || response.writableFinished) return false;
    return response.req.complete && socket.writableLength === 0;
  }

  factsOf(request: IncomingMessage): RequestFacts {
    return this.#facts.get(request) ?? { id: '', client: '', route: NOT_ROUTED };
  }

  /** Never rejects. `expectsContinue`: the client sends its body once it is told to. */
  async handle(
    request: IncomingMessage,
    response: ServerResponse,
    expectsContinue: boolean,
  ): Promise<void> {
    const { door, limits, clock, route, proxies, basePath } = this.#options;
    const { host, client } = forwardedOf(
      request.socket.remoteAddress,
      (name) => request.headersDistinct[name] ?? [],
      proxies,
    );
    const facts: RequestFacts = { id: randomUUID(), client, route: NOT_ROUTED };
    this.#facts.set(request, facts);
    request.url = withoutBase(request.url ?? '', basePath);
    this.#observe(request, response, facts);
    response.on('error', () => undefined);
    for (const [name, value] of Object.entries(COMMON_HEADERS)) response.setHeader(name, value);
    response.setHeader('x-request-id', facts.id);
    let isBodyComing = !expectsContinue;
    const refuse = (error: HttpError): void => {
      const { code } = error.body.error;
      facts.code = code;
      const discarded = code === 'BODY_TOO_LARGE' ? discardedBody(limits) : DISCARDED;
      answerError(request, response, error, clock, isBodyComing ? discarded : null);
    };
    const takeBody = (): void => {
      if (expectsContinue) response.writeContinue();
      isBodyComing = true;
    };
    const { rawHeaders, httpVersion: version } = request;
    const head = { method: request.method ?? '', target: request.url, version };
    // A session of the page has a dot, and a token that the server has made none.
    if (request.headers.authorization?.includes('.') === true) await door.page.refresh();
    const admission = admit({ ...head, rawHeaders, forwardedHost: host }, door);
    // One look answers all probes of a second. Were they limited, anybody could have the server restarted.
    const isProbe = admission.kind === 'admitted' && PROBES.has(pathOf(head.target));
    const limited = isProbe ? null : this.#limits[admission.access].take();
    if (limited !== null) return refuse(tooMany(limited));
    if (admission.kind === 'refused') return refuse(admission.error);
    if (this.#options.isStopping()) {
      response.setHeader('connection', 'close');
      if (!isProbe) {
        return refuse(
          httpError('SERVER_STOPPING', 'The server is stopping.', { 'retry-after': '5' }),
        );
      }
    }
    if (admission.body === 'json') {
      const body = await readJsonBody(request, { ...limits, clock, takeBody });
      if (body.kind === 'broken') return;
      if (body.kind === 'refused') return refuse(body.error);
      Object.assign(request, { rawBody: body.bytes });
    } else takeBody();
    await route(request, response);
  }

  #observe(request: IncomingMessage, response: ServerResponse, facts: RequestFacts): void {
    const { clock, log, metrics } = this.#options;
    const began = clock.monotonic();
    const method = request.method ?? '';
    const path = pathOf(request.url ?? '');
    const counts = !PROBES.has(path);
    if (counts) this.#inProgress += 1;
    const { socket } = request;
    this.#responses.set(socket, response);
    const sentBefore = socket.bytesWritten;
    whenClosed(response, () => {
      // What is left of a request that was refused may still be found too slow: it has its answer.
      if (request.complete && this.#responses.get(socket) === response)
        this.#responses.delete(socket);
      if (counts) this.#inProgress -= 1;
      if (this.#inProgress === 0) for (const resolve of this.#onIdle.splice(0)) resolve();
      const ms = Math.round(clock.monotonic() - began);
      const { id, client, route, code } = facts;
      const status = response.statusCode;
      metrics().request({ method: knownMethod(method), route, status, ms });
      log.request({
        id,
        client,
        method,
        path,
        status,
        ...(code === undefined ? {} : { code }),
        ms,
        bytes: socket.bytesWritten - sentBefore,
        ...(response.writableFinished ? {} : { aborted: true }),
      });
    });
  }
}

/** A proxy may pass the base path on or take it away; both lead to the same route. */
function withoutBase(target: string, basePath: string): string {
  if (basePath === '' || !target.startsWith(basePath)) return target;
  const rest = target.slice(basePath.length);
  if (rest.startsWith('/')) return rest;
  return rest === '' || rest.startsWith('?') ? `/${rest}` : target;
}

function tooMany(seconds: number): HttpError {
  return httpError(
    'RATE_LIMITED',
    'This process cannot accept more requests of this kind at the moment.',
    {
      'retry-after': String(seconds),
    },
  );
}

/** A client may send any method, and each would make a series of its own. */
function knownMethod(method: string): string {
  return ['GET', 'HEAD', 'POST', 'PUT', 'DELETE'].includes(method) ? method : 'other';
}

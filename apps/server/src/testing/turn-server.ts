/** The routes on a real port, with turns that a test writes into the log by hand, as their owners would. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

import { getRequestListener } from '@hono/node-server';
import { createOrion } from '@orion/agent';
import type { Orion, OrionOptions } from '@orion/agent';
import { OrionError, systemClock } from '@orion/contracts';
import type {
  Clock,
  RequestKey,
  RunEvent,
  RunEventBody,
  ServedTurn,
  TurnSubmission,
} from '@orion/contracts';
import { onTestFinished } from 'vitest';

import { createApp } from '../app.ts';
import { DEFAULT_LIMITS } from '../limits.ts';
import { countSessions } from '../operation/session-counts.ts';
import { openPage } from '../page/page.ts';
import { projectsOf } from '../projects.ts';
import { EventStreams } from '../sse/event-streams.ts';
import { temporaryDirectory } from './test-server.ts';

export type TurnServer = {
  readonly port: number;
  readonly orion: Orion;
  readonly streams: EventStreams;
  /** What was submitted, in order; each is `turn-1`, `turn-2` … */
  readonly submitted: readonly (TurnSubmission & { readonly key: RequestKey | null })[];
  /** A turn that clients may read, and who writes it. */
  readonly begin: (turnId: string) => Promise<TurnWriter>;
  readonly failures: unknown[];
};

export type TurnWriter = {
  readonly turnId: string;
  /** Appends the next events; a `done` ends the turn. */
  readonly write: (...bodies: readonly RunEventBody[]) => Promise<readonly RunEvent[]>;
};

export const text = (content: string): RunEventBody => ({
  type: 'chunk',
  content,
  source: 'model',
});

export const done = (fullContent = ''): RunEventBody => ({
  type: 'done',
  fullContent,
  status: 'complete',
  protocolReason: 'default',
});

export async function startTurnServer(
  options: { readonly clock?: Clock; readonly perClient?: number } = {},
  orionOptions: Partial<OrionOptions> = {},
): Promise<TurnServer> {
  const { clock = systemClock, perClient = 1_000 } = options;
  const workspace = await temporaryDirectory();
  const orion = await createOrion({ workspace, store: 'memory', ...orionOptions });
  onTestFinished(() => orion.close());
  const { turnLog } = orion.store;
  const failures: unknown[] = [];
  const streams = new EventStreams({
    clock,
    perClient,
    onFailure: (error) => failures.push(error),
  });
  const turns = new Map<string, ServedTurn>();
  const submitted: (TurnSubmission & { readonly key: RequestKey | null })[] = [];
  const facts = { id: 'x', client: '127.0.0.1', route: 'none' };
  const app = createApp({
    orion,
    projects: projectsOf(orion),
    basePath: '/base',
    redact: (text) => text,
    page: await openPage({ orion, token: 'token', clock, basePath: '/base' }),
    clock,
    limits: DEFAULT_LIMITS,
    streams,
    turns: {
      submit(submission, key) {
        submitted.push({ ...submission, key });
        const turn = newTurn(`turn-${submitted.length}`, submission);
        turns.set(turn.turnId, turn);
        return Promise.resolve({ turn, isRepeat: false });
      },
      find: (turnId) => Promise.resolve(turns.get(turnId) ?? null),
      list: ({ limit }) => Promise.resolve([...turns.values()].toReversed().slice(0, limit)),
      cancel: (turnId) => {
        const state = turns.get(turnId)?.state;
        if (state === undefined) return Promise.resolve('unknown');
        return Promise.resolve(state === 'done' ? 'finished' : 'requested');
      },
      log: turnLog,
    },
    log: { request() {}, defect: (_id, error) => failures.push(error), note() {}, warn() {} },
    metrics: () => {
      throw new OrionError({ code: 'INTERNAL_ERROR', message: 'No metrics here' });
    },
    sessions: countSessions([orion], clock),
    isStopping: () => false,
    factsOf: () => facts,
  });
  const listener = getRequestListener(app.fetch, { overrideGlobalObjects: false });
  const server = createServer((request, response) => void listener(request, response));
  await new Promise<void>((resolve) => server.listen({ host: '127.0.0.1', port: 0 }, resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
    return streams.settled();
  });

  return {
    port: (server.address() as AddressInfo).port,
    orion,
    streams,
    submitted,
    failures,
    async begin(turnId) {
      const { epoch, lastSeq } = await turnLog.acquire(turnId, null);
      let seq = lastSeq;
      turns.set(turnId, { ...(turns.get(turnId) ?? newTurn(turnId)), state: 'running' });
      return {
        turnId,
        async write(...bodies) {
          const events = bodies.map((body) => stamped(body, turnId, (seq += 1)));
          const logged = events.map(({ seq: number, type, ...data }) => ({
            seq: number,
            kind: type,
            data: data as never,
          }));
          await turnLog.append(turnId, epoch, logged[0]?.seq ?? 0, logged);
          const turn = turns.get(turnId) ?? newTurn(turnId);
          const state = events.at(-1)?.type === 'done' ? 'done' : 'running';
          turns.set(turnId, { ...turn, lastSeq: seq, state });
          return events;
        },
      };
    },
  };
}

function stamped(body: RunEventBody, requestId: string, seq: number): RunEvent {
  const place = { phase: 'action', phaseIndex: 0, cycleIndex: 0 } as const;
  const ids = { requestId, projectId: 'p', conversationId: 'c', protocol: 'standard' };
  return { seq, ...ids, ...place, ...body };
}

function newTurn(turnId: string, submission?: TurnSubmission): ServedTurn {
  return {
    turnId,
    projectId: submission?.projectId ?? 'p',
    conversationId: submission?.conversationId ?? 'c',
    mode: submission?.mode ?? 'act',
    protocol: submission?.protocol ?? null,
    state: 'queued',
    status: null,
    lastSeq: 0,
    cancelRequested: false,
    createdAt: 0,
    finishedAt: null,
  };
}

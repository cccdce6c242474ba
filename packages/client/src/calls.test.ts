// Each call asks for what its name says, ends with its signal, and is sent again only where that changes nothing.
import type { Clock } from '@orion/contracts';
import { describe, expect, it } from 'vitest';

import { createOrionClient } from './client.ts';
import type { OrionClient } from './client.ts';
import type { CallOptions } from './connection.ts';
import { hurriedClock } from './testing/hurried-clock.ts';
import { broken, failure, foreign, json, startScriptedServer } from './testing/scripted-server.ts';
import type { Step } from './testing/scripted-server.ts';

const hurried = hurriedClock();

async function clientOf(steps: readonly Step[]) {
  const { url, asked } = await startScriptedServer(steps);
  return { asked, client: createOrionClient({ url, token: 'secret', clock: hurried }) };
}

type Call = (client: OrionClient, options: CallOptions) => Promise<unknown>;

const S = '/api/write-sessions/a%2Fb';
const O = '/api/tool-outputs/o%20';
const GET_ALL: readonly (readonly [Call, string])[] = [
  [(c, o) => c.turns.get('t/1', o), 'GET /api/turns/t%2F1'],
  [(c, o) => c.turns.list({ limit: 2 }, o), 'GET /api/turns?limit=2'],
  [(c, o) => c.turns.poll('t', { wait: 5 }, o), 'GET /api/turns/t/events?wait=5'],
  [(c, o) => c.approvals.list({ limit: 2 }, o), 'GET /api/approvals?limit=2'],
  [(c, o) => c.approvals.get('a', o), 'GET /api/approvals/a'],
  [(c, o) => c.conversations.list({ limit: 2 }, o), 'GET /api/conversations?limit=2'],
  [(c, o) => c.conversations.get('c', { before: 2 }, o), 'GET /api/conversations/c?before=2'],
  [(c, o) => c.writeSessions.get('a/b', o), `GET ${S}`],
  [(c, o) => c.writeSessions.list({ projectId: 'p' }, o), 'GET /api/write-sessions?projectId=p'],
  [(c, o) => c.writeSessions.diff('a/b', o), `GET ${S}/diff`],
  [(c, o) => c.changes.list({ limit: 2 }, o), 'GET /api/changes?limit=2'],
  [(c, o) => c.changes.diff('x', { projectId: 'p' }, o), 'GET /api/changes/x/diff?projectId=p'],
  [(c, o) => c.traces.list({ limit: 2 }, o), 'GET /api/traces?limit=2'],
  [(c, o) => c.traces.get('r', { limit: 2 }, o), 'GET /api/traces?limit=2&requestId=r'],
  [(c, o) => c.traces.event('r', 7, o), 'GET /api/traces/r/events/7'],
  [(c, o) => c.toolOutputs.list({ limit: 2 }, o), 'GET /api/tool-outputs?limit=2'],
  [(c, o) => c.toolOutputs.get('o ', { limit: 2 }, o), `GET ${O}?limit=2`],
  [(c, o) => c.toolOutputs.stats('o ', { max_depth: 2 }, o), `GET ${O}/stats?max_depth=2`],
  [(c, o) => c.health.live(o), 'GET /health/live'],
  [(c, o) => c.health.ready(o), 'GET /health/ready'],
];
const BODY = { paths: ['$'] };
const SCOPE = { scope: { conversation_id: 'c' } };
const BEGIN = { intent: 'i', target_file: 'f', operation: 'create' } as const;
const PLAN = { intent: 'i', operations: [] } as never;
/** With what they send. `safe`: sent again by itself; `named`: under one key. */
const CHANGES: readonly (readonly [Call, string, unknown, 'safe' | 'named' | 'once'])[] = [
  [
    (c, o) => c.messages.send({ content: 'x' }, o),
    'POST /api/chat/messages',
    { content: 'x' },
    'named',
  ],
  [(c, o) => c.turns.cancel('t', o), 'POST /api/turns/t/cancel', {}, 'safe'],
  [(c, o) => c.approvals.decide('a', BODY as never, o), 'POST /api/approvals/a', BODY, 'once'],
  [(c, o) => c.writeSessions.begin(BEGIN, o), 'POST /api/write-sessions', BEGIN, 'named'],
  [
    (c, o) => c.writeSessions.finalize('a/b', { bytes: 1 }, o),
    `POST ${S}/finalize`,
    { bytes: 1 },
    'named',
  ],
  [
    (c, o) => c.writeSessions.correct('a/b', BODY as never, o),
    `POST ${S}/corrections`,
    BODY,
    'once',
  ],
  [
    (c, o) => c.writeSessions.recover('a/b', { finalize: true }, o),
    `POST ${S}/recover`,
    { finalize: true },
    'once',
  ],
  [(c, o) => c.writeSessions.discard('a/b', o), `DELETE ${S}`, null, 'once'],
  [
    (c, o) => c.changes.undo('x', { force: true }, o),
    'POST /api/changes/x/undo',
    { force: true },
    'once',
  ],
  [(c, o) => c.plans.preview(PLAN, o), 'POST /api/plans/preview', PLAN, 'safe'],
  [(c, o) => c.plans.apply(PLAN, o), 'POST /api/plans/apply', PLAN, 'once'],
  [
    (c, o) => c.toolOutputs.extract('o ', BODY, { ...o, ...SCOPE }),
    `POST ${O}/extract?conversation_id=c`,
    BODY,
    'safe',
  ],
  [(c, o) => c.toolOutputs.count('o ', BODY as never, o), `POST ${O}/count`, BODY, 'safe'],
  [(c, o) => c.toolOutputs.sample('o ', BODY as never, o), `POST ${O}/sample`, BODY, 'safe'],
];
const ALL = [...GET_ALL.map(([call, asks]) => [call, asks, null, 'safe'] as const), ...CHANGES];

it.each(ALL.map((row) => [row[1], row] as const))('%s', async (asks, [call, , body, again]) => {
  const { client, asked } = await clientOf([broken, json(200, { ok: 1 })]);
  const outcome = await call(client, {}).catch((error: unknown) => error);
  if (again === 'once') expect(outcome).toMatchObject({ code: 'UNREACHABLE', status: 0 });
  else expect(outcome).toEqual({ ok: 1 });
  const sent = asked.map(({ method, url }) => `${method} ${url}`);
  expect(sent).toEqual(again === 'once' ? [asks] : [asks, asks]);
  expect(asked[0]?.body).toBe(body === null ? '' : JSON.stringify(body));
  const keys = new Set(asked.map(({ headers }) => headers['idempotency-key']));
  expect([keys.size, typeof [...keys][0]]).toEqual([1, again === 'named' ? 'string' : 'undefined']);
  await expect(call(client, { signal: AbortSignal.abort() })).rejects.toMatchObject({
    name: 'AbortError',
  });
  expect(asked).toHaveLength(sent.length);
});

describe('an upload', () => {
  const text = Buffer.from('0123456789');
  const open = (bytes: number): Step => json(200, { status: 'open', bytes });

  it('continues behind what has arrived, however often its connection breaks', async () => {
    const { client, asked } = await clientOf([open(0), broken, open(4), broken, open(7), open(10)]);
    expect(await client.writeSessions.upload('s', text)).toEqual({ status: 'open', bytes: 10 });
    const puts = asked.filter(({ method }) => method === 'PUT');
    expect(puts.map(({ url, body }) => [url, body])).toEqual([
      ['/api/write-sessions/s/content?offset=0', '0123456789'],
      ['/api/write-sessions/s/content?offset=4', '456789'],
      ['/api/write-sessions/s/content?offset=7', '789'],
    ]);
  });

  it('waits for the connection that still has its session', async () => {
    const { client } = await clientOf([
      open(0),
      failure(409, 'SESSION_BUSY'),
      open(0),
      failure(409, 'OFFSET_MISMATCH'),
      open(10),
    ]);
    expect(await client.writeSessions.upload('s', text)).toMatchObject({ bytes: 10 });
  });

  it('ends after six connections that bring nothing, and at once for what does not pass', async () => {
    const idle = await clientOf(
      Array.from({ length: 40 }, (_, n) => (n % 2 === 0 ? open(3) : broken)),
    );
    await expect(idle.client.writeSessions.upload('s', text)).rejects.toMatchObject({
      code: 'UNREACHABLE',
    });
    expect(idle.asked.filter(({ method }) => method === 'PUT')).toHaveLength(6);
    const full = await clientOf([open(0), failure(507, 'DISK_FULL')]);
    await expect(full.client.writeSessions.upload('s', text)).rejects.toMatchObject({
      code: 'DISK_FULL',
      status: 507,
    });
    expect(full.asked).toHaveLength(2);
    const other = await clientOf([open(11)]);
    await expect(other.client.writeSessions.upload('s', text)).rejects.toMatchObject({
      code: 'OFFSET_MISMATCH',
      details: { offset: 11 },
    });
    expect(other.asked).toHaveLength(1);
    const written = await clientOf([json(200, { status: 'done' })]);
    await expect(written.client.writeSessions.upload('s', text)).rejects.toMatchObject({
      code: 'SESSION_WRITTEN',
    });
  });
});

describe('a session that is still held by a connection that is gone', () => {
  const text = Buffer.from('0123456789');

  /** Its time passes with the pauses. The session is free after so many milliseconds; then each answer is `free`. */
  async function heldFor(heldMs: number, free: object, before: readonly Step[] = []) {
    let time = 0;
    const clock: Clock = {
      ...hurriedClock((milliseconds) => {
        time += milliseconds;
      }),
      monotonic: () => time,
    };
    const answer: Step = (response) => {
      if (response.req.method === 'GET') json(200, { status: 'in_use', bytes: 0 })(response);
      else if (time < heldMs) failure(409, 'SESSION_BUSY')(response);
      else json(200, free)(response);
    };
    const { url, asked } = await startScriptedServer([...before, answer]);
    const client = createOrionClient({ url, token: 'secret', clock });
    return { client, asked, passed: () => time };
  }

  it('is waited for by an upload: 15 s for the server to notice, a minute for another server', async () => {
    const stored = { status: 'open', bytes: 10 };
    for (const heldMs of [15_000, 75_000]) {
      const { client, passed } = await heldFor(heldMs, stored);
      expect(await client.writeSessions.upload('s', text)).toEqual(stored);
      expect(passed()).toBeLessThan(heldMs + 10_000);
    }
  });

  it('is given up in the end', async () => {
    const { client, passed } = await heldFor(Number.POSITIVE_INFINITY, {});
    await expect(client.writeSessions.upload('s', text)).rejects.toMatchObject({
      code: 'SESSION_BUSY',
    });
    expect(passed()).toBeGreaterThan(75_000);
    expect(passed()).toBeLessThan(100_000);
  });

  it('is waited for by the repetition of a finalize, and by that alone', async () => {
    const written = { status: 'done' };
    const repeated = await heldFor(20_000, written, [broken]);
    expect(await repeated.client.writeSessions.finalize('s')).toEqual(written);
    const first = await heldFor(20_000, written);
    await expect(first.client.writeSessions.finalize('s')).rejects.toMatchObject({
      code: 'SESSION_BUSY',
    });
    expect(first.asked).toHaveLength(1);
    const unending = await heldFor(Number.POSITIVE_INFINITY, written, [broken]);
    await expect(unending.client.writeSessions.finalize('s')).rejects.toMatchObject({
      code: 'SESSION_BUSY',
    });
  });
});

it.each([
  [{}, undefined],
  [{ from: 2 }, 'bytes=2-'],
  [{ to: 5 }, 'bytes=0-4'],
  [{ from: 2, to: 5 }, 'bytes=2-4'],
])('content of %j is the range %s', async (range, header) => {
  const { client, asked } = await clientOf([
    (response) => response.writeHead(200).end(Buffer.from([0, 255])),
  ]);
  const bytes = await client.writeSessions.content('a/b', range);
  expect([...bytes]).toEqual([0, 255]);
  expect([asked[0]?.url, asked[0]?.headers.range]).toEqual([`${S}/content`, header]);
});

it('bytes are sent and read until the caller aborts', async () => {
  const { client, asked } = await clientOf([]);
  const call = { signal: AbortSignal.abort() };
  const { writeSessions } = client;
  const appended = writeSessions.append('s', 0, Buffer.from('a'), call);
  await expect(appended).rejects.toMatchObject({ name: 'AbortError' });
  const content = writeSessions.content('s', {}, call);
  await expect(content).rejects.toMatchObject({ name: 'AbortError' });
  expect(asked).toEqual([]);
});

it('content of no bytes is asked of nobody', async () => {
  const { client, asked } = await clientOf([]);
  expect(await client.writeSessions.content('s', { to: 0 })).toEqual(new Uint8Array());
  expect(await client.writeSessions.content('s', { from: 5, to: 5 })).toEqual(new Uint8Array());
  expect(asked).toEqual([]);
});

it.each([408, 429, 502, 503, 504])('what is answered with %i is asked again', async (status) => {
  const { client, asked } = await clientOf([failure(status, 'RATE_LIMITED'), json(200, {})]);
  await client.turns.list();
  expect(asked).toHaveLength(2);
});

it.each([500, 520, 530])('what a tunnel answers with %i is asked again', async (status) => {
  const { client, asked } = await clientOf([foreign(status), json(200, {})]);
  await client.turns.list();
  expect(asked).toHaveLength(2);
});

it.each<[string | null, number, number]>([
  ['2', 2_000, 3_000],
  ['0', 0, 1_000],
  [null, 0, 1_000],
  ['-1', 0, 1_000],
  ['1e9', 0, 1_000],
  ['soon', 0, 1_000],
])('Retry-After: %s is a pause of %i to %i ms', async (value, least, most) => {
  const pauses: number[] = [];
  const clock = hurriedClock((milliseconds) => pauses.push(milliseconds));
  const headers = value === null ? {} : { 'retry-after': value };
  const { url } = await startScriptedServer([failure(503, 'X', headers), json(200, {})]);
  await createOrionClient({ url, token: 'secret', clock }).turns.list();
  expect(pauses).toHaveLength(1);
  expect(pauses[0]).toBeGreaterThanOrEqual(least);
  expect(pauses[0]).toBeLessThanOrEqual(most);
});

import type { Orion } from '@orion/agent';
import { OrionError } from '@orion/contracts';
import type { ErrorCode, RunEvent, TurnClaim } from '@orion/contracts';
import { createFakeClock, textReply } from '@orion/testkit';
import { expect, it } from 'vitest';

import { doneOf, kindsOf, MESSAGE, startTurns } from '../testing/test-turns.ts';
import type { TestTurns, TestTurnsOptions } from '../testing/test-turns.ts';

/** Hazard: what goes wrong in one turn reaches others, is tried for ever, or is never said to its reader. */

type Run = Orion['runOwnedTurn'];
type Stops = { readonly signal?: AbortSignal; readonly handOff?: AbortSignal };

/** The turns of a server whose agent is `run`, over a real store and a clock that runs through every pause. */
async function startWith(
  run: (orion: Orion, claim: TurnClaim, stops: Stops) => AsyncIterable<RunEvent>,
  options: TestTurnsOptions = {},
): Promise<TestTurns & { readonly pass: (milliseconds: number) => Promise<void> }> {
  const clock = createFakeClock();
  const test = await startTurns({
    serverClock: clock,
    projects: (orion) => ({
      p: { ...orion, runOwnedTurn: ((claim, request) => run(orion, claim, request)) as Run },
    }),
    ...options,
  });
  return { ...test, pass: (milliseconds) => clock.advance(milliseconds) };
}

const failure = (code: ErrorCode, retryable = false) =>
  new OrionError({ code, message: `of a test: ${code}`, retryable });

/** An agent that stores some events before it throws. */
async function* sayAndThrow(
  orion: Orion,
  { turnId, epoch, lastSeq }: TurnClaim,
  kinds: readonly (readonly [kind: string, data: object])[],
  error: unknown,
): AsyncGenerator<RunEvent> {
  const events = kinds.map(([kind, data], index) => ({
    seq: lastSeq + 1 + index,
    kind,
    data: { ...PLACE, ...data },
  }));
  await orion.store.turnLog.append(turnId, epoch, lastSeq + 1, events);
  yield* [];
  throw error;
}

const PLACE = { protocol: 'two-stage', phase: 'tool', phaseIndex: 2, cycleIndex: 3 };
const said = (content: string) => ['chunk', { content, source: 'model' }] as const;

it.each([
  [new TypeError('a secret of a stack'), 'INTERNAL_ERROR', 'The server failed to run the turn.'],
  [failure('MODEL_MISSING'), 'MODEL_MISSING', 'of a test: MODEL_MISSING'],
])('ends a turn whose agent throws, behind what it said: %s', async (error, code, message) => {
  const { submit, ended, log, seen } = await startWith((orion, claim) =>
    sayAndThrow(
      orion,
      claim,
      [
        said('void'),
        ['rewind', { toSeq: 0 }],
        said('one '),
        ['chunk', { content: 'a notice', source: 'notice' }],
        said('two'),
      ],
      error,
    ),
  );
  const turnId = await submit({ conversationId: 'c' });
  const events = await ended(turnId);
  const ids = { requestId: turnId, projectId: 'p', conversationId: 'c' };
  expect(kindsOf(events.slice(5))).toEqual(['error', 'done']);
  expect(events.at(-2)?.data).toMatchObject({ ...ids, ...PLACE, error: { code, message } });
  expect(doneOf(events)).toMatchObject({
    ...ids,
    ...PLACE,
    phase: 'complete',
    status: 'error',
    fullContent: 'one two',
  });
  expect(events.map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5, 6, 7]);
  expect(seen.map(({ type }) => type)).toEqual(['error', 'done']);
  expect(log.join('')).toContain(turnId);
  expect(log.join('')).not.toContain('a secret of a stack');
});

it('tries again what may pass, and not more often than that', async () => {
  let attempts = 0;
  const { submit, ended, pass, turns } = await startWith(async function* () {
    attempts += 1;
    yield* [];
    throw failure('STORE_UNAVAILABLE', true);
  });
  const turnId = await submit();
  await expect
    .poll(async () => {
      await pass(1_000);
      return (await turns.service.find(turnId))?.state;
    })
    .toBe('done');
  expect(attempts).toBe(5);
  expect(doneOf(await ended(turnId))).toMatchObject({ status: 'error' });
});

it('goes on with a turn that failed once', async () => {
  const epochs: number[] = [];
  const { submit, ended, pass, turns } = await startWith(async function* (orion, claim) {
    epochs.push(claim.epoch);
    if (epochs.length === 1) throw failure('TURN_LOG_GAP');
    const seq = claim.lastSeq + 1;
    const done = { ...PLACE, status: 'complete', fullContent: '', protocolReason: '' } as const;
    const { turnId, epoch } = claim;
    await orion.store.turnLog.append(turnId, epoch, seq, [{ seq, kind: 'done', data: done }]);
    const ids = { requestId: turnId, projectId: 'p', conversationId: 'c' };
    yield { ...done, ...ids, phase: 'complete', seq, type: 'done' };
  });
  const turnId = await submit();
  await expect.poll(() => epochs.length).toBe(1);
  // Meanwhile it is nobody's, and its conversation is not free.
  await expect(turns.service.submit(MESSAGE, null)).rejects.toMatchObject({
    code: 'CONVERSATION_BUSY',
  });
  await pass(1_000);
  expect(kindsOf(await ended(turnId))).toEqual(['done']);
  expect(epochs[1]).toBeGreaterThan(epochs[0] ?? Infinity);
});

it('writes nothing into a turn that is over, and does not try it again (C5)', async () => {
  const { submit, turns, pass } = await startWith(async function* () {
    yield* [];
    throw failure('TURN_FINISHED');
  });
  const turnId = await submit();
  await expect.poll(() => turns.running()).toBe(0);
  await pass(60_000);
  expect(await turns.service.log.read(turnId, 0)).toEqual([]);
  expect(await turns.service.find(turnId)).toMatchObject({ state: 'running' });
});

it('writes nothing into a turn that a later attempt has, and does not run it (C5)', async () => {
  let runs = 0;
  const { submit, turns, pass } = await startWith(async function* (orion, { turnId, epoch }) {
    runs += 1;
    await orion.store.turnLog.acquire(turnId, 9);
    const late = { ...PLACE, seq: 1, kind: 'chunk', data: {} };
    await orion.store.turnLog.append(turnId, epoch, 1, [late]);
    yield* [];
  });
  const turnId = await submit();
  await expect.poll(() => runs).toBe(1);
  for (let attempt = 2; attempt < 9; attempt += 1) await pass(1_000);
  expect(await turns.service.log.read(turnId, 0)).toEqual([]);
  expect(await turns.service.find(turnId)).toMatchObject({ state: 'running' });
  expect(runs).toBe(1);
});

it('runs a turn again that its owner lost to nobody, as where the store went back', async () => {
  let runs = 0;
  const { submit, ended, pass } = await startWith(async function* (orion, claim) {
    runs += 1;
    yield* sayAndThrow(orion, claim, [], failure(runs === 1 ? 'FENCED' : 'MODEL_MISSING'));
  });
  const turnId = await submit();
  await expect
    .poll(async () => {
      await pass(1_000);
      return runs;
    })
    .toBe(2);
  expect(kindsOf(await ended(turnId))).toEqual(['error', 'done']);
});

it('tries a turn again every second whose session another process holds', async () => {
  let attempts = 0;
  const { submit, ended, pass } = await startWith(async function* () {
    attempts += 1;
    yield* [];
    throw attempts < 8 ? failure('SESSION_BUSY', true) : failure('MODEL_MISSING');
  });
  const turnId = await submit();
  await expect.poll(() => attempts).toBe(1);
  for (let second = 2; second <= 8; second += 1) {
    await pass(999);
    expect(attempts).toBe(second - 1);
    await pass(1);
    await expect.poll(() => attempts).toBe(second);
  }
  await ended(turnId);
});

it('gives back what does not end in time, for the next start, which no one counts as a failure', async () => {
  const claims: TurnClaim[] = [];
  const { submit, turns, orion, pass } = await startWith(async function* (_, claim, { handOff }) {
    claims.push(claim);
    await new Promise((resolve) => handOff?.addEventListener('abort', resolve));
    yield* [];
  });
  const [first, second] = [
    await submit({ conversationId: 'a' }),
    await submit({ conversationId: 'b' }),
  ];
  await expect.poll(() => turns.running()).toBe(2);
  const stopped = turns.stop(30_000);
  await pass(29_999);
  expect(turns.running()).toBe(2);
  await pass(1);
  await stopped;
  expect(turns.running()).toBe(0);
  const queued = { state: 'queued', lastSeq: 0 };
  expect(await turns.service.find(first)).toMatchObject(queued);
  expect(await turns.service.find(second)).toMatchObject(queued);
  expect(claims.map(({ idleAttempts }) => idleAttempts)).toEqual([1, 1]);
  const { servedTurns, turnLog } = orion.store;
  expect(await servedTurns.waiting()).toMatchObject([
    { turnId: first, attempt: 1 },
    { turnId: second, attempt: 1 },
  ]);
  expect((await turnLog.acquire(first, 2)).idleAttempts).toBe(1);
});

it('lets turns end while it stops, which can be cancelled, and hands out no other', async () => {
  let begun = 0;
  const { submit, turns, pass, seen } = await startWith(
    async function* (orion, claim, { signal }) {
      begun += 1;
      await new Promise((resolve) => signal?.addEventListener('abort', resolve));
      yield* sayAndThrow(orion, claim, [], failure('ABORTED'));
    },
    { slots: 1 },
  );
  const running = await submit({ conversationId: 'a' });
  const waiting = await submit({ conversationId: 'b' });
  await expect.poll(() => turns.running()).toBe(1);
  const stopped = turns.stop(30_000);
  expect(await turns.service.cancel(running)).toBe('requested');
  await stopped;
  await pass(60_000);
  expect(await turns.service.find(running)).toMatchObject({ state: 'done' });
  expect(await turns.service.find(waiting)).toMatchObject({ state: 'queued' });
  expect(begun).toBe(1);
  expect(seen).toMatchObject([{ type: 'error' }, { type: 'done' }]);
});

it('does not wait for ever for a turn that hangs', async () => {
  const { submit, turns, pass } = await startWith(async function* () {
    await new Promise(() => undefined);
    yield* [];
  });
  const turnId = await submit();
  await expect.poll(() => turns.running()).toBe(1);
  const stopped = turns.stop(0);
  await pass(0);
  await pass(5_000);
  await stopped;
  // The next start takes it over.
  expect(await turns.service.find(turnId)).toMatchObject({ state: 'running', lastSeq: 0 });
});

it('ends a turn that hangs when it was cancelled 12 s ago, and its place is free', async () => {
  const { submit, ended, turns, pass } = await startWith(
    async function* (orion, claim) {
      if (claim.lastSeq === 0) {
        const seq = 1;
        const data = { ...PLACE, content: 'half', source: 'model' };
        const { turnId, epoch } = claim;
        await orion.store.turnLog.append(turnId, epoch, seq, [{ seq, kind: 'chunk', data }]);
      }
      await new Promise(() => undefined);
      yield* [];
    },
    { slots: 1 },
  );
  const turnId = await submit({ conversationId: 'a' });
  const next = await submit({ conversationId: 'b' });
  await expect.poll(() => turns.running()).toBe(1);
  await turns.service.cancel(turnId);
  await pass(11_000);
  expect(await turns.service.find(turnId)).toMatchObject({ state: 'running' });
  await pass(2_000);
  expect(doneOf(await ended(turnId))).toMatchObject({
    status: 'stopped',
    stopReason: 'cancelled',
    fullContent: 'half',
    protocolReason: 'the server ended the turn',
  });
  await expect.poll(async () => (await turns.service.find(next))?.state).toBe('running');
});

it('leaves a turn that hangs to the process that has taken it, and its place is free', async () => {
  const runs: string[] = [];
  const { submit, turns, pass, orion } = await startWith(
    async function* (_, { turnId }) {
      runs.push(turnId);
      await new Promise(() => undefined);
      yield* [];
    },
    { slots: 1 },
  );
  const turnId = await submit({ conversationId: 'a' });
  const next = await submit({ conversationId: 'b' });
  await expect.poll(() => runs).toEqual([turnId]);
  await orion.store.turnLog.acquire(turnId, null);
  await pass(11_000);
  expect(runs).toEqual([turnId]);
  await pass(2_000);
  await expect.poll(() => runs).toEqual([turnId, next]);
  expect(await turns.service.find(turnId)).toMatchObject({ state: 'running', lastSeq: 0 });
  // Its owner may be this process after all, as far as the queue knows.
  await turns.service.cancel(next);
  await pass(13_000);
  await expect.poll(() => runs).toEqual([turnId, next, turnId]);
});

it('ends a turn whose project is not served any more', async () => {
  const { submit, ended } = await startTurns({ projects: (orion) => leaving(orion) });
  const events = await ended(await submit());
  expect(events[0]?.data).toMatchObject({ error: { code: 'PROJECT_NOT_FOUND' } });
  expect(doneOf(events)).toMatchObject({ status: 'error' });
});

/** A project that is there when a turn is submitted, and not when it is run. */
function leaving(orion: Orion): Readonly<Record<string, Orion>> {
  const gone = {
    ...orion,
    runOwnedTurn: () => {
      throw failure('PROJECT_NOT_FOUND');
    },
  };
  return { p: gone };
}

it('refuses what cannot be submitted, and says why', async () => {
  let isStopping = false;
  const { turns, submit } = await startTurns({
    serverClock: createFakeClock(),
    waitingTurns: 1,
    slots: 1,
    isStopping: () => isStopping,
    projects: (orion) => ({
      p: { ...orion, runOwnedTurn: () => hang() },
      q: orion,
    }),
  });
  const key = { key: 'k', route: '/r', bodySha256: 'aa' };
  const { turn } = await turns.service.submit({ ...MESSAGE, conversationId: 'a' }, key);
  await expect.poll(() => turns.running()).toBe(1);
  const again = await turns.service.submit(MESSAGE, key);
  expect(again).toMatchObject({ isRepeat: true, turn: { turnId: turn.turnId } });
  const refused = async (code: ErrorCode, more: object, with_ = null as typeof key | null) => {
    const submission = { ...MESSAGE, ...more };
    await expect(turns.service.submit(submission, with_)).rejects.toMatchObject({ code });
  };
  await refused('PROJECT_NOT_FOUND', { projectId: 'none' });
  await refused('CONVERSATION_BUSY', { conversationId: 'a' });
  await refused('CONVERSATION_NOT_FOUND', { conversationId: 'a', projectId: 'q' });
  await refused('IDEMPOTENCY_MISMATCH', {}, { ...key, bodySha256: 'bb' });
  await submit({ conversationId: 'b' });
  await expect(
    turns.service.submit({ ...MESSAGE, conversationId: 'c' }, null),
  ).rejects.toMatchObject({ code: 'RATE_LIMITED', details: { retryAfterSeconds: 5 } });
  isStopping = true;
  await refused('SERVER_STOPPING', {});
});

it('takes a message that is refused for no failure of the store', async () => {
  const { turns, submit, ended } = await startTurns({ replies: [textReply('a'), textReply('b')] });
  const elsewhere = { ...MESSAGE, conversationId: 'c', projectId: 'other' };
  await ended(await submit({ conversationId: 'c' }));
  await expect(turns.service.submit(elsewhere, null)).rejects.toMatchObject({
    code: 'CONVERSATION_NOT_FOUND',
  });
  const entries = await ended(await submit({ conversationId: 'c' }));
  expect(doneOf(entries).status).toBe('complete');
  expect(JSON.stringify(entries)).not.toContain('notice');
});

async function* hang(): AsyncGenerator<RunEvent> {
  await new Promise(() => undefined);
  yield* [];
}

it('runs a turn alone that was tried three times in vain, and ends it after five', async () => {
  const running = new Set<string>();
  const beside: number[] = [];
  const { submit, ended, turns, pass } = await startWith(async function* (
    _,
    { turnId, idleAttempts },
    { signal },
  ) {
    running.add(turnId);
    yield* [];
    if (turnId === healthy)
      await new Promise((resolve) => signal?.addEventListener('abort', resolve));
    else beside.push(running.size - 1, idleAttempts);
    running.delete(turnId);
    // As little is known of it as of one whose process died.
    throw failure('TURN_LOG_GAP');
  });
  let healthy = '';
  healthy = await submit({ conversationId: 'healthy' });
  await expect.poll(() => turns.running()).toBe(1);
  const suspect = await submit({ conversationId: 'suspect' });
  await expect
    .poll(async () => {
      await pass(1_000);
      return beside;
    })
    .toEqual([1, 1, 1, 2]);
  await pass(5_000);
  expect(beside).toHaveLength(4);
  await turns.service.cancel(healthy);
  await expect
    .poll(async () => {
      await pass(1_000);
      return (await turns.service.find(suspect))?.state;
    })
    .toBe('done');
  expect(beside).toEqual([1, 1, 1, 2, 0, 3, 0, 4, 0, 5]);
  expect(doneOf(await ended(suspect))).toMatchObject({ status: 'error' });
});

it('ends a turn whose processes died of it, without running it once more', async () => {
  let runs = 0;
  const { orion, root } = await startWith(async function* () {
    yield* [];
  });
  const turn = { ...MESSAGE, turnId: 'of-death', newConversationId: 'c' };
  await orion.store.servedTurns.submit(turn, null, () => Promise.resolve());
  for (let attempt = 1; attempt <= 5; attempt += 1)
    await orion.store.turnLog.acquire('of-death', attempt);
  const { ended } = await startWith(
    async function* () {
      runs += 1;
      yield* [];
    },
    { root, store: orion.store },
  );
  const events = await ended('of-death');
  expect(kindsOf(events)).toEqual(['error', 'done']);
  expect(events[0]?.data).toMatchObject({ error: { code: 'TURN_POISONED' } });
  expect(runs).toBe(0);
});

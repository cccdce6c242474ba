import { readFile } from 'node:fs/promises';

import { OrionError } from '@orion/contracts';
import type { Clock, WritingRecord } from '@orion/contracts';
import { createFakeClock } from '@orion/testkit';
import type { FakeClock } from '@orion/testkit';
import { SESSION_RECORD as RECORD } from '@orion/testkit/records';
import { expect, test } from 'vitest';

import { metadataOf, openStoredWorkspace } from '../testing/stored-workspace.ts';
import { useTestDatabase } from '../testing/test-database.ts';

/** Hazard: what arrives while the database is away is lost, or stored twice, and a file is written that it did not decide. */

const own = useTestDatabase();

/** `away`: asked before an append is sent; `lost`: after it was stored, in place of its answer. */
type Weather = 'fine' | 'away' | 'lost';

function unavailable(): OrionError {
  return new OrionError({ code: 'STORE_UNAVAILABLE', message: 'It is away', retryable: true });
}

/** Twice. */
function failing<Given extends readonly unknown[], Answer>(
  how: 'away' | 'lost',
  call: (...given: Given) => Promise<Answer>,
): (...given: Given) => Promise<Answer> {
  let failures = 0;
  return async (...given) => {
    failures += 1;
    if (failures > 2) return call(...given);
    if (how === 'lost') await call(...given);
    throw unavailable();
  };
}

const WRITING: WritingRecord = {
  temp: 'none.tmp',
  before: null,
  after: 'a'.repeat(64),
  result: {
    path: 'a.txt',
    bytes: 0,
    lines: 0,
    sha256: '',
    eol: 'none',
    bom: false,
    mode: '0644',
    warnings: [],
    not_kept: [],
  },
};

/** While the time of the clock passes. */
async function settled(clock: FakeClock, step: Promise<unknown>): Promise<{ error?: unknown }> {
  const outcome = step.then(
    () => ({}),
    (error: unknown) => ({ error }),
  );
  await expect
    .poll(async () => {
      await clock.advance(1_000);
      return Promise.race([outcome, Promise.resolve(null)]);
    })
    .not.toBeNull();
  return outcome;
}

const openWorkspace = (
  change: Parameters<typeof openStoredWorkspace>[1],
  clock?: Clock,
): ReturnType<typeof openStoredWorkspace> => openStoredWorkspace(own, change, { clock });

test('a session that was put away without an answer is put away', async () => {
  let isLost = true;
  const { workspace } = await openWorkspace((inner) => ({
    async putAway(...which) {
      const isPutAway = await inner.putAway(...which);
      if (!isLost) return isPutAway;
      isLost = false;
      throw unavailable();
    },
  }));
  const handle = await workspace.sessions.begin(await metadataOf(workspace));
  handle.append('one');
  await handle.save(RECORD);
  await handle.discard();
  expect(isLost).toBe(false);
  expect(await workspace.sessions.list()).toEqual([]);
  expect(await workspace.sessions.find(handle.id)).toMatchObject({ bytes: 3 });
});

test('whoever puts a session away waits a quarter of a minute for a database that is away', async () => {
  const clock = createFakeClock(Date.now());
  let isAway = false;
  const { workspace } = await openWorkspace(
    (inner) => ({
      putAway: (...which) => (isAway ? Promise.reject(unavailable()) : inner.putAway(...which)),
    }),
    clock,
  );
  const handle = await workspace.sessions.begin(await metadataOf(workspace));
  handle.append('one');
  await handle.save(RECORD);
  isAway = true;
  const since = clock.monotonic();
  expect(await settled(clock, handle.discard())).toMatchObject({
    error: { code: 'STORE_UNAVAILABLE' },
  });
  expect(clock.monotonic() - since).toBeLessThan(20_000);
});

test('a session goes on in memory while its database is away, and nothing is decided meanwhile', async () => {
  let weather: Weather = 'fine';
  const clock = createFakeClock(Date.now());
  const { workspace, events } = await openWorkspace(
    (inner) => ({
      async append(appends) {
        if (weather === 'away') throw unavailable();
        const outcomes = await inner.append(appends);
        if (weather === 'lost') throw unavailable();
        return outcomes;
      },
      async decide(owner, commit) {
        if (weather === 'away') throw unavailable();
        return inner.decide(owner, commit);
      },
    }),
    clock,
  );
  const handle = await workspace.sessions.begin(await metadataOf(workspace));
  handle.append('one ');
  await clock.advance(50);
  await expect.poll(() => handle.savedBytes()).toBe(4);

  weather = 'lost';
  handle.append('two ');
  await expect(handle.save(RECORD)).rejects.toMatchObject({ code: 'WRITE_FAILED' });
  expect(handle.persistence()).toBe('memory');
  weather = 'away';
  handle.append('three ');
  await expect(handle.save(RECORD)).rejects.toMatchObject({ code: 'WRITE_FAILED' });
  expect(await settled(clock, handle.recordWriting(WRITING))).toMatchObject({
    error: { code: 'WRITE_FAILED' },
  });
  expect(handle.savedBytes()).toBe(4);

  weather = 'fine';
  handle.append('four');
  await clock.advance(1_000);
  await expect.poll(() => handle.savedBytes()).toBe(18);
  expect(handle.persistence()).toBe('disk');
  await handle.save(RECORD);
  await handle.recordWriting(WRITING);
  await handle.release();
  const claimed = await workspace.sessions.claim(handle.id);
  const chunks: Uint8Array[] = [];
  for await (const chunk of claimed.handle.readContent()) chunks.push(chunk);
  expect(Buffer.concat(chunks).toString()).toBe('one two three four');
  expect(claimed.writing).toEqual(WRITING);
  expect(events.filter((type) => ['degraded', 'restored'].includes(type))).toEqual([
    'degraded',
    'restored',
  ]);
  await claimed.handle.remove();
});

test.each(['away', 'lost'] as const)(
  'a session starts over once, whether its database is away or its answer: %s',
  async (how) => {
    const clock = createFakeClock(Date.now());
    const { workspace } = await openWorkspace(
      (inner) => ({
        append: failing(how, (appends) => inner.append(appends)),
        startOver: failing(how, (...anew) => inner.startOver(...anew)),
      }),
      clock,
    );
    const handle = await workspace.sessions.begin(await metadataOf(workspace));
    handle.append('one ');
    handle.setAside('aside ');
    expect(await settled(clock, handle.startOver(RECORD))).toEqual({});
    handle.append('two');
    await handle.save(RECORD);
    expect(handle.lost.aborted).toBe(false);
    expect(await workspace.sessions.find(handle.id)).toMatchObject({ bytes: 3, saved_bytes: 3 });
    const { trailing = '' } = await handle.remove();
    expect(await readFile(trailing, 'utf8')).toBe('aside one ');
  },
);

test.each(['away', 'lost'] as const)(
  'a change is decided, whether its database is away for a moment or its answer is: %s',
  async (how) => {
    const clock = createFakeClock(Date.now());
    const { workspace } = await openWorkspace(
      (inner) => ({
        append: failing(how, (appends) => inner.append(appends)),
        decide: failing(how, (owner, commit) => inner.decide(owner, commit)),
      }),
      clock,
    );
    const handle = await workspace.sessions.begin(await metadataOf(workspace));
    handle.append('one');
    expect(await settled(clock, handle.recordWriting(WRITING))).toEqual({});
    await handle.release();
    const claimed = await workspace.sessions.claim(handle.id);
    expect(claimed).toMatchObject({ writing: WRITING });
    expect(claimed.handle.bytes()).toBe(3);
    await claimed.handle.remove();
  },
);

test('what an earlier owner held is set aside by the next one, after a moment without the database', async () => {
  const clock = createFakeClock(Date.now());
  let failures = 0;
  const { workspace } = await openWorkspace(
    (inner) => ({
      append(appends) {
        failures -= 1;
        return failures >= 0 ? Promise.reject(unavailable()) : inner.append(appends);
      },
    }),
    clock,
  );
  const handle = await workspace.sessions.begin(await metadataOf(workspace));
  handle.append('one');
  handle.appendPending('held');
  await handle.save(RECORD);
  await handle.release();
  failures = 2;
  const claiming = workspace.sessions.claim(handle.id);
  expect(await settled(clock, claiming)).toEqual({});
  const { trailing = '' } = await (await claiming).handle.remove();
  expect(await readFile(trailing, 'utf8')).toBe('held');
});

test('a record whose statement found the text stored already is stored by the next one', async () => {
  let isLost = false;
  const { root, workspace } = await openWorkspace((inner) => ({
    async append(appends) {
      const outcomes = await inner.append(appends);
      if (isLost) throw unavailable();
      return outcomes;
    },
  }));
  const handle = await workspace.sessions.begin(await metadataOf(workspace));
  handle.append('one');
  isLost = true;
  await expect(handle.save(RECORD)).rejects.toMatchObject({ code: 'WRITE_FAILED' });
  isLost = false;
  handle.append('two');
  await handle.save({ ...RECORD, idle_prompts: 7 });
  // As of a process that was killed.
  await own.execute(`update write_session set beat_at = 0`);
  const next = await openStoredWorkspace(own, () => ({}), { root });
  const { record, handle: claimed } = await next.workspace.sessions.claim(handle.id);
  expect([record?.idle_prompts, claimed.bytes()]).toEqual([7, 6]);
  await claimed.remove();
});

test.each([
  ['this process, which was not told', false, {}],
  ['another process, which lives', true, { error: { code: 'SESSION_BUSY' } }],
])('a claim without an answer finds the session to be that of %s', async (_, isConfirmed, end) => {
  const clock = createFakeClock(Date.now());
  let claims = 0;
  const { workspace } = await openWorkspace(
    (inner) => ({
      async claim(claim) {
        claims += 1;
        // The time in which a living owner is heard of has passed.
        if (claims === 3 && !isConfirmed) await own.execute('update write_session set beat_at = 0');
        const claimed = await inner.claim(claim);
        if (claims === 1) throw unavailable();
        return claimed;
      },
    }),
    clock,
  );
  const handle = await workspace.sessions.begin(await metadataOf(workspace));
  handle.append('one');
  await handle.save(RECORD);
  await handle.release();
  const claiming = workspace.sessions.claim(handle.id);
  expect(await settled(clock, claiming)).toMatchObject(end);
  expect(claims).toBe(3);
  if (!isConfirmed) await (await claiming).handle.remove();
});

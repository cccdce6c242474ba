import { randomUUID } from 'node:crypto';
import type { TurnLogEvent } from '@orion/contracts';
import { createFakeClock } from '@orion/testkit';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { openPostgres } from '../engine/postgres.ts';
import { migrate } from '../migrations/migrate.ts';
import { MIGRATIONS } from '../migrations/migrations.ts';
import { ageTurns } from '../testing/age-turns.ts';
import { execute, inDatabase } from '../testing/test-database.ts';
import { useTurnLog } from '../testing/test-turn-log.ts';
import { PACK, PACK_BYTES } from './event-packs.ts';
import { readNews } from './read-news.ts';
import { createSqlTurnLog } from './sql-turn-log.ts';

/** Hazard: a text that waits in the row of its turn is lost, doubled, or given to another event or owner. */

const own = useTurnLog();
const IDS = { requestId: 't', projectId: 'p', conversationId: 'c', protocol: 'standard' };

const said = (seq: number, content: string, more: object = {}): TurnLogEvent => ({
  seq,
  kind: 'chunk',
  data: { content, source: 'model', ...IDS, phaseIndex: 1, ...more },
});

async function rowsOf(turnId: string): Promise<readonly (readonly [number, string])[]> {
  const rows = await own
    .database()
    .all(
      'select seq, kind from turn join turn_event using (turn_no) where turn_id = $1 order by seq',
      [turnId],
    );
  return rows.map(({ seq, kind }) => [Number(seq), String(kind)]);
}

async function followed(turnId: string, after: number, last: number): Promise<readonly unknown[]> {
  const seen: unknown[] = [];
  const stop = new AbortController();
  for await (const { seq, kind, data } of own.log().tail(turnId, after, stop.signal)) {
    seen.push({ seq, kind, data });
    if (seq === last) stop.abort();
  }
  return seen;
}

const content = fc.oneof(
  fc.constantFrom(
    '',
    ' ',
    '"content":"\\t"',
    '\t',
    '\n',
    '~',
    '[',
    '\u0000',
    '\ud800',
    'a'.repeat(450),
  ),
  fc.string({ unit: 'binary', maxLength: 60 }),
);
const more = fc.constantFrom(
  {},
  { source: 'notice' },
  { 'x"content":"\\t"': '"content":"\\t"' },
  { nested: { content: '\t' } },
  { protocol: 'two-stage' },
  { long: 'x'.repeat(400) },
);
const step = fc.oneof(
  { weight: 8, arbitrary: fc.array(fc.tuple(content, more), { minLength: 1, maxLength: 3 }) },
  {
    weight: 4,
    arbitrary: fc.array(fc.tuple(content, fc.constant({})), { minLength: 1, maxLength: 2 }),
  },
  { weight: 1, arbitrary: fc.constantFrom('usage', 'checkpoint', 'acquire', 'no object') },
);

test('whatever is appended is read as it was, from every place, by every reader', async () => {
  let run = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 25 }), async (steps) => {
      run += 1;
      const turnId = `turn ${run}`;
      const beside = await own.log().acquire(`beside ${run}`, 1);
      let { epoch } = await own.log().acquire(turnId, 1);
      let attempt = 1;
      let besideSeq = 0;
      const expected: { seq: number; epoch: number; kind: string; data: unknown }[] = [];
      for (const each of steps) {
        const from = expected.length + 1;
        if (each === 'acquire') {
          attempt += 1;
          ({ epoch } = await own.log().acquire(turnId, attempt));
          continue;
        }
        const events: readonly TurnLogEvent[] =
          each === 'usage'
            ? [{ seq: from, kind: 'usage', data: { ...IDS, inputTokens: 1, outputTokens: 1 } }]
            : each === 'no object'
              ? [{ seq: from, kind: 'chunk', data: ['content'] }]
              : each === 'checkpoint'
                ? []
                : each.map(([text, fields], index) => said(from + index, text, fields));
        const append = { turnId, epoch, expectSeq: from, events };
        const mine = each === 'checkpoint' ? { ...append, checkpoint: { at: from } } : append;
        besideSeq += 1;
        // Alone and together with another turn; sent twice, as after a lost answer.
        const other = { ...beside, expectSeq: besideSeq, events: [said(besideSeq, 'beside')] };
        const appends = from % 2 === 0 ? [mine, other] : [mine];
        if (appends.length === 1) besideSeq -= 1;
        for (const _ of ['new', 'repeated']) {
          const [outcome] = await own.log().appendAll(appends);
          if (events.length > 0) {
            expect(outcome).toMatchObject({ kind: 'stored', lastSeq: from + events.length - 1 });
          }
        }
        expected.push(...events.map((event) => ({ ...event, epoch })));
      }
      const all = (await own.log().read(turnId, 0)).map(({ turnId: _, storedAt, ...event }) => {
        expect(storedAt).toBeGreaterThan(1_700_000_000_000);
        return event;
      });
      expect(all).toEqual(expected);
      for (let after = 0; after < expected.length; after += 1) {
        const read = await own.log().read(turnId, after, 2);
        expect(read.map(({ seq }) => seq)).toEqual(
          [after + 1, after + 2].slice(0, expected.length - after),
        );
      }
      for (const after of [0, Math.floor(expected.length / 2)]) {
        if (after === expected.length) continue;
        expect(await followed(turnId, after, expected.length)).toEqual(
          expected.slice(after).map(({ epoch: _, ...event }) => event),
        );
      }
      const besides = await own.log().read(beside.turnId, 0);
      expect(besides.map(({ seq }) => seq)).toEqual(
        Array.from({ length: besideSeq }, (_, i) => i + 1),
      );
    }),
    { numRuns: 20 },
  );
});

test('the texts of a turn become few rows, and those of one that is over are none of its own row', async () => {
  const { epoch } = await own.log().acquire('long', 1);
  for (let seq = 1; seq <= 60; seq += 1) {
    await own.log().append('long', epoch, seq, [said(seq, 'and then it goes on with ')]);
  }
  const before = await rowsOf('long');
  expect(new Set(before.map(([, kind]) => kind))).toEqual(new Set([PACK]));
  expect(before.length).toBeLessThan(8);
  expect(before.at(-1)?.[0]).toBeLessThan(60);
  await own
    .log()
    .append('long', epoch, 61, [{ seq: 61, kind: 'done', data: { ...IDS, status: 'complete' } }]);
  expect((await rowsOf('long')).slice(-2)).toEqual([
    [60, PACK],
    [61, 'done'],
  ]);
  expect(
    await own.database().all("select recent, recent_form from turn where turn_id = 'long'"),
  ).toEqual([{ recent: null, recent_form: null }]);
  expect((await own.log().read('long', 0)).map(({ seq }) => seq)).toHaveLength(61);
});

test('what would not fit becomes a row', async () => {
  const { epoch } = await own.log().acquire('large', 1);
  await own.log().append('large', epoch, 1, [said(1, 'short')]);
  await own.log().append('large', epoch, 2, [said(2, 'x'.repeat(PACK_BYTES))]);
  expect(await rowsOf('large')).toEqual([
    [1, PACK],
    [2, 'chunk'],
  ]);
});

test('a reader is where its event is, and not where another owner has the same number', async () => {
  const { epoch } = await own.log().acquire('place', 1);
  for (const seq of [1, 2, 3]) await own.log().append('place', epoch, seq, [said(seq, 'text')]);
  const kinds = async (seq: number, readerEpoch: number): Promise<readonly unknown[]> => {
    const stop = new AbortController();
    const seen: unknown[] = [];
    const after = { seq, epoch: readerEpoch };
    for await (const news of own.log().follow([{ turnId: 'place', after }], stop.signal)) {
      seen.push(news.kind === 'event' ? news.entry.seq : news.kind);
      if (news.kind === 'event' && news.entry.seq === 3) stop.abort();
    }
    return seen;
  };
  expect(await kinds(2, epoch)).toEqual([3]);
  expect(await kinds(2, epoch + 1)).toEqual(['reset', 1, 2, 3]);
});

test('a turn that is folded before its end keeps nothing of what it said', async () => {
  const { epoch } = await own.log().acquire('folded', null);
  await own.log().append('folded', epoch, 1, [{ seq: 1, kind: 'usage', data: IDS }]);
  for (const seq of [2, 3]) await own.log().append('folded', epoch, seq, [said(seq, 'text')]);
  await ageTurns(own.database(), 10_000_000, 'folded');
  expect(await own.log().foldOldTurns(5_000_000)).toBe(1);
  expect((await own.log().read('folded', 0)).map(({ seq }) => seq)).toEqual([1]);
  expect(
    await own.database().all("select recent, recent_form from turn where turn_id = 'folded'"),
  ).toEqual([{ recent: null, recent_form: null }]);
});

test('a reader is not given more at once because much of it is stored once', async () => {
  const { epoch } = await own.log().acquire('much', 1);
  const events = Array.from({ length: 8 }, (_, index) => said(index + 1, 'text'));
  for (const event of events) await own.log().append('much', epoch, event.seq, [event]);
  const bytes = JSON.stringify(events[0]?.data).length;
  const seen: (number | undefined)[] = [];
  let seq = 0;
  while (seq < 8) {
    const [news] = await readNews(own.database(), [{ turnId: 'much', seq }], 2 * bytes);
    expect(news).toMatchObject({ lastSeq: 8, epochAt: seq === 0 ? null : epoch });
    seen.push(news?.entries.length);
    seq = news?.entries.at(-1)?.seq ?? 8;
  }
  expect(seen).toEqual([3, 3, 2]);
});

test('what every append changes stands at the end of the row, the text of it last', async () => {
  const columns = await own.database().all(
    `select attname as name, attstorage::text as storage from pg_attribute
     where attrelid = 'turn'::regclass and attnum > 0 and not attisdropped order by attnum`,
  );
  // Plain: never compressed, and never in another table.
  expect(columns.slice(-3)).toEqual([
    { name: 'last_seq', storage: 'p' },
    { name: 'active_at', storage: 'p' },
    { name: 'recent', storage: 'p' },
  ]);
});

test('a turn of the version before goes on', async () => {
  const name = `orion_packs_${randomUUID().replaceAll('-', '')}`;
  await execute(own.url(), `create database ${name}`);
  const earlier = await openPostgres(inDatabase(own.url(), name));
  try {
    const step = MIGRATIONS.findIndex((migration) => migration.name.startsWith('the latest texts'));
    await migrate(earlier, MIGRATIONS.slice(0, step));
    await earlier.all(
      `with begun as (
         insert into turn (turn_id, epoch, last_seq, active_at, shared)
         values ('t', 7, 2, 1234, '{"requestId":"t",') returning turn_no
       )
       insert into turn_event (turn_no, epoch, stored_at, seq, kind, data)
       select turn_no, 7, 1234, seq, 'chunk', data from begun,
         (values (1, '~"content":"one"}'), (2, '{"content":"two"}')) as event (seq, data)`,
    );
    await migrate(earlier);
    const later = createSqlTurnLog(earlier, { clock: createFakeClock() });
    await later.append('t', 7, 3, [{ seq: 3, kind: 'chunk', data: { content: 'three' } }]);
    expect(
      (await later.read('t', 0)).map(({ seq, storedAt, data }) => [seq, storedAt > 1234, data]),
    ).toEqual([
      [1, false, { requestId: 't', content: 'one' }],
      [2, false, { content: 'two' }],
      [3, true, { content: 'three' }],
    ]);
  } finally {
    await earlier.close();
    await execute(own.url(), `drop database ${name} with (force)`);
  }
});

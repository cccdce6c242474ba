import { expect, test } from 'vitest';
import { useTurnLog } from '../testing/test-turn-log.ts';

/** Hazard: what events leave to the row of their turn comes back as that of another one, or not at all. */

const own = useTurnLog();
const IDS = { requestId: 't', projectId: 'p', conversationId: 'c “ö” \\', protocol: 'standard' };
const TEXTS = [
  { content: '~ one', ...IDS },
  { content: 'two', ...IDS },
  { content: 'of another protocol', ...IDS, protocol: 'two-stage' },
  { content: 'without a protocol', requestId: 't', projectId: 'p', conversationId: 'c' },
  { ...IDS },
  '~',
  null,
];

test.each(['one by one', 'together'])(
  'events of a turn come back as they were, %s',
  async (how) => {
    const { turnId, epoch } = await own.log().acquire(how, 1);
    const events = TEXTS.map((data, index) => ({ seq: index + 1, kind: 'phase', data }));
    const other = await own.log().acquire(`beside ${how}`, 1);
    for (const event of how === 'together' ? [null] : events) {
      const mine = { turnId, epoch, expectSeq: event?.seq ?? 1, events: event ? [event] : events };
      const others = { ...other, expectSeq: 1, events: event === null ? events : [] };
      const appends = how === 'together' ? [mine, others] : [mine];
      for (const _ of ['new', 'repeated']) {
        const outcomes = await own.log().appendAll(appends);
        expect(outcomes.every(({ kind }) => kind === 'stored')).toBe(true);
      }
    }
    const read = await own.log().read(turnId, 0);
    expect(read.map(({ data }) => data)).toEqual(TEXTS);
    const followed: unknown[] = [];
    for await (const { seq, data } of own.log().tail(turnId, 0, new AbortController().signal)) {
      followed.push(data);
      if (seq === TEXTS.length) break;
    }
    expect(followed).toEqual(TEXTS);
    const rows = await own
      .database()
      .all(
        `select data from turn join turn_event using (turn_no) where turn_id = $1 order by seq`,
        [turnId],
      );
    // Only what has all of them, and those of the first, leaves them out.
    const isShort = rows.map(({ data }) => String(data).startsWith('~'));
    expect(isShort).toEqual([true, true, false, false, false, false, false]);
  },
);

test('a later owner of another protocol stores its events whole', async () => {
  const first = await own.log().acquire('t', 1);
  await own.log().append('t', first.epoch, 1, [{ seq: 1, kind: 'chunk', data: TEXTS[0] ?? null }]);
  const second = await own.log().acquire('t', 2);
  const data = { content: 'two', ...IDS, protocol: 'controller' };
  await own.log().append('t', second.epoch, 2, [{ seq: 2, kind: 'chunk', data }]);
  expect((await own.log().read('t', 0)).map((entry) => entry.data)).toEqual([TEXTS[0], data]);
});

test('what a turn has used is counted from events that leave out what they share', async () => {
  const { epoch } = await own.log().acquire('spends', 1);
  const used = { ...IDS, inputTokens: 90, outputTokens: 10 };
  await own.log().append('spends', epoch, 1, [
    { seq: 1, kind: 'usage', data: used },
    { seq: 2, kind: 'usage', data: used },
  ]);
  await own
    .log()
    .append('spends', epoch, 3, [{ seq: 3, kind: 'done', data: { ...IDS, status: 'complete' } }]);
  expect(await own.database().all(`select tokens from turn where turn_id = 'spends'`)).toEqual([
    { tokens: 200 },
  ]);
});

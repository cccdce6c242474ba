import type { RecordPlace, SharedRecords } from '@orion/contracts';
import { createFakeClock } from '@orion/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openStore } from '../open-store.ts';
import type { Store } from '../open-store.ts';
import { execute, useTestDatabase } from '../testing/test-database.ts';

/** Hazard: another process sees a part of a record, or parts of two. */

const own = useTestDatabase();
let store: Store;
let records: SharedRecords;

beforeAll(() => {
  store = openStore({ kind: 'postgres', url: own.url() }, { clock: createFakeClock() });
  if (store.sharedRecords === null) throw new Error('a store in Postgres has shared records');
  records = store.sharedRecords;
});
afterAll(() => store.close());

const PLACE: RecordPlace = { root: '/w', kind: 'backup' };

async function* of(...chunks: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* chunks;
}

async function bytesOf(name: string, place: RecordPlace = PLACE): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of records.read(place, name)) chunks.push(chunk);
  return Buffer.concat(chunks);
}

test('a record is read as it was stored, by its place and name', async () => {
  const long = Buffer.alloc(600_000, 'abc\0\xff');
  await records.put(
    PLACE,
    'one',
    '{"of":1}',
    of(long.subarray(0, 300_001), long.subarray(300_001)),
  );
  await records.put(PLACE, 'none', '{}');
  await records.put({ ...PLACE, kind: 'page' }, 'one', '{"of":"page"}');
  expect(await records.get(PLACE, 'one')).toBe('{"of":1}');
  expect((await bytesOf('one')).equals(long)).toBe(true);
  expect(await bytesOf('none')).toHaveLength(0);
  expect(await records.get({ ...PLACE, kind: 'page' }, 'one')).toBe('{"of":"page"}');
  expect(await records.get({ ...PLACE, root: '/v' }, 'one')).toBeNull();
  expect((await records.list(PLACE)).map(({ name }) => name).toSorted()).toEqual(['none', 'one']);
  expect(await records.names(PLACE)).toEqual(['none', 'one']);
  const ageMs = expect.closeTo(0, -5) as number;
  expect(await records.list(PLACE, ['none', 'two'])).toEqual([{ name: 'none', text: '{}', ageMs }]);
  expect(await records.list(PLACE, [])).toEqual([]);
  await records.remove(PLACE, 'one');
  expect(await records.get(PLACE, 'one')).toBeNull();
  expect(await bytesOf('one')).toHaveLength(0);
});

test('one whose bytes cannot be read to their end is not there, and the one before it is', async () => {
  await records.put(PLACE, 'kept', 'before', of(Buffer.from('before')));
  async function* failing(): AsyncGenerator<Uint8Array> {
    yield Buffer.alloc(300_000);
    throw new Error('the disk failed');
  }
  await expect(records.put(PLACE, 'kept', 'after', failing())).rejects.toThrow('the disk failed');
  expect(await records.get(PLACE, 'kept')).toBe('before');
  expect((await bytesOf('kept')).toString()).toBe('before');
});

test.each([
  ['replaced', () => records.put(PLACE, 'read', '{}', of(Buffer.alloc(900_000, 'other')))],
  ['removed', () => records.remove(PLACE, 'read')],
])('one that is %s while it is read does not end early', async (_, change) => {
  await records.put(PLACE, 'read', '{}', of(Buffer.alloc(300_000), Buffer.alloc(300_000)));
  const reading = records.read(PLACE, 'read')[Symbol.asyncIterator]();
  await reading.next();
  await change();
  await expect(reading.next()).rejects.toMatchObject({
    code: 'STORE_UNAVAILABLE',
    retryable: true,
  });
});

test('of several that are stored at once under one name one stays, and nothing else', async () => {
  const texts = Array.from({ length: 8 }, (_, index) => `text ${index}`);
  await Promise.all(texts.map((text) => records.put(PLACE, 'same', text, of(Buffer.from(text)))));
  expect((await bytesOf('same')).toString()).toBe(await records.get(PLACE, 'same'));
  for (const { name } of await records.list(PLACE)) await records.remove(PLACE, name);
  expect(
    await execute(
      own.url(),
      `select 1 from shared_piece union all
      select 1 from shared_record where kind = 'backup'`,
    ),
  ).toEqual([]);
});

test('changes of one record that are made at once are made one after the other', async () => {
  const other = openStore({ kind: 'postgres', url: own.url() }, { clock: createFakeClock() });
  const others = other.sharedRecords ?? records;
  const changes = Array.from({ length: 8 }, (_, index) =>
    (index % 2 === 0 ? records : others).update(
      PLACE,
      'changed',
      (text) => `${text ?? ''}${index}`,
    ),
  );
  await Promise.all(changes);
  const text = (await records.get(PLACE, 'changed')) ?? '';
  expect([...text].toSorted().join('')).toBe('01234567');
  await records.put(PLACE, 'changed', 'with bytes', of(Buffer.from('bytes')));
  await records.update(PLACE, 'changed', (before) => `still ${before}`);
  expect(await records.get(PLACE, 'changed')).toBe('still with bytes');
  expect((await bytesOf('changed')).toString()).toBe('bytes');
  await expect(
    records.update(PLACE, 'changed', () => {
      throw new RangeError('a defect');
    }),
  ).rejects.toThrow('a defect');
  expect(await records.get(PLACE, 'changed')).toBe('still with bytes');
  await records.remove(PLACE, 'changed');
  await other.close();
});

test('what processes left that died while they stored it goes when another one stores its first', async () => {
  const half = (name: string, age: string) => `with made as (
      insert into shared_record (root, kind, name, text, is_whole, stored_at)
      values ('/w', 'backup', '${name}', '{}', false, extract(epoch from now() - interval '${age}') * 1000)
      returning record_no)
    insert into shared_piece select record_no, 0, 'abc' from made`;
  await execute(own.url(), half('old', '61 minutes'));
  await execute(own.url(), half('young', '59 minutes'));
  const other = openStore({ kind: 'postgres', url: own.url() }, { clock: createFakeClock() });
  await other.sharedRecords?.put(PLACE, 'first', '{}');
  await other.close();
  const left = 'select name from shared_record left join shared_piece using (record_no)';
  expect(await execute(own.url(), `${left} where not is_whole or data is not null`)).toEqual([
    { name: 'young' },
  ]);
});

test('one that others took for left behind while it was stored is not there, and the one before it is', async () => {
  await records.put(PLACE, 'slow', 'before', of(Buffer.from('before')));
  async function* standingStill(): AsyncGenerator<Uint8Array> {
    yield Buffer.alloc(300_000);
    await execute(own.url(), 'update shared_record set stored_at = 0 where not is_whole');
    const other = openStore({ kind: 'postgres', url: own.url() }, { clock: createFakeClock() });
    await other.sharedRecords?.put(PLACE, 'first', '{}');
    await other.close();
    yield Buffer.alloc(300_000);
  }
  await expect(records.put(PLACE, 'slow', 'after', standingStill())).rejects.toMatchObject({
    code: 'STORE_UNAVAILABLE',
    retryable: true,
  });
  expect(await records.get(PLACE, 'slow')).toBe('before');
  expect((await bytesOf('slow')).toString()).toBe('before');
  const left = `select 1 from shared_piece where not exists
    (select 1 from shared_record where shared_record.record_no = shared_piece.record_no)`;
  expect(await execute(own.url(), left)).toEqual([]);
});

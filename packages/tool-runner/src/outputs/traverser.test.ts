import { systemClock } from '@orion/contracts';
import { createFakeClock } from '@orion/testkit';
import { afterEach, expect, it, vi } from 'vitest';

import { createTraverser, TRAVERSAL_LIMIT_MS } from './traverser.ts';
import type { StoredDocument, Traverser } from './traverser.ts';

const never = new AbortController().signal;
let traverser: Traverser = createTraverser({ clock: systemClock });
afterEach(async () => {
  await traverser.close();
  traverser = createTraverser({ clock: systemClock });
});

function stored(id: string, value: unknown): StoredDocument & { reads: number } {
  return {
    id,
    reads: 0,
    async read() {
      this.reads += 1;
      return typeof value === 'string' ? value : JSON.stringify(value);
    },
  };
}

const idsOf = (document: StoredDocument, signal = never): Promise<unknown> =>
  traverser
    .ask(document, { kind: 'extract', paths: ['$..id'], flatten: true }, signal)
    .then((json) => (JSON.parse(json) as { extracted: unknown }).extracted);

it('asks a document, and reads it once for several questions', async () => {
  const one = stored('one', [{ id: 1 }]);
  const two = stored('two', [{ id: 2 }]);
  expect(await idsOf(one)).toEqual([1]);
  expect(await idsOf(one)).toEqual([1]);
  expect(one.reads).toBe(1);
  expect(await idsOf(two)).toEqual([2]);
  expect(await idsOf(one)).toEqual([1]);
  expect(one.reads).toBe(2);
});

it('answers questions that come together each from its own document', async () => {
  const documents = Array.from({ length: 8 }, (_, id) => stored(`d${id % 3}`, [{ id: id % 3 }]));
  expect(await Promise.all(documents.map((document) => idsOf(document)))).toEqual(
    documents.map((_, id) => [id % 3]),
  );
});

it('says what is wrong with a question', async () => {
  await expect(
    traverser.ask(stored('one', {}), { kind: 'extract', paths: ['none'] }, never),
  ).rejects.toMatchObject({
    code: 'OUTPUT_QUERY_INVALID',
    hint: expect.stringContaining('begins with $'),
  });
});

it('says that a document is damaged, and answers the next one', async () => {
  const damaged = stored('one', '{"id":');
  await expect(idsOf(damaged)).rejects.toMatchObject({ code: 'OUTPUT_CORRUPT' });
  await expect(idsOf(damaged)).rejects.toMatchObject({ code: 'OUTPUT_CORRUPT' });
  expect(await idsOf(stored('two', [{ id: 2 }]))).toEqual([2]);
});

it('passes on why a document cannot be read, and answers the next question', async () => {
  const missing = { id: 'one', read: () => Promise.reject(new Error('gone')) };
  await expect(idsOf(missing)).rejects.toThrow('gone');
  expect(await idsOf(stored('one', [{ id: 1 }]))).toEqual([1]);
});

it('stops a question that takes too long, keeps this thread free meanwhile, and answers the next one', async () => {
  traverser = createTraverser({ clock: systemClock, limitMs: 1_500 });
  const hostile = stored(
    'one',
    Array.from({ length: 22 }, (_, id) => ({ id, s: 'a'.repeat(30) })),
  );
  let turns = 0;
  const ticking = setInterval(() => (turns += 1), 5);
  const path = '$[?search(@.s, "(a+)+(a+)+(a+)+$b")]';
  await expect(
    traverser.ask(hostile, { kind: 'extract', paths: [path] }, never),
  ).rejects.toMatchObject({
    code: 'OUTPUT_QUERY_LIMIT',
    message: expect.stringContaining('1.5 seconds'),
  });
  clearInterval(ticking);
  expect(turns).toBeGreaterThan(10);
  expect(await idsOf(hostile)).toHaveLength(22);
});

it('refuses a question with more matches than there is memory for', async () => {
  const long = stored('one', `[${'0,'.repeat(1_000_000)}0]`);
  await expect(
    traverser.ask(long, { kind: 'extract', paths: ['$[*]'] }, never),
  ).rejects.toMatchObject({
    code: 'OUTPUT_QUERY_INVALID',
    message: 'The path "$[*]" has more than 1000000 matches.',
  });
});

it('stops with its turn', async () => {
  const turn = new AbortController();
  const asking = traverser.ask(
    stored(
      'one',
      Array.from({ length: 22 }, () => ({ s: 'a'.repeat(30) })),
    ),
    { kind: 'extract', paths: ['$[?search(@.s, "(a+)+(a+)+(a+)+$b")]'] },
    turn.signal,
  );
  setTimeout(() => turn.abort(), 100);
  await expect(asking).rejects.toMatchObject({ code: 'ABORTED' });
  await expect(idsOf(stored('two', []), turn.signal)).rejects.toMatchObject({ code: 'ABORTED' });
  expect(await idsOf(stored('two', [{ id: 2 }]))).toEqual([2]);
});

it('refuses an answer that is too deep to be written', async () => {
  const deep = `${'['.repeat(20_000)}1${']'.repeat(20_000)}`;
  await expect(
    traverser.ask(stored('one', deep), { kind: 'extract', paths: ['$'] }, never),
  ).rejects.toMatchObject({ code: 'OUTPUT_QUERY_INVALID' });
});

const HOSTILE = {
  kind: 'extract',
  paths: ['$[?search(@.s, "(a+)+(a+)+(a+)+$b")]'],
} as const;
const SLOW = Array.from({ length: 22 }, (_, id) => ({ id, s: 'a'.repeat(30) }));

it('lets no question wait for two hostile ones, whatever their limit, and ends the threads of both', async () => {
  const clock = createFakeClock();
  traverser = createTraverser({ clock });
  const hostile = ['one', 'two'].map((id) => traverser.ask(stored(id, SLOW), HOSTILE, never));
  // Time does not pass here, so the hostile ones end only below.
  const ended: unknown[] = [];
  for (const asking of hostile) asking.catch((error: unknown) => ended.push(error));
  for (const id of [3, 4]) expect(await idsOf(stored(`d${id}`, [{ id }]))).toEqual([id]);
  expect(ended).toEqual([]);
  await vi.waitUntil(async () => {
    await clock.advance(TRAVERSAL_LIMIT_MS);
    return ended.length === 2;
  });
  expect(ended).toMatchObject([{ code: 'OUTPUT_QUERY_LIMIT' }, { code: 'OUTPUT_QUERY_LIMIT' }]);
});

it('parses a document again that is asked once, or is too long to be kept', async () => {
  const once = { ...stored('one', [{ id: 1 }]), once: true };
  const long = stored('long', [{ id: 2, s: 'x'.repeat(16 * 1024 * 1024) }]);
  for (const document of [once, long]) {
    await idsOf(document);
    await idsOf(document);
    expect(document.reads).toBe(2);
  }
});

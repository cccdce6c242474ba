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

/** Those of this process that run. */
function threads(): number {
  const report = process.report.getReport() as unknown as { readonly workers: readonly unknown[] };
  return report.workers.length;
}

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
  const limit = {
    code: 'OUTPUT_QUERY_LIMIT',
    message: 'The question took longer than 5 seconds and was stopped.',
    hint: 'Ask for a smaller part: a path without "..", or a deeper place.',
  };
  expect(ended).toMatchObject([limit, limit]);
  // The last thread that was not the first one has ended with its question.
  expect(threads()).toBeLessThanOrEqual(1);
});

it('parses a document again that is asked once, or is too long to be kept', async () => {
  const once = { ...stored('one', [{ id: 1 }]), once: true };
  const ofLength = (id: string, length: number) => {
    const empty = JSON.stringify([{ id, s: '' }]).length;
    return stored(id, [{ id, s: 'x'.repeat(length - empty) }]);
  };
  const kept = ofLength('kept', 16 * 1024 * 1024);
  const long = ofLength('long', 16 * 1024 * 1024 + 1);
  for (const document of [once, long, kept]) {
    await idsOf(document);
    await idsOf(document);
  }
  expect([once.reads, long.reads, kept.reads]).toEqual([2, 2, 1]);
});

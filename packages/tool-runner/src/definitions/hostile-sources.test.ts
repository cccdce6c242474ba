/** Sources that are made to hurt: each costs at most its limit, and the files beside it are answered. */
import { once } from 'node:events';
import { performance } from 'node:perf_hooks';
import { Worker } from 'node:worker_threads';

import { expect, it, vi } from 'vitest';

import { GRAMMAR_MEMORY } from '../testing/grammar-memory.ts';
import type { GrammarMemory } from '../testing/grammar-memory.ts';
import { outlineTexts } from '../testing/outline-texts.ts';
import { MAX_DEPTH, MAX_LISTED, MAX_SIGNATURE } from './list-definitions.ts';
import { MAX_SOURCE_BYTES, OUTLINE_LIMITS } from './outline.ts';

vi.setConfig({ testTimeout: 60_000 });

const repeated = (text: string, bytes: number = MAX_SOURCE_BYTES): string =>
  text.repeat(Math.floor(bytes / text.length));
/** The grammar of Rust looks at these again from every place: minutes for 1 MiB. */
const ENDLESS = repeated('r#"');
/** That of Java keeps every way to read these, in more memory than a thread is given. */
const GREEDY = repeated('a<');
const SOUND = 'export function sound() {}\n';

it('has the limits of the guide', () => {
  expect(OUTLINE_LIMITS).toEqual({ fileMs: 2_000, totalMs: 20_000, characters: 262_144 });
  expect([MAX_SOURCE_BYTES, MAX_LISTED, MAX_DEPTH, MAX_SIGNATURE]).toEqual([
    1_048_576, 1_000, 8, 200,
  ]);
});

it('ends a file that takes too long, and answers the others', async () => {
  const texts = new Map([
    ['a.ts', SOUND],
    ['endless.rs', ENDLESS],
    ['b.ts', SOUND],
    ['c.rs', 'fn sound() {}'],
  ]);
  const began = performance.now();
  const { files, stopped } = await outlineTexts(texts, { fileMs: 700 });
  // It would take minutes.
  expect(performance.now() - began).toBeLessThan(30_000);
  expect(stopped).toBeNull();
  expect(files).toMatchObject([
    { definitions: ['1 function: export function sound()'] },
    { path: 'endless.rs', error: 'Parsing it took longer than 0.7 s and was stopped.' },
    { definitions: ['1 function: export function sound()'] },
    { definitions: ['1 function: fn sound()'] },
  ]);
});

it(
  'ends a file that takes too much memory, and answers the others',
  { tags: ['long'] },
  async () => {
    const texts = new Map([
      ['greedy.java', GREEDY],
      ['b.java', 'class Sound {}'],
    ]);
    const { files } = await outlineTexts(texts);
    expect(files).toMatchObject([
      { path: 'greedy.java', error: 'Parsing it failed, most likely for lack of memory.' },
      { definitions: ['1 class: class Sound'] },
    ]);
  },
);

it('gives all grammars of a thread no more than 256 MiB together', { tags: ['long'] }, async () => {
  const workerData = { language: 'java', source: GREEDY };
  const [answer] = (await once(new Worker(new URL(GRAMMAR_MEMORY), { workerData }), 'message')) as [
    GrammarMemory,
  ];
  expect(answer.failed).toBe(true);
  expect(answer.bytes).toHaveLength(1);
  expect(answer.bytes[0]).toBeGreaterThan(200 * 1024 ** 2);
  expect(answer.bytes[0]).toBeLessThanOrEqual(256 * 1024 ** 2);
});

it('ends with the total time, and says where', async () => {
  const texts = new Map([
    ['endless.rs', ENDLESS],
    ['b.ts', SOUND],
  ]);
  expect(await outlineTexts(texts, { totalMs: 700 })).toEqual({ files: [], stopped: 'time' });
  expect(await outlineTexts(texts, { totalMs: 0 })).toEqual({ files: [], stopped: 'time' });
});

it('ends when it is aborted', async () => {
  const abort = new AbortController();
  const asked = outlineTexts(new Map([['endless.rs', ENDLESS]]), {}, abort.signal);
  const timer = setTimeout(() => abort.abort(), 300);
  await expect(asked).rejects.toMatchObject({ code: 'ABORTED' });
  clearTimeout(timer);
});

it('reads what is nested deep, without a stack that could end', { tags: ['long'] }, async () => {
  const texts = new Map([
    ['open.ts', repeated('[', 100_000)],
    ['closed.py', repeated('(', 100_000) + repeated(')', 100_000)],
    ['blocks.js', repeated('{', 100_000) + repeated('}', 100_000)],
    ['one.go', repeated('{[(', 30_000)],
    ['spaces.ts', `export class Wide${' '.repeat(MAX_SOURCE_BYTES - 100)}{ inside() {} }`],
    ['broken.ts', `${repeated('}', 1000)}\n${SOUND}`],
  ]);
  const { files } = await outlineTexts(texts);
  const of = (path: string) => files.find((file) => file.path === path);
  expect(of('open.ts')).toMatchObject({ definitions: [], hasErrors: true });
  expect(of('closed.py')).toMatchObject({ definitions: [], hasErrors: false });
  expect(of('blocks.js')).toMatchObject({ definitions: [], hasErrors: false });
  expect(of('one.go')).toMatchObject({ definitions: [], hasErrors: true });
  expect(of('spaces.ts')).toMatchObject({
    definitions: ['1 class: export class Wide…', '  1 method: inside()'],
  });
  expect(of('broken.ts')).toMatchObject({
    definitions: ['2 function: export function sound()'],
    hasErrors: true,
  });
});

it('ends with the room for definitions, and says where', async () => {
  const sized = new Map(['a', 'b', 'c'].map((name) => [`${name}.ts`, SOUND]));
  const characters = 2 * '1 function: export function sound()'.length;
  const { files, stopped } = await outlineTexts(sized, { characters });
  expect(files.map(({ path }) => path)).toEqual(['a.ts', 'b.ts']);
  expect(stopped).toBe('size');
  expect(await outlineTexts(sized, { characters: characters + 1 })).toMatchObject({
    stopped: null,
  });
});

it('shows the hidden characters of a name', async () => {
  const source = 'class Safe\u202e\u200b { "a\u0007\u001b[31m"() {} }\n';
  const { files } = await outlineTexts(new Map([['a.js', source]]));
  const text = JSON.stringify(files);
  expect(text).toContain(String.raw`a\\u{7}\\u{1b}[31m`);
  for (const hidden of '\u202e\u200b\u0007\u001b') expect(text).not.toContain(hidden);
});

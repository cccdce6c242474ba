import { expect, it } from 'vitest';

import { foldDiff } from './fold-diff.ts';

/** Hazard: what a person agrees to was never shown, or the rest of it is not counted. R256. */

async function* of(lines: readonly string[]): AsyncGenerator<string, void> {
  yield* lines;
}

const hunk = (name: string, lines: number): readonly string[] => [
  `@@ ${name} @@`,
  ...Array.from({ length: lines }, (_, index) => `+${name} ${index + 1}`),
];

it.each([0, 1, 199, 200])('shows a diff of %d lines whole', async (count) => {
  const lines = ['--- a', '+++ b', ...hunk('one', 300)].slice(0, count);
  const folded = await foldDiff(of(lines));
  expect(folded).toMatchObject({ head: lines, leftOut: 0, tail: [] });
});

it('shows the ends of one long hunk, and counts the rest', async () => {
  const lines = ['--- a', '+++ b', ...hunk('one', 198)];
  const { head, leftOut, tail, added, removed } = await foldDiff(of(lines));
  expect(head).toEqual(lines.slice(0, 100));
  expect(tail).toEqual(lines.slice(-100));
  expect([leftOut, added, removed]).toEqual([1, 198, 0]);
});

it('shows the first and the last hunk of many, each with its place', async () => {
  const lines = [
    '--- a',
    '+++ b',
    ...hunk('one', 3),
    '-gone',
    ...hunk('two', 300),
    ...hunk('end', 2),
  ];
  const { head, leftOut, tail, added, removed } = await foldDiff(of(lines));
  expect(head).toEqual(lines.slice(0, 7));
  expect(tail).toEqual(['@@ end @@', '+end 1', '+end 2']);
  expect([leftOut, added, removed]).toEqual([301, 305, 1]);
});

it('shows the place of a last hunk of which only the end is shown', async () => {
  const lines = [...hunk('one', 2), ...hunk('end', 101)];
  const short = await foldDiff(of(lines));
  expect(short.tail).toEqual([]);
  const { head, leftOut, tail } = await foldDiff(of([...hunk('one', 102), ...hunk('end', 101)]));
  expect(head).toEqual(hunk('one', 99));
  expect(tail).toEqual(['@@ end @@', ...hunk('end', 101).slice(2)]);
  expect(leftOut).toBe(4);
});

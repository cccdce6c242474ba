import { expect, test } from 'vitest';
import { appendToSummary, createSummary, wholeFenceLedger } from './content-summary.ts';

function ledgerOf(text: string) {
  const { fences } = appendToSummary(createSummary(), text);
  return {
    count: fences.fenceCount,
    open: fences.open.map((mark) => mark.line),
    beyond: fences.openBeyond,
    closed: fences.closedCount,
  };
}

test.each([
  ['a block', '```js\nx\n```\n', { count: 2, open: [], closed: 1 }],
  ['an open block', 'a\n```js\nx\n', { count: 1, open: [2], closed: 0 }],
  ['two blocks', '```\nx\n```\n```\ny\n```\n', { count: 4, open: [], closed: 2 }],
  ['a named fence in another', '```md\n```js\nx\n```\n', { count: 3, open: [1], closed: 0 }],
  ['a shorter fence inside', '````md\n```\nx\n```\n````\n', { count: 4, open: [], closed: 1 }],
  ['underlines in a block', '```rst\nTitle\n~~~~~\n```\n', { count: 3, open: [], closed: 1 }],
  ['a longer closing fence', '```\nx\n`````\n', { count: 2, open: [], closed: 1 }],
  ['an indented code line is none', '    ```\n', { count: 0, open: [], closed: 0 }],
  ['a code span is none', '``` `x` ```\n', { count: 0, open: [], closed: 0 }],
])('fences open and close: %s', (_name, text, expected) => {
  expect(ledgerOf(text)).toMatchObject(expected);
});

test('C2: nesting is counted beyond what is kept', () => {
  const deep = '```js\n'.repeat(12);
  expect(ledgerOf(deep)).toMatchObject({ open: [1, 2, 3, 4, 5, 6, 7, 8], beyond: 4 });
  expect(ledgerOf(deep + '```\n'.repeat(5))).toMatchObject({
    open: [1, 2, 3, 4, 5, 6, 7],
    beyond: 0,
  });
  expect(ledgerOf(deep + '```\n'.repeat(12))).toMatchObject({ open: [], closed: 1 });
});

test('lines are marked with their bytes, blank ones are not', () => {
  const text = '\né\r\n```py\n\nx\n  y\nz\n\n```\n';
  const { fences } = appendToSummary(createSummary(), text);
  expect(fences.firstLines).toEqual([
    { line: 2, start: 1, end: 5, text: 'é', fence: null },
    { line: 3, start: 5, end: 11, text: '```py', fence: { character: '`', length: 3, info: 'py' } },
    { line: 5, start: 12, end: 14, text: 'x', fence: null },
    { line: 6, start: 14, end: 18, text: '  y', fence: null },
    { line: 7, start: 18, end: 20, text: 'z', fence: null },
    { line: 9, start: 21, end: 25, text: '```', fence: { character: '`', length: 3, info: '' } },
  ]);
  expect(appendToSummary(createSummary(), 'a\n'.repeat(9)).fences.firstLines).toHaveLength(6);
  expect(fences.lastLines.map((mark) => mark.line)).toEqual([3, 5, 6, 7, 9]);
  expect(fences.lastFence).toMatchObject({ line: 9, start: 21, end: 25 });
});

test('C5: the open line is judged only when asked for', () => {
  const summary = appendToSummary(createSummary(), '```py\nx\n```');
  expect(summary.fences).toMatchObject({ fenceCount: 1, closedCount: 0 });
  expect(wholeFenceLedger(summary)).toMatchObject({ fenceCount: 2, closedCount: 1, open: [] });
  expect(summary.fences.fenceCount).toBe(1);
  expect(wholeFenceLedger(appendToSummary(summary, '\n'))).toMatchObject({ fenceCount: 2 });
});

test('C2: a long line is cut, and is no fence', () => {
  const { fences } = appendToSummary(createSummary(), `\`\`\`${'x'.repeat(2_000)}\n`);
  expect(fences.firstLines[0]?.text).toHaveLength(400);
  expect(fences.fenceCount).toBe(0);
});

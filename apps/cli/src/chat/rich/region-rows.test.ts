import { describe, expect, it } from 'vitest';

import type { FaceChoice } from '../face.ts';
import { layOutRegion, questionRows, typedRows, type RegionParts } from './region-rows.ts';

/** Hazard: a small screen hides what a person has to see first, or something invisible is in what they see. */

const PARTS: RegionParts = {
  open: ['open 1', 'open 2', 'open 3', 'open 4', 'open 5'],
  view: {
    busy: true,
    activity: 'docs/guide.md  221 lines',
    queued: ['first', 'and mention\n  Windows'],
    status: ['gpt-5', 'act', '12.4k of 400k tokens', '3 files, 48.2 kB kept'],
    question: null,
  },
  asked: [],
  typed: typedRows('> ', { rows: ['one', 'two'], caret: { row: 1, before: 'tw' } }),
  menu: ['→ /help', '  /exit'],
};
const CHOICES: readonly FaceChoice[] = [
  { key: 'y', label: '(y)es', asksFor: null },
  { key: 'n', label: '(n)o, keep the text', asksFor: null },
];
const rule = (columns: number): string => '─'.repeat(columns);

describe('the region', () => {
  it('shows what is going on, what is typed and the state, in this order', () => {
    const { rows, caret } = layOutRegion(PARTS, { columns: 70, rows: 40, colors: false });
    expect(rows).toEqual([
      rule(70),
      'open 3',
      'open 4',
      'open 5',
      'docs/guide.md  221 lines',
      `  and mention Windows${' '.repeat(40)}queued: 2`,
      '> one',
      '  two',
      '→ /help',
      '  /exit',
      rule(70),
      'gpt-5 · act · 12.4k of 400k tokens · 3 files, 48.2 kB kept',
    ]);
    expect(caret).toEqual({ row: 7, before: '  tw' });
  });

  it.each([
    [12, 11],
    [10, 9],
    [8, 7],
    [4, 3],
  ])('on a screen of %i rows takes %i, and leaves out what matters least', (rows, shown) => {
    const frame = layOutRegion(PARTS, { columns: 70, rows, colors: false });
    expect(frame.rows).toHaveLength(shown);
    expect(frame.rows.slice(frame.caret.row - 1, frame.caret.row + 1)).toEqual(['> one', '  two']);
    expect(frame.rows.includes('open 5')).toBe(rows > 10);
    expect(frame.rows.some((row) => row.startsWith('gpt-5'))).toBe(rows >= 8);
  });

  it('lets parts of the status go from the right, and cuts what is too wide', () => {
    const status = (columns: number): string | undefined =>
      layOutRegion(PARTS, { columns, rows: 24, colors: false }).rows.at(-1);
    expect(status(58)).toBe('gpt-5 · act · 12.4k of 400k tokens · 3 files, 48.2 kB kept');
    expect(status(57)).toBe('gpt-5 · act · 12.4k of 400k tokens');
    expect(status(33)).toBe('gpt-5 · act');
    expect(status(4)).toBe('gpt…');
  });

  it('has the cursor behind a question that one key answers', () => {
    const asked = questionRows('Write a.ts?', CHOICES, 70);
    const frame = layOutRegion(
      { ...PARTS, asked, typed: null, menu: [] },
      { columns: 70, rows: 24, colors: false },
    );
    expect(asked).toEqual(['Write a.ts?  (y)es  (n)o, keep the text']);
    expect(frame.rows[frame.caret.row]).toBe(asked[0]);
    expect(frame.caret.before).toBe(`${asked[0]} `);
  });

  it('B15, B16: shows as text whatever is in its parts', () => {
    const hostile = 'a\u001B[2Jb\u009B1m\u202Ec\nd';
    const { rows } = layOutRegion(
      {
        ...PARTS,
        view: { ...PARTS.view, activity: hostile, queued: [hostile], status: [hostile] },
        asked: questionRows(hostile, [{ key: 'y', label: hostile, asksFor: null }], 70),
      },
      { columns: 70, rows: 24, colors: false },
    );
    expect(rows.filter((row) => row.includes('a\\x1b[2Jb\\x9b1m\\u202ec'))).toHaveLength(5);
    // oxlint-disable-next-line no-control-regex -- control characters are what this is about
    expect(rows.join('')).not.toMatch(/[\u0000-\u001F\u007F-\u009F\u202E]/u);
  });
});

describe('a question', () => {
  it('is wrapped at words, its answers below it where there is no room beside', () => {
    expect(questionRows('Write docs/guide.md (+6 −2)?', CHOICES, 40)).toEqual([
      'Write docs/guide.md (+6 −2)?',
      '(y)es  (n)o, keep the text',
    ]);
    expect(questionRows('One\nand two?', CHOICES, 60)).toEqual([
      'One',
      'and two?  (y)es  (n)o, keep the text',
    ]);
  });
});

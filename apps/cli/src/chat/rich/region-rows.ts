import { sanitizeLine } from '../../terminal/sanitize.ts';
import { paint } from '../../terminal/tone.ts';
import type { FaceChoice, FaceView } from '../face.ts';
import { clipToWidth, widthOf, wrapToWidth } from './line-editor.ts';
import { MAX_REGION_ROWS, type Caret, type Frame } from './live-region.ts';

/** What the region is made of, from its first row to its last. */
export type RegionParts = {
  /** The end of a text that is not complete yet. */
  readonly open: readonly string[];
  readonly view: FaceView;
  /** What is asked, where it is. */
  readonly asked: readonly string[];
  /** What is typed; null while one key answers. */
  readonly typed: TypedRows | null;
  /** Completions, or the items of a list. */
  readonly menu: readonly string[];
};

export type TypedRows = { readonly rows: readonly string[]; readonly caret: Caret };

export type Room = { readonly columns: number; readonly rows: number; readonly colors: boolean };

/** Rows of one kind; of those with the highest rank there are fewer when there is not room for all. */
type Section = {
  readonly rows: readonly string[];
  readonly rank: number;
  /** Which rows are kept when there is not room for all of them. */
  readonly keeps: 'first' | 'last';
};

const MAX_OPEN_ROWS = 4;

export function layOutRegion(parts: RegionParts, { columns, rows, colors }: Room): Frame {
  const { view, typed, asked } = parts;
  const faint = (text: string): string => paint(text, 'faint', colors);
  const rule = [faint('─'.repeat(columns))];
  const queued = view.queued.at(-1);
  const sections: readonly Section[] = [
    // First, since it is what may stay behind after a change of width.
    { rows: rule, rank: 6, keeps: 'first' },
    { rows: parts.open.slice(-MAX_OPEN_ROWS), rank: 8, keeps: 'last' },
    {
      rows: view.activity === null ? [] : [sanitizeLine(view.activity)],
      rank: 4,
      keeps: 'first',
    },
    {
      rows:
        queued === undefined
          ? []
          : [faint(spread(`  ${oneLine(queued)}`, `queued: ${view.queued.length}`, columns))],
      rank: 5,
      keeps: 'first',
    },
    { rows: asked, rank: 1, keeps: 'last' },
    { rows: typed?.rows ?? [], rank: 0, keeps: 'last' },
    { rows: parts.menu, rank: 2, keeps: 'first' },
    { rows: rule, rank: 7, keeps: 'first' },
    { rows: [faint(statusRow(view.status, columns))], rank: 3, keeps: 'first' },
  ];
  const kept = fit(sections, Math.min(MAX_REGION_ROWS, rows - 1));
  const before = kept.slice(0, TYPED).flat().length;
  const caret =
    typed === null
      ? { row: before - 1, before: `${clipToWidth(asked.at(-1) ?? '', columns - 1)} ` }
      : { row: before + typed.caret.row, before: typed.caret.before };
  return { rows: kept.flat().map((row) => clipToWidth(row, columns)), caret };
}

const TYPED = 5;

/** As many rows as there is room for, by rank. */
function fit(sections: readonly Section[], room: number): readonly (readonly string[])[] {
  let left = room;
  const counts = new Map<Section, number>();
  for (const section of sections.toSorted((one, other) => one.rank - other.rank)) {
    const count = Math.min(section.rows.length, left);
    counts.set(section, count);
    left -= count;
  }
  return sections.map((section) => {
    const count = counts.get(section) ?? 0;
    if (section.keeps === 'first') return section.rows.slice(0, count);
    return count === 0 ? [] : section.rows.slice(-count);
  });
}

/** The parts that fit, those at the end going first. */
function statusRow(status: readonly string[], columns: number): string {
  const parts = status.map(sanitizeLine);
  while (parts.length > 1 && widthOf(parts.join(' · ')) > columns) parts.pop();
  return clipToWidth(parts.join(' · '), columns);
}

/** One text at the left and one at the right; the right one only where there is room. */
export function spread(left: string, right: string, columns: number): string {
  const room = columns - widthOf(right) - 2;
  if (widthOf(left) > room) return clipToWidth(left, columns);
  return `${left}${' '.repeat(columns - widthOf(left) - widthOf(right))}${right}`;
}

/** No row is so long. */
const MAX_SHOWN = 1000;

/** A question and its answers, in rows. */
export function questionRows(
  text: string,
  choices: readonly FaceChoice[],
  columns: number,
): readonly string[] {
  const question = text.split('\n').flatMap((line) => wrapToWidth(sanitizeLine(line), columns));
  const answers = choices.map(({ label }) => sanitizeLine(label)).join('  ');
  const last = question.at(-1) ?? '';
  // The cursor is behind it.
  if (widthOf(last) + 2 + widthOf(answers) < columns) {
    return [...question.slice(0, -1), `${last}  ${answers}`];
  }
  return [...question, ...wrapToWidth(answers, columns - 1)];
}

/** What is typed behind a sign. */
export function typedRows(sign: string, { rows, caret }: TypedRows): TypedRows {
  const indent = ' '.repeat(widthOf(sign));
  const lead = (row: number): string => (row === 0 ? sign : indent);
  return {
    rows: rows.map((row, index) => `${lead(index)}${row}`),
    caret: { row: caret.row, before: `${lead(caret.row)}${caret.before}` },
  };
}

export function oneLine(text: string): string {
  return sanitizeLine(text.trimStart().slice(0, MAX_SHOWN).trimEnd().replaceAll(/\s+/gu, ' '));
}

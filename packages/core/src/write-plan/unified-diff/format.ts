/**
 * Formats line edits as a unified diff, one line at a time.
 *
 * A hunk that is too large to hold is divided into several without context between them.
 */
import { CONTEXT_LINES } from './line-edits.ts';
import type { DiffLine, LineEdit } from './line-edits.ts';

const CONTEXT: number = CONTEXT_LINES;
const MAX_HUNK_LINES = 5000;
const MAX_HUNK_CHARACTERS = 2 * 1024 * 1024;

export type DiffSides = {
  /** Null if the file does not exist. */
  readonly before: string | null;
  readonly after: string;
};

/** Yields lines without their LF; a CR before it is part of the line. */
export async function* formatDiff(
  edits: AsyncIterable<LineEdit>,
  sides: DiffSides,
): AsyncGenerator<string, void, undefined> {
  let hasHeader = false;
  for await (const line of hunks(edits)) {
    if (!hasHeader) {
      yield `--- ${sides.before === null ? '/dev/null' : `a/${sides.before}`}`;
      yield `+++ b/${sides.after}`;
      hasHeader = true;
    }
    yield line;
  }
}

type ShownLine = Exclude<LineEdit, { readonly kind: 'skipped' }>;

type Hunk = {
  readonly oldStart: number;
  readonly newStart: number;
  characters: number;
  /** The number of lines at its end that are equal on both sides. */
  trailing: number;
  readonly edits: ShownLine[];
};

async function* hunks(edits: AsyncIterable<LineEdit>): AsyncGenerator<string, void, undefined> {
  let oldLine = 1;
  let newLine = 1;
  /** The last equal lines: the context of the next hunk. */
  let context: ShownLine[] = [];
  let hunk: Hunk | null = null;

  for await (const edit of edits) {
    if (edit.kind === 'skipped') {
      oldLine += edit.lines;
      newLine += edit.lines;
      context = [];
      continue;
    }
    if (hunk === null && edit.kind === 'same') {
      context = [...context.slice(1 - CONTEXT), edit];
    } else {
      if (hunk === null) {
        hunk = {
          oldStart: oldLine - context.length,
          newStart: newLine - context.length,
          characters: 0,
          trailing: 0,
          edits: [],
        };
        for (const each of context) add(hunk, each);
        context = [];
      }
      add(hunk, edit);
      hunk.trailing = edit.kind === 'same' ? hunk.trailing + 1 : 0;
      if (hunk.trailing > 2 * CONTEXT) {
        context = takeTrailing(hunk);
        yield* linesOf(hunk);
        hunk = null;
      } else if (hunk.edits.length >= MAX_HUNK_LINES || hunk.characters >= MAX_HUNK_CHARACTERS) {
        yield* linesOf(hunk);
        hunk = null;
      }
    }
    if (edit.kind !== 'added') oldLine += 1;
    if (edit.kind !== 'removed') newLine += 1;
  }
  if (hunk === null) return;
  takeTrailing(hunk);
  yield* linesOf(hunk);
}

function add(hunk: Hunk, edit: ShownLine): void {
  hunk.edits.push(edit);
  hunk.characters += edit.line.text.length;
}

/** Removes trailing context beyond the usual length; returns the last of the removed lines. */
function takeTrailing(hunk: Hunk): ShownLine[] {
  const surplus = Math.max(0, hunk.trailing - CONTEXT);
  return hunk.edits.splice(hunk.edits.length - surplus).slice(-CONTEXT);
}

function* linesOf(hunk: Hunk): Generator<string, void, undefined> {
  const { edits, oldStart, newStart } = hunk;
  const before = edits.filter(({ kind }) => kind !== 'added').length;
  const after = edits.filter(({ kind }) => kind !== 'removed').length;
  yield `@@ -${range(oldStart, before)} +${range(newStart, after)} @@`;
  for (const edit of edits) yield* shown(edit);
}

/** The range of a side without lines is the line before it. */
function range(start: number, count: number): string {
  const first = count === 0 ? start - 1 : start;
  return count === 1 ? String(first) : `${first},${count}`;
}

const SIGNS = { same: ' ', removed: '-', added: '+' } as const;

function* shown({ kind, line }: ShownLine): Generator<string, void, undefined> {
  yield `${SIGNS[kind]}${readable(line)}`;
  if (line.omitted === 0 && !line.text.endsWith('\n')) yield '\\ No newline at end of file';
}

function readable({ text, omitted, sha256 }: DiffLine): string {
  const bytes = text.endsWith('\n') ? text.length - 1 : text.length;
  if (text.includes('\0')) return `(binary: ${bytes + omitted} bytes)`;
  const decoded = Buffer.from(text.slice(0, bytes), 'latin1').toString('utf8');
  if (omitted === 0) return decoded;
  return `${decoded} (this line goes on for ${omitted} bytes; its sha256 is ${sha256 ?? ''})`;
}

const SHORTENED = / \(this line goes on for \d+ bytes; its sha256 is [\da-f]{64}\)$/u;

/** Whether a line of a diff has only the beginning of the line that it shows; also of one that says so itself. */
export function isShortened(line: string): boolean {
  return line.endsWith(')') && SHORTENED.test(line.slice(-160));
}

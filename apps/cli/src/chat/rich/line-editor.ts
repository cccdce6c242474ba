import { stripVTControlCharacters } from 'node:util';

import {
  CURSOR_MARKER,
  Editor,
  matchesKey,
  SelectList,
  StdinBuffer,
  truncateToWidth,
  visibleWidth,
  wrapTextWithAnsi,
  type KeyId,
  type TUI,
} from '@earendil-works/pi-tui';

import { sanitize, sanitizeLine } from '../../terminal/sanitize.ts';
import { emphasize, paint } from '../../terminal/tone.ts';
import type { Completer } from '../face.ts';
import type { Caret } from './live-region.ts';

/**
 * The only file that knows the library of the editor.
 *
 * E1. What was typed, pasted or set comes out as it was, tabs included. Line ends become line feeds, and control
 *     characters of a paste are left out.
 * E2. What is rendered is harmless, whatever the text holds.
 */
export type LineEditor = {
  /** One key, as the terminal has sent it. */
  handle(key: string): void;
  paste(text: string): void;
  text(): string;
  setText(text: string): void;
  isEmpty(): boolean;
  /** Whether the caret is directly behind this character. */
  isBehind(character: string): boolean;
  /** Whether the caret is on the first row or the last one, as last rendered. */
  isAtTop(): boolean;
  isAtBottom(): boolean;
  /** Whether a list of completions is open. */
  isCompleting(): boolean;
  /** Puts the selected completion in the place of what is typed. Null: it is that already, or the list is of another text. */
  accept(): { readonly isCommand: boolean } | null;
  render(width: number): RenderedEditor;
};

export type RenderedEditor = {
  readonly rows: readonly string[];
  readonly caret: Caret;
  /** The list of completions. */
  readonly menu: readonly string[];
};

export type LineEditorOptions = {
  /** Null: nothing is completed. */
  readonly complete: Completer | null;
  readonly colors: boolean;
  /** A completion has arrived. */
  readonly changed: () => void;
};

export type SelectionList = {
  handle(key: string): void;
  /** Null when the list is empty. */
  selected(): string | null;
  render(width: number): readonly string[];
};

export type ListItem = {
  readonly value: string;
  readonly label: string;
  readonly detail: string;
};

/** The editor shows 5 rows on a screen of so many. */
const SCREEN_ROWS = 16;
const MENU_ROWS = 5;
/** What the library leaves free beside a label. */
const LIST_MARGINS = 4;
const COLUMN_GAP = 2;
/** A detail that has less room says nothing. */
const LEAST_DETAIL = 4;
/** In the place of a tab, which the library would replace by blanks: no text has this character. */
const TAB = '\uFDD0';
const CARET = `${CURSOR_MARKER}\u001B[7m`;
const CARET_END = '\u001B[0m';
const TAB_KEY = '\t';
const PASTE_BEGIN = '\u001B[200~';
const PASTE_END = '\u001B[201~';
/** How long the rest of a key is waited for where Esc is sent as the beginning of one. */
const ESCAPE_MS = 30;

export function createLineEditor({ complete, colors, changed }: LineEditorOptions): LineEditor {
  const editor = new BorderlessEditor(colors, changed);
  /** What the last completion did. */
  let accepted: { readonly isCommand: boolean } | null = null;
  /** As last rendered. */
  let columns = 0;
  if (complete !== null) {
    editor.setAutocompleteProvider({
      async getSuggestions(lines, line, column, { signal }) {
        const before = [...lines.slice(0, line), (lines[line] ?? '').slice(0, column)].join('\n');
        const found = await complete(outOf(lines.join('\n')), before.length, signal);
        if (found === null || found.items.length === 0) return null;
        const rows = selectItems(found.items, () => columns, colors);
        const items = rows.map((item) => Object.assign(item, { before }));
        return { items, prefix: before.slice(found.from) };
      },
      applyCompletion(lines, line, column, item, prefix) {
        const from = column - prefix.length;
        const text = lines[line] ?? '';
        const value = into(sanitizeLine(item.value));
        const before = [...lines.slice(0, line), text.slice(0, column)].join('\n');
        // The list arrives later than what is typed, and may be that of an earlier text.
        if (value === prefix || !('before' in item) || item.before !== before) {
          return { lines, cursorLine: line, cursorCol: column };
        }
        accepted = { isCommand: prefix.startsWith('/') };
        const completedLine = `${text.slice(0, from)}${value}${text.slice(column)}`;
        return {
          lines: lines.with(line, completedLine),
          cursorLine: line,
          cursorCol: from + value.length,
        };
      },
    });
  }
  let caretRow = 0;
  let rowCount = 1;

  return {
    handle: (key) => editor.handleInput(key),
    paste: (text) => editor.handleInput(`${PASTE_BEGIN}${into(text)}${PASTE_END}`),
    text: () => outOf(editor.getExpandedText()),
    setText: (text) => editor.setText(into(text)),
    isEmpty: () => editor.getText() === '',
    isBehind(character) {
      const { line, col } = editor.getCursor();
      return (editor.getLines()[line] ?? '').charAt(col - 1) === character;
    },
    isAtTop: () => editor.hiddenAbove === 0 && caretRow === 0,
    isAtBottom: () => editor.hiddenBelow === 0 && caretRow === rowCount - 1,
    isCompleting: () => editor.isShowingAutocomplete(),
    accept() {
      accepted = null;
      editor.handleInput(TAB_KEY);
      return accepted;
    },
    render(width) {
      columns = width;
      const rendered = editor.render(width);
      const rows = rendered.slice(1, rendered.indexOf(BOTTOM));
      const found = rows.findIndex((row) => row.includes(CARET));
      caretRow = Math.max(0, found);
      rowCount = rows.length;
      const [before = ''] = (rows[caretRow] ?? '').split(CARET);
      return {
        rows: rows.map((row) => shown(row.replace(CARET, '').replace(CARET_END, '').trimEnd())),
        caret: { row: caretRow, before: found === -1 ? '' : shown(before) },
        menu: rendered.slice(rendered.indexOf(BOTTOM) + 1).map((row) => row.trimEnd()),
      };
    },
  };
}

/** Where the library would draw its lower border: a line that no text makes. */
const BOTTOM = '\n';

/** Its borders say how much there is above and below, and are not drawn. */
class BorderlessEditor extends Editor {
  hiddenAbove = 0;
  hiddenBelow = 0;

  constructor(colors: boolean, changed: () => void) {
    const screen = { terminal: { rows: SCREEN_ROWS }, requestRender: changed };
    super(
      screen as unknown as TUI,
      { borderColor: (text) => text, selectList: listTheme('', colors) },
      { autocompleteMaxVisible: MENU_ROWS },
    );
    this.focused = true;
    // It would remove blanks around what is sent.
    this.disableSubmit = true;
  }

  protected override renderTopBorder(_width: number, hidden: number): string {
    this.hiddenAbove = hidden;
    return '';
  }

  protected override renderBottomBorder(_width: number, hidden: number): string {
    this.hiddenBelow = hidden;
    return BOTTOM;
  }
}

/** One of these is selected, with the arrow keys. */
export function createSelectionList(
  items: readonly ListItem[],
  nothing: string,
  colors: boolean,
): SelectionList {
  let columns = 0;
  const rows = selectItems(items, () => columns, colors);
  const list = new SelectList(rows, MENU_ROWS, listTheme(nothing, colors));
  return {
    handle: (key) => list.handleInput(key),
    selected: () => list.getSelectedItem()?.value ?? null,
    render(width) {
      columns = width;
      return list.render(width).map((row) => row.trimEnd());
    },
  };
}

function listTheme(nothing: string, colors: boolean) {
  const same = (text: string): string => text;
  return {
    selectedPrefix: same,
    selectedText: (text: string) => emphasize(stripVTControlCharacters(text).trimEnd(), colors),
    description: same,
    scrollInfo: (text: string) => paint(stripVTControlCharacters(text).trimEnd(), 'faint', colors),
    noMatch: () => nothing,
  };
}

/**
 * Items in two columns, of which the narrower one is whole and the other has the rest. To the library each is a label
 * alone, made when it is rendered: its own columns are 32 wide on every terminal.
 */
function selectItems(items: readonly ListItem[], width: () => number, colors: boolean) {
  const harmless = items.map(({ value, label, detail }) => ({
    value,
    label: sanitizeLine(label),
    detail: sanitizeLine(detail),
  }));
  const widest = (column: 'label' | 'detail'): number =>
    harmless.reduce((most, item) => Math.max(most, widthOf(item[column])), 0);
  const labels = widest('label');
  const details = widest('detail');
  return harmless.map(({ value, label, detail }) => ({
    value,
    get label() {
      const room = width() - LIST_MARGINS;
      const least = labels <= details ? labels : Math.floor(room / 3);
      const first = Math.min(labels, room, Math.max(least, room - details - COLUMN_GAP));
      const shownLabel = clipToWidth(label, first);
      const rest = room - first - COLUMN_GAP;
      if (detail === '' || rest < LEAST_DETAIL) return shownLabel;
      const gap = ' '.repeat(first - widthOf(shownLabel) + COLUMN_GAP);
      return `${shownLabel}${gap}${paint(clipToWidth(detail, rest), 'faint', colors)}`;
    },
  }));
}

/** Splits what the terminal sends into keys and pasted texts. */
export function readKeys(
  onKey: (key: string) => void,
  onPaste: (text: string) => void,
): { push(data: string): void; end(): void } {
  const buffer = new StdinBuffer({ escapeTimeout: ESCAPE_MS });
  buffer.on('data', onKey);
  buffer.on('paste', onPaste);
  /** The library would search all of a paste at each piece of it. */
  let pasted: string[] | null = null;

  function push(data: string): void {
    if (pasted === null) {
      const begin = data.indexOf(PASTE_BEGIN);
      if (begin !== 0) buffer.process(begin === -1 ? data : data.slice(0, begin));
      if (begin === -1) return;
      pasted = [];
      push(data.slice(begin + PASTE_BEGIN.length));
      return;
    }
    const last = (pasted.pop() ?? '') + data;
    const end = last.indexOf(PASTE_END);
    if (end === -1) {
      // The next piece may have the rest of the end.
      const kept = Math.max(0, last.length - PASTE_END.length);
      pasted.push(last.slice(0, kept), last.slice(kept));
      return;
    }
    const text = [...pasted, last.slice(0, end)].join('');
    pasted = null;
    onPaste(text);
    if (end + PASTE_END.length < last.length) push(last.slice(end + PASTE_END.length));
  }

  return { push, end: () => buffer.destroy() };
}

export function isKey(key: string, ...names: readonly KeyId[]): boolean {
  return names.some((name) => matchesKey(key, name));
}

/** Columns that a text takes. */
export function widthOf(text: string): number {
  return visibleWidth(text);
}

/** The beginning of a text that fits, with its colours ended. */
export function clipToWidth(text: string, width: number): string {
  const cut = truncateToWidth(text, width, '…');
  // The library resets colours before and behind its sign, also where there are none.
  return text.includes('\u001B') ? cut : cut.replaceAll('\u001B[0m', '');
}

/** Rows of at most so many columns, broken between words where there are any. */
export function wrapToWidth(text: string, width: number): readonly string[] {
  return wrapTextWithAnsi(text, width);
}

function into(text: string): string {
  return text.replaceAll(/\r\n?/gu, '\n').replaceAll('\t', TAB);
}

function outOf(text: string): string {
  return text.replaceAll(TAB, '\t');
}

function shown(text: string): string {
  return sanitize(text.replaceAll(TAB, ' '));
}

/**
 * Cuts Markdown, as it arrives, into pieces that can be rendered for themselves.
 *
 * M1. A piece is given as soon as it is complete: a paragraph, a heading, an item of a list, a run of lines of code. What
 *     comes later never changes it.
 * M2. No piece is longer than some kilobytes, whatever the text is, except for a line of code, which is never cut. So the
 *     time for all of it is in proportion to its length.
 * M3. Lines of code come out as they were, without the indentation of their fence.
 */
export type Piece =
  | {
      readonly kind: 'prose';
      readonly source: string;
      /** Follows what was before without an empty line. */
      readonly tight: boolean;
      /** Rows of a table whose first two lines are only those of its head, again. */
      readonly withoutHead: boolean;
    }
  | {
      readonly kind: 'code';
      /** What the fence says behind its marks. */
      readonly info: string;
      readonly lines: readonly string[];
      readonly tight: boolean;
    };

export type PieceReader = {
  /** The text must be sanitised. */
  push(text: string): readonly Piece[];
  end(): readonly Piece[];
  /** The last lines of what is not in a piece yet. */
  open(): string;
};

type Fence = {
  readonly mark: string;
  readonly indent: number;
  readonly info: string;
  /** Whether a piece of it was given. */
  isBegun: boolean;
  lines: string[];
  size: number;
};

/** Above this, a paragraph is cut at the end of a line at which nothing is open, and at twice this anywhere. */
const MAX_PROSE = 4000;
/** Code is cut at an empty line above the first, and anywhere above the second. */
const CODE_LINES = 100;
const MAX_CODE_LINES = 200;
const MAX_CODE = 16_000;
/** Of what is open, so much is shown. */
const SHOWN = 2000;

const FENCE = /^(?<indent>[ \t]*)(?<mark>`{3,}|~{3,})(?<info>.*)$/u;
const ITEM = /^ {0,3}(?:[-*+]|\d{1,9}[.)])(?:[ \t]|$)/u;
const HEADING = /^ {0,3}#{1,6}(?:[ \t]|$)/u;
const RULE = /^ {0,3}(?:(?:-[ \t]*){3,}|(?:_[ \t]*){3,}|(?:\*[ \t]*){3,})$/u;
const UNDERLINE = /^ {0,3}(?:-+|=+)[ \t]*$/u;
const TABLE_HEAD = /^ {0,3}\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$/u;
const INDENTED = /^(?: {2,}|\t)/u;

export function readPieces(): PieceReader {
  let given: Piece[] = [];
  let line = '';
  let group: string[] = [];
  let size = 0;
  /** Marks in the group that come in pairs. */
  let marks = NO_MARKS;
  let fence: Fence | null = null;
  /** An empty line was read behind what the group has. */
  let isLoose = false;
  /** The next piece belongs to the list before it. */
  let tight = false;
  let withoutHead = false;
  /** Columns by which lines behind a fence within a list are indented. */
  let dedent = 0;

  function giveGroup(): void {
    if (group.length > 0) {
      given.push({ kind: 'prose', source: group.join('\n'), tight, withoutHead });
    }
    group = [];
    size = 0;
    marks = NO_MARKS;
    tight = false;
    withoutHead = false;
  }

  function add(text: string): void {
    group.push(text);
    size += text.length + 1;
    marks = countMarks(marks, text);
    const isBalanced = marks.code % 2 === 0 && marks.strong % 2 === 0;
    if (size < MAX_PROSE || (size < 2 * MAX_PROSE && !isBalanced)) return;
    // What follows in a list is indented; the next line says how far.
    if (isList(group)) dedent = Number.POSITIVE_INFINITY;
    const head = isTable(group) ? group.slice(0, 2) : null;
    giveGroup();
    tight = true;
    if (head === null || head.join('').length > MAX_PROSE / 2) return;
    group = [...head];
    size = head.join('\n').length;
    withoutHead = true;
  }

  function readLine(text: string): void {
    if (fence !== null) {
      readCode(fence, text);
      return;
    }
    if (text.trim() === '') {
      if (!isList(group)) giveGroup();
      isLoose = true;
      return;
    }
    const indent = /^ */u.exec(text)?.[0].length ?? 0;
    dedent = Math.min(dedent, indent);
    readText(text.slice(dedent));
    isLoose = false;
  }

  function readText(text: string): void {
    const opened = FENCE.exec(text)?.groups;
    if (opened !== undefined && isFence(opened, group)) {
      openFence(opened);
    } else if (HEADING.test(text)) {
      giveGroup();
      add(text);
      giveGroup();
    } else if (group.length > 0 && !isLoose && !isList(group) && UNDERLINE.test(text)) {
      add(text);
      giveGroup();
    } else if (RULE.test(text)) {
      giveGroup();
      add(text);
      giveGroup();
    } else if (ITEM.test(text) && !isWithin(text, group)) {
      const isNext = isList(group) || tight;
      const wasLoose = isLoose;
      giveGroup();
      tight = isNext && !wasLoose;
      add(text);
    } else {
      if (isLoose && !(isList(group) && INDENTED.test(text))) giveGroup();
      else if (isLoose) add('');
      add(text);
    }
  }

  function openFence({
    indent = '',
    mark = '',
    info = '',
  }: Readonly<Record<string, string>>): void {
    const isInList = isList(group);
    giveGroup();
    if (isInList) dedent = Math.max(dedent, indent.length);
    fence = { mark, indent: indent.length, info: info.trim(), isBegun: false, lines: [], size: 0 };
  }

  function readCode(open: Fence, text: string): void {
    const mark = text.trim();
    const isEnd = mark.length >= open.mark.length && /^(?:`+|~+)$/u.test(mark);
    if (isEnd && mark.startsWith(open.mark)) {
      giveCode(open);
      fence = null;
      return;
    }
    const indent = /^[ \t]*/u.exec(text)?.[0].length ?? 0;
    open.lines.push(text.slice(Math.min(indent, open.indent)));
    open.size += text.length + 1;
    const count = open.lines.length;
    const isPause = count >= CODE_LINES && text.trim() === '';
    if (isPause || count >= MAX_CODE_LINES || open.size >= MAX_CODE) giveCode(open);
  }

  function giveCode(open: Fence): void {
    if (open.lines.length > 0) {
      const { info, lines, isBegun } = open;
      given.push({ kind: 'code', info, lines, tight: isBegun });
      open.isBegun = true;
    }
    open.lines = [];
    open.size = 0;
  }

  /** A line that does not end is cut between words, where it is not code. */
  function cutLine(): void {
    while (fence === null && line.length > 2 * MAX_PROSE) {
      const blank = line.lastIndexOf(' ', MAX_PROSE);
      const end = blank > 0 ? blank + 1 : MAX_PROSE;
      readLine(line.slice(0, end));
      line = line.slice(end);
      giveGroup();
      tight = true;
    }
  }

  function take(): readonly Piece[] {
    const pieces = given;
    given = [];
    return pieces;
  }

  return {
    push(text) {
      const lines = text.split('\n');
      const last = lines.pop() ?? '';
      for (const each of lines) {
        line += each;
        cutLine();
        readLine(line);
        line = '';
      }
      line += last;
      cutLine();
      return take();
    },
    end() {
      if (line !== '') readLine(line);
      line = '';
      if (fence !== null) giveCode(fence);
      fence = null;
      giveGroup();
      isLoose = false;
      dedent = 0;
      return take();
    },
    open: () => [...(fence?.lines ?? group).slice(-4), line].join('\n').slice(-SHOWN),
  };
}

function isList(group: readonly string[]): boolean {
  return ITEM.test(group[0] ?? '') && !RULE.test(group[0] ?? '');
}

/** Whether a line is indented as far as the text of the item that the group begins with. */
function isWithin(text: string, group: readonly string[]): boolean {
  if (!isList(group)) return false;
  const begin = /^ *(?:[-*+]|\d+[.)])[ \t]*/u.exec(group[0] ?? '')?.[0].length ?? 0;
  return (/^ */u.exec(text)?.[0].length ?? 0) >= Math.min(begin, 4);
}

function isTable(group: readonly string[]): boolean {
  const [head = '', rule = ''] = group;
  return head.includes('|') && rule.includes('|') && TABLE_HEAD.test(rule);
}

/** Behind marks of one kind that are not closed in their line; deeper than a list makes it, it is code by indentation. */
function isFence(
  { indent = '', mark = '', info = '' }: Readonly<Record<string, string>>,
  group: readonly string[],
): boolean {
  return (indent.length <= 3 || isList(group)) && !(mark.startsWith('`') && info.includes('`'));
}

type Marks = { readonly code: number; readonly strong: number };

const NO_MARKS: Marks = { code: 0, strong: 0 };

function countMarks({ code, strong }: Marks, text: string): Marks {
  return {
    code: code + (text.match(/`/gu)?.length ?? 0),
    strong: strong + (text.match(/\*\*/gu)?.length ?? 0),
  };
}

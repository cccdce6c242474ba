import { Lexer, type MarkedToken, type Token, type Tokens } from 'marked';

import { columnsOf } from '../terminal/columns.ts';
import { sanitize } from '../terminal/sanitize.ts';
import { wrapRuns, type Run } from './wrap.ts';

/** A line of the transcript. What is verbatim is never indented, wrapped or decorated. */
type Line = { readonly text: string; readonly verbatim: boolean };

export type Look = {
  /** At most so many columns of prose. */
  readonly width: number;
  readonly colors: boolean;
  readonly highlight: Highlight;
};

/** Lines of code in colours, for what their fence says; their text stays the same. */
export type Highlight = (lines: readonly string[], info: string) => readonly string[];

/** Text in an outer style: each run begins with all of them. */
type Style = { readonly begin: string; readonly end: string };

const PLAIN: Style = { begin: '', end: '' };
const RESET = '\u001B[0m';
/** A text that is nested deeper than this is shown as it was written. */
const MAX_DEPTH = 12;
const DEEP = new RegExp(`^[ \\t]*(?:(?:>|[-*+]|\\d{1,9}[.)])[ \\t]*){${MAX_DEPTH},}`, 'mu');
/** Marks of emphasis and links in one text; a person writes far fewer in some kilobytes. */
const MAX_MARKS = 300;
const MARKS = /[*_~[]/gu;
const MIN_WIDTH = 20;

/** A piece of Markdown as lines. Whatever the text has in it, only colours of ours are in them. */
export function renderMarkdown(source: string, look: Look, withoutHead = false): readonly string[] {
  return renderLines(source, look, withoutHead).map(({ text }) => text);
}

function renderLines(source: string, look: Look, withoutHead: boolean): readonly Line[] {
  if (DEEP.test(source) || isOverloaded(source)) return asWritten(source);
  try {
    const tokens = new Lexer({ gfm: true }).lex(source);
    return blocks(tokens, look, withoutHead);
  } catch {
    // Nested so deeply that the lexer gave up.
    return asWritten(source);
  }
}

/** Whether the lexer would try so many ways to pair marks of emphasis that it takes seconds. */
function isOverloaded(source: string): boolean {
  // Each cell of a table is for itself.
  const texts = /^ {0,3}\|/u.test(source) ? source.split('\n') : [source];
  return texts.some((text) => (text.match(MARKS)?.length ?? 0) > MAX_MARKS);
}

function blocks(tokens: readonly Token[], look: Look, withoutHead = false): readonly Line[] {
  const lines: Line[] = [];
  for (const token of tokens as readonly MarkedToken[]) {
    const rendered = block(token, look, withoutHead);
    if (rendered.length === 0) continue;
    if (lines.length > 0 && token.type !== 'text') lines.push({ text: '', verbatim: true });
    lines.push(...rendered);
  }
  return lines;
}

function block(token: MarkedToken, look: Look, withoutHead: boolean): readonly Line[] {
  switch (token.type) {
    case 'space':
    case 'def':
      return token.type === 'def' ? asWritten(token.raw) : [];
    case 'heading': {
      const sign = look.colors ? '' : `${'#'.repeat(token.depth)} `;
      const runs = inline(token.tokens, look, styled(PLAIN, '1', look));
      return prose([{ text: sign, ...PLAIN, whole: true }, ...runs], look);
    }
    case 'paragraph':
      return prose(inline(token.tokens, look, PLAIN), look);
    case 'text':
      return prose(inline(token.tokens ?? [token], look, PLAIN), look);
    case 'code':
      return code(token.text, token.lang ?? '', look);
    case 'hr':
      return [{ text: '─'.repeat(Math.min(look.width, 40)), verbatim: false }];
    case 'blockquote': {
      const sign = look.colors ? `\u001B[2m│${RESET} ` : '> ';
      return indented(blocks(token.tokens, narrower(look, 2)), sign, sign);
    }
    case 'list':
      return list(token, look);
    case 'table':
      return table(token, look, withoutHead);
    default:
      return asWritten(token.raw);
  }
}

function list({ items, ordered, start, loose }: Tokens.List, look: Look): readonly Line[] {
  return items.flatMap((item, index) => {
    const sign = ordered ? `${Number(start === '' ? 1 : start) + index}. ` : '• ';
    const box = item.task ? `[${item.checked === true ? 'x' : ' '}] ` : '';
    const content = item.tokens.filter(({ type }) => type !== 'checkbox');
    const lines = blocksOfItem(content, narrower(look, sign.length));
    const marked = indented(lines, `${sign}${box}`, ' '.repeat(sign.length));
    const first: readonly Line[] = marked.length > 0 ? marked : [{ text: sign, verbatim: false }];
    return loose && index > 0 ? [{ text: '', verbatim: true }, ...first] : first;
  });
}

/** Paragraphs of an item are apart from each other; its lists are not. */
function blocksOfItem(tokens: readonly Token[], look: Look): readonly Line[] {
  const lines: Line[] = [];
  for (const token of tokens as readonly MarkedToken[]) {
    const rendered = block(token, look, false);
    const isApart = token.type === 'paragraph' || token.type === 'code';
    if (lines.length > 0 && rendered.length > 0 && isApart)
      lines.push({ text: '', verbatim: true });
    lines.push(...rendered);
  }
  return lines;
}

function indented(lines: readonly Line[], first: string, others: string): readonly Line[] {
  const begin = lines.findIndex(({ verbatim }) => !verbatim);
  // An item that is nothing but code still has its mark.
  const before: readonly Line[] =
    begin === -1 && lines.length > 0 ? [{ text: first, verbatim: false }] : [];
  return [
    ...before,
    ...lines.map((line, index) =>
      line.verbatim ? line : { ...line, text: `${index === begin ? first : others}${line.text}` },
    ),
  ];
}

function table(
  { header, rows, raw }: Tokens.Table,
  look: Look,
  withoutHead: boolean,
): readonly Line[] {
  const cellText = ({ tokens }: Tokens.TableCell): string =>
    wrapRuns(inline(tokens, look, PLAIN), Number.POSITIVE_INFINITY).join(' ');
  const cells = [header, ...rows].map((row) => row.map(cellText));
  const shown = cells.map((row) => row.map((cell) => columnsOf(withoutMarks(cell))));
  const widths = header.map((_, column) => Math.max(...shown.map((row) => row[column] ?? 0)));
  const total = widths.reduce((sum, width) => sum + width + 2, -2);
  // Wider than that, it is easier to read as it was written.
  if (total > look.width) return asWritten(raw);
  const lines = cells.map((row, index) =>
    row
      .map(
        (cell, column) => cell + ' '.repeat((widths[column] ?? 0) - (shown[index]?.[column] ?? 0)),
      )
      .join('  ')
      .trimEnd(),
  );
  const rule = widths.map((width) => '─'.repeat(width)).join('  ');
  const [head = '', ...others] = lines;
  const all = withoutHead ? others : [head, rule, ...others];
  return all.map((text) => ({ text, verbatim: true }));
}

function code(text: string, info: string, look: Look): readonly Line[] {
  const lines = sanitize(text).split('\n');
  const colored = look.highlight(lines, info);
  return colored.map((line) => ({ text: line, verbatim: true }));
}

function asWritten(text: string): readonly Line[] {
  return sanitize(text.replace(/\n+$/u, ''))
    .split('\n')
    .map((line) => ({ text: line, verbatim: true }));
}

type InlineRun = Run & { readonly whole: boolean };

function prose(runs: readonly InlineRun[], { width }: Look): readonly Line[] {
  return wrapRuns(runs, width).map((text) => ({ text, verbatim: false }));
}

function inline(tokens: readonly Token[], look: Look, style: Style): readonly InlineRun[] {
  return (tokens as readonly MarkedToken[]).flatMap((token): readonly InlineRun[] => {
    const run = (text: string, own = style, whole = false): InlineRun => ({
      text: sanitize(text),
      ...own,
      whole,
    });
    const nested = (mark: string, sgr: string, inner: readonly Token[]): readonly InlineRun[] => {
      const runs = inline(inner, look, styled(style, sgr, look));
      return look.colors ? runs : [run(mark, style, true), ...runs, run(mark, style, true)];
    };
    switch (token.type) {
      case 'strong':
        return nested('**', '1', token.tokens);
      case 'em':
        return nested('*', '3', token.tokens);
      case 'del':
        return nested('~~', '9', token.tokens);
      case 'codespan':
        return look.colors
          ? [run(token.text, styled(style, '36', look), true)]
          : [run(`\`${token.text}\``, style, true)];
      case 'br':
        return [run('\n')];
      case 'checkbox':
        return [];
      case 'link':
        return [...inline(token.tokens, look, styled(style, '4', look)), ...address(token, run)];
      case 'image':
        return [run(token.text === '' ? 'image' : token.text), run(` (${token.href})`)];
      case 'escape':
        return [run(token.text)];
      case 'text':
        return token.tokens === undefined
          ? [run(decoded(token.text))]
          : inline(token.tokens, look, style);
      default:
        return [run('raw' in token ? token.raw : '')];
    }
  });
}

/** Where a link leads, unless its text says so. */
function address(
  { href, text }: Tokens.Link,
  run: (text: string) => InlineRun,
): readonly InlineRun[] {
  const isSaid = [text, `mailto:${text}`, `http://${text}`, `https://${text}`].includes(href);
  return isSaid ? [] : [run(` (${href})`)];
}

function styled(outer: Style, sgr: string, { colors }: Look): Style {
  return colors ? { begin: `${outer.begin}\u001B[${sgr}m`, end: RESET } : outer;
}

function narrower(look: Look, columns: number): Look {
  return { ...look, width: Math.max(MIN_WIDTH, look.width - columns) };
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#39;': "'",
  '&nbsp;': '\u00A0',
};

function decoded(text: string): string {
  return text.replaceAll(/&(?:amp|lt|gt|quot|#39|nbsp);/gu, (entity) => ENTITIES[entity] ?? entity);
}

function withoutMarks(text: string): string {
  // oxlint-disable-next-line no-control-regex -- the marks are ours
  return text.replaceAll(/\u001B\[[\d;]*m/gu, '');
}

import { Lexer, type MarkedToken, type Token, type Tokens } from 'marked';

/**
 * Markdown of a model as elements to draw. There is no way from its text to markup:
 *
 * 1. An element is one of TAGS, and has no attribute but those of `MarkdownElement`.
 * 2. Raw HTML and everything else that is not known here is text, as it was written.
 * 3. An image is a link, so nothing is fetched. A link is http, https or mailto, and its host is in sight.
 * 4. The cost grows in proportion: text is cut into blocks first, and one that the lexer could take seconds for is
 *    shown as it was written.
 */
export type MarkdownNode = string | MarkdownElement;

export type MarkdownElement = {
  readonly tag: Tag;
  readonly children: readonly MarkdownNode[];
  /** Of a link. */
  readonly href?: string;
  /** The first number of an ordered list. */
  readonly start?: number;
  readonly align?: 'left' | 'center' | 'right';
  /** Of a `span` with the host of a link. */
  readonly isHost?: true;
};

export const TAGS = [
  'p',
  'h2',
  'h3',
  'h4',
  'h5',
  'h6',
  'ul',
  'ol',
  'li',
  'pre',
  'code',
  'blockquote',
  'hr',
  'br',
  'em',
  'strong',
  'del',
  'a',
  'span',
  'table',
  'thead',
  'tbody',
  'tr',
  'th',
  'td',
] as const;
export type Tag = (typeof TAGS)[number];

const SCHEMES: ReadonlySet<string> = new Set(['http:', 'https:', 'mailto:']);
/** A text that is nested deeper than this is shown as it was written. */
const MAX_DEPTH = 12;
const DEEP = new RegExp(`^[ \\t]*(?:(?:>|[-*+]|\\d{1,9}[.)])[ \\t]*){${MAX_DEPTH},}`, 'mu');
/** Marks of emphasis and links in one text; a person writes far fewer. */
const MAX_MARKS = 300;
const MARKS = /[*_~[<`]/gu;
/** More than precedes the `@` of any address, for which the lexer looks from each character of it. */
const LONG_RUN = /(?<![\w.!#$%&'*+/=?^`{|}~-])[\w.!#$%&'*+/=?^`{|}~-]{2000}/u;
const MAX_BLOCK = 20_000;
const FENCE = /^ {0,3}(`{3,}|~{3,})/u;
const LIST_ITEM = /^ {0,3}(?:[-*+]|\d{1,9}[.)])[ \t]/u;
const INDENTED = /^(?: {2,}|\t)/u;

/**
 * The parts of a text that can be drawn each for itself, in order; joined with line feeds they are the text. All but
 * the last stay as they are when text is added.
 */
export function blocksOf(text: string): readonly string[] {
  const blocks: string[] = [];
  let lines: string[] = [];
  let fence: string | null = null;
  let isList = false;
  let afterBlank = false;
  for (const line of text.split('\n')) {
    const opens: string | undefined = FENCE.exec(line)?.[1];
    const goesOn =
      fence !== null || !afterBlank || line.trim() === '' || isPartOfList(line, isList);
    if (!goesOn) {
      blocks.push(lines.join('\n'));
      lines = [];
    }
    if (lines.length === 0) isList = LIST_ITEM.test(line);
    lines.push(line);
    if (fence === null) fence = opens ?? null;
    else if (opens?.startsWith(fence) === true && line.trim() === opens) fence = null;
    afterBlank = fence === null && line.trim() === '';
  }
  blocks.push(lines.join('\n'));
  return blocks;
}

function isPartOfList(line: string, isList: boolean): boolean {
  return isList && (LIST_ITEM.test(line) || INDENTED.test(line));
}

/**
 * The level of the heading before each block; 1, which is that of the view, where there is none. A heading is never more
 * than one level below the one before it, whatever a model has skipped.
 */
export function levelsBefore(sources: readonly string[]): readonly number[] {
  let level = 1;
  return sources.map((source) => {
    const before = level;
    if (FENCE.test(source) || isTooMuch(source)) return before;
    let isBelowText = false;
    for (const line of source.split('\n').map((each) => each.trim())) {
      const [, marks] = HEADING.exec(line) ?? [];
      if (marks !== undefined) level = levelOf(marks.length, level);
      else if (isBelowText && UNDERLINE.test(line))
        level = levelOf(line.startsWith('=') ? 1 : 2, level);
      isBelowText = line !== '';
    }
    return before;
  });
}

/** Of a line without the blanks around it. */
const HEADING = /^(?:(?:>|[-*+]|\d{1,9}[.)])[ \t]*)*(#{1,6})(?:[ \t]|$)/u;
const UNDERLINE = /^(?:=+|-+)$/u;

function levelOf(depth: number, before: number): number {
  return Math.min(depth + 1, before + 1, 6);
}

/** One block as elements. `before` is the level of the heading before it. */
export function drawBlock(source: string, before = 1): readonly MarkdownNode[] {
  if (isTooMuch(source)) return asWritten(source);
  try {
    return withLevels(blocks(new Lexer({ gfm: true }).lex(source)), { level: before });
  } catch {
    // Nested so deeply that the lexer gave up.
    return asWritten(source);
  }
}

/** In the order of the text: no heading skips a level. */
function withLevels(
  nodes: readonly MarkdownNode[],
  last: { level: number },
): readonly MarkdownNode[] {
  return nodes.map((node) => {
    if (typeof node === 'string') return node;
    const [, depth] = /^h(\d)$/u.exec(node.tag) ?? [];
    if (depth === undefined) return { ...node, children: withLevels(node.children, last) };
    last.level = levelOf(Number(depth) - 1, last.level);
    return { ...node, tag: `h${last.level}` as Tag };
  });
}

function isTooMuch(source: string): boolean {
  if (FENCE.test(source)) return false;
  return (
    source.length > MAX_BLOCK ||
    DEEP.test(source) ||
    LONG_RUN.test(source) ||
    (source.match(MARKS)?.length ?? 0) > MAX_MARKS
  );
}

function asWritten(source: string): readonly MarkdownNode[] {
  return [{ tag: 'p', children: [source] }];
}

function blocks(tokens: readonly Token[]): readonly MarkdownNode[] {
  return (tokens as readonly MarkedToken[]).flatMap(block);
}

function block(token: MarkedToken): readonly MarkdownNode[] {
  switch (token.type) {
    case 'space':
    case 'checkbox':
      return [];
    case 'heading': {
      // The view has a heading of its own above.
      const tag = (['h2', 'h3', 'h4', 'h5'] as const)[token.depth - 1] ?? 'h6';
      return [{ tag, children: inline(token.tokens) }];
    }
    case 'paragraph':
      return [{ tag: 'p', children: inline(token.tokens) }];
    case 'text':
      return inline(token.tokens ?? [token]);
    case 'code':
      return [{ tag: 'pre', children: [{ tag: 'code', children: [token.text] }] }];
    case 'hr':
      return [{ tag: 'hr', children: [] }];
    case 'blockquote':
      return [{ tag: 'blockquote', children: blocks(token.tokens) }];
    case 'list':
      return [listOf(token)];
    case 'table':
      return [tableOf(token)];
    default:
      return asWritten(token.raw);
  }
}

function listOf({ ordered, start, items }: Tokens.List): MarkdownElement {
  const children = items.map((item): MarkdownElement => {
    const box = item.task ? [item.checked === true ? '☑ ' : '☐ '] : [];
    return { tag: 'li', children: [...box, ...blocks(item.tokens)] };
  });
  return ordered
    ? { tag: 'ol', children, start: start === '' ? 1 : start }
    : { tag: 'ul', children };
}

function tableOf({ header, rows }: Tokens.Table): MarkdownElement {
  const row = (cells: readonly Tokens.TableCell[], tag: 'th' | 'td'): MarkdownElement => ({
    tag: 'tr',
    children: cells.map(({ tokens, align }) => ({
      tag,
      children: inline(tokens),
      ...(align === null ? {} : { align }),
    })),
  });
  return {
    tag: 'table',
    children: [
      { tag: 'thead', children: [row(header, 'th')] },
      { tag: 'tbody', children: rows.map((cells) => row(cells, 'td')) },
    ],
  };
}

function inline(tokens: readonly Token[]): readonly MarkdownNode[] {
  return (tokens as readonly MarkedToken[]).flatMap(inlineToken);
}

function inlineToken(token: MarkedToken): readonly MarkdownNode[] {
  switch (token.type) {
    case 'em':
    case 'strong':
    case 'del':
      return [{ tag: token.type, children: inline(token.tokens) }];
    case 'codespan':
      return [{ tag: 'code', children: [token.text] }];
    case 'br':
      return [{ tag: 'br', children: [] }];
    case 'escape':
      return [token.text];
    case 'text':
      return token.tokens === undefined ? [token.text] : inline(token.tokens);
    case 'link':
      return linkOf(token.href, inline(token.tokens), token.raw);
    case 'image':
      return linkOf(token.href, [`[image: ${token.text}]`], token.raw);
    case 'checkbox':
      return [];
    default:
      return [token.raw];
  }
}

function linkOf(
  given: string,
  children: readonly MarkdownNode[],
  raw: string,
): readonly MarkdownNode[] {
  const url = URL.parse(given);
  if (url === null || !SCHEMES.has(url.protocol)) return [raw];
  const { href } = url;
  const place = url.protocol === 'mailto:' ? href.slice('mailto:'.length) : url.host;
  const link: MarkdownElement = { tag: 'a', href, children };
  // A link whose text is its own address has its host in sight.
  if (children.length === 1 && (children[0] === given || children[0] === href)) return [link];
  return [link, { tag: 'span', isHost: true, children: [` (${place})`] }];
}

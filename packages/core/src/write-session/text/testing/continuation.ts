import { chooseAnchor } from '../seams/anchor.ts';
import type { Anchor } from '../seams/anchor.ts';
import { convertLineEndings, createConverter, endConversion } from '../line-ending-converter.ts';
import { isBlankLine } from '../lines.ts';
import { createSeamReader, endSeam, readSeam } from '../seams/seam-reader.ts';
import type { SeamReaderOptions, SeamVerdict } from '../seams/seam-reader.ts';
import { readMessage, summaryOf } from './read-message.ts';

export const END_MARKER = 'DONE 7f3a';

export type ReadingOptions = Partial<
  Pick<SeamReaderOptions, 'anchor' | 'kind' | 'readToEnd' | 'endMarker'>
>;

export function anchorFor(saved: string): Anchor {
  return chooseAnchor(summaryOf(saved));
}

/** The verdict about a reply that arrives in `pieces`; a verified seam's `rest` holds all that came after it. */
export function readReply(
  saved: string,
  pieces: readonly string[] | string,
  options: ReadingOptions = {},
): SeamVerdict {
  const summary = summaryOf(saved);
  let reader = createSeamReader({
    summary,
    anchor: options.anchor ?? chooseAnchor(summary),
    kind: options.kind ?? 'code',
    readToEnd: options.readToEnd ?? false,
    endMarker: options.endMarker ?? END_MARKER,
  });
  let verdict: SeamVerdict | null = null;
  let later = '';
  for (const piece of typeof pieces === 'string' ? [pieces] : pieces) {
    if (verdict !== null) {
      later += piece;
      continue;
    }
    ({ reader, verdict } = readSeam(reader, piece));
  }
  verdict ??= endSeam(reader);
  return verdict.kind === 'verified' ? { ...verdict, rest: verdict.rest + later } : verdict;
}

/** The new content, once a verified reply has passed what follows the seam reader. */
export function joinedContent(saved: string, verdict: SeamVerdict): string | null {
  if (verdict.kind !== 'verified') return null;
  const { state, text } = convertLineEndings(
    createConverter(verdict.conversion, saved.endsWith('\r')),
    verdict.rest,
  );
  const { wrappingFence } = verdict;
  const message = [text + endConversion(state)];
  return saved + readMessage(message, { before: saved, wrappingFence }).content;
}

/** Where in the saved text the anchor begins: what a model that does as asked writes is the document from there on. */
export function anchorStart(saved: string, anchor: Anchor): number {
  if (anchor.kind === 'characters') return saved.lastIndexOf(anchor.text);
  if (anchor.lines.length === 0) return saved.lastIndexOf(anchor.openLine);
  const start = saved.lastIndexOf(`${anchor.lines.join('\n')}\n`);
  return start;
}

/** The start of the line that stands `lines` non-blank lines before `offset`. */
export function linesBefore(text: string, offset: number, lines: number): number {
  let start = text.lastIndexOf('\n', offset - 1) + 1;
  let left = lines;
  while (start > 0 && left > 0) {
    const before = start < 2 ? 0 : text.lastIndexOf('\n', start - 2) + 1;
    if (!isBlankLine(text.slice(before, start - 1))) left -= 1;
    start = before;
  }
  return start;
}

/** The start of the next line with ink behind `offset`, or the text's length. */
export function nextLineStart(text: string, offset: number): number {
  let start = offset;
  do {
    const end = text.indexOf('\n', start);
    if (end === -1) return text.length;
    start = end + 1;
  } while (/^[ \t\r]*(?:\n|$)/u.test(text.slice(start)) && start < text.length);
  return start;
}

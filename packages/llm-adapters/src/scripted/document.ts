import { createRandom } from './random.ts';
import type { DocumentContent } from './script.ts';

/** A text in which quotations can be found. */
export type ScriptedDocument = {
  readonly text: string;
  /** The place of quoted whole lines, from their first character to the one after their line ending. */
  findLines(quote: string, savedLines: number | undefined): Place | undefined;
  /** The place of quoted characters, anywhere in a line. */
  findCharacters(quote: string, savedLines: number | undefined): Place | undefined;
  /** The start of the line that is `lines` lines before or after the one at `offset`. */
  moveLines(offset: number, lines: number): number;
  readonly lineCount: number;
};

export type Place = { readonly start: number; readonly end: number };

export function createDocument(text: string): ScriptedDocument {
  let index: readonly number[] | undefined;
  const lineStarts = (): readonly number[] => (index ??= startsOf(text));

  /** How many lines begin at or before an offset. */
  function lineOf(offset: number): number {
    const starts = lineStarts();
    let low = 0;
    let high = starts.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((starts[middle] ?? 0) <= offset) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /**
   * The place nearest to the number of saved lines that the prompt names: a quotation is unique only near the end of
   * the saved text.
   */
  function nearest(places: readonly Place[], savedLines: number | undefined): Place | undefined {
    if (savedLines === undefined) return places[0];
    const distance = (place: Place): number =>
      Math.abs(lineOf(Math.max(place.start, place.end - 1)) - savedLines);
    return places.reduce<Place | undefined>(
      (best, place) => (best === undefined || distance(place) < distance(best) ? place : best),
      undefined,
    );
  }

  function placesOfLines(quoted: readonly string[]): Place[] {
    const starts = lineStarts();
    const anchor = quoted.reduce(
      (longest, line) => (line.length > longest.length ? line : longest),
      '',
    );
    if (anchor === '') return [];
    const anchorIndex = quoted.indexOf(anchor);
    const places: Place[] = [];
    const lineAt = (line: number): string | undefined => {
      const start = starts[line];
      return start === undefined
        ? undefined
        : trimLine(text.slice(start, starts[line + 1] ?? text.length));
    };
    for (let found = text.indexOf(anchor); found !== -1; found = text.indexOf(anchor, found + 1)) {
      const first = lineOf(found) - 1 - anchorIndex;
      if (first < 0 || !quoted.every((line, offset) => lineAt(first + offset) === line)) continue;
      const start = starts[first] ?? 0;
      if (places.at(-1)?.start !== start)
        places.push({ start, end: starts[first + quoted.length] ?? text.length });
    }
    return places;
  }

  return {
    text,
    get lineCount(): number {
      return lineStarts().length - (text.endsWith('\n') ? 1 : 0);
    },
    findLines: (quote, savedLines) => {
      const quoted = quote.split('\n').map(trimLine);
      // The saved text may begin with text from outside the document. Then its last lines still match.
      for (let from = 0; from < quoted.length; from += 1) {
        const place = nearest(placesOfLines(quoted.slice(from)), savedLines);
        if (place !== undefined) return place;
      }
      return undefined;
    },
    findCharacters: (quote, savedLines) => {
      if (quote === '') return undefined;
      const places: Place[] = [];
      for (let found = text.indexOf(quote); found !== -1; found = text.indexOf(quote, found + 1)) {
        places.push({ start: found, end: found + quote.length });
      }
      return nearest(places, savedLines);
    },
    moveLines: (offset, lines) => {
      const starts = lineStarts();
      const line = lineOf(offset) - 1 + lines;
      return line < 0 ? 0 : (starts[line] ?? text.length);
    },
  };
}

/** The text of a script's content. The caller's function reads files. */
export async function loadDocument(
  content: DocumentContent,
  readDocument: (path: string) => Promise<string>,
): Promise<string> {
  switch (content.kind) {
    case 'text':
      return content.text;
    case 'file':
      return await readDocument(content.path);
    case 'lines':
      return generateLines(content);
    default:
      content satisfies never;
      throw new Error('unreachable');
  }
}

const WORDS =
  'river stone letter window silver garden paper signal morning engine harbour candle orbit meadow copper thread bridge lantern valley compass'.split(
    ' ',
  );

export function generateLines(content: Extract<DocumentContent, { kind: 'lines' }>): string {
  const parts = content.template.split(/(\{n(?::\d+)?\}|\{hex\}|\{words:\d+\})/);
  const lines: string[] = [];
  for (let number = 1; number <= content.count; number += 1) {
    const random = createRandom(number);
    lines.push(
      parts.map((part, index) => (index % 2 === 0 ? part : fill(part, number, random))).join(''),
    );
  }
  if (lines.length === 0) return '';
  return lines.join('\n') + (content.finalNewline === false ? '' : '\n');
}

function fill(part: string, number: number, random: () => number): string {
  if (part === '{hex}')
    return Math.floor(random() * 0x1_0000_0000)
      .toString(16)
      .padStart(8, '0');
  const argument = Number(/:(\d+)/.exec(part)?.[1] ?? 0);
  if (part.startsWith('{n')) return String(number).padStart(argument, '0');
  return Array.from(
    { length: argument },
    () => WORDS[Math.floor(random() * WORDS.length)] ?? '',
  ).join(' ');
}

function startsOf(text: string): number[] {
  const starts = [0];
  for (let found = text.indexOf('\n'); found !== -1; found = text.indexOf('\n', found + 1))
    starts.push(found + 1);
  return starts;
}

/** Two lines are equal if they match without trailing blanks and CR. */
function trimLine(line: string): string {
  return line.replace(/[ \t\r\n]+$/, '');
}

import type { Document } from './documents.ts';
import type { FirstMessage } from './firsts.ts';
import type { Question } from './prompts.ts';

/** What is right: one of the offered words, or text from the document. */
export type Right =
  | { readonly kind: 'word'; readonly word: string; readonly around?: Around }
  /** `fresh`: what comes behind the lines that the text repeats first. */
  | {
      readonly kind: 'text';
      readonly text: string;
      readonly fresh: string;
      readonly cut?: boolean;
      readonly around?: Around;
    };

/** What is said around an answer, whatever it is dressed in. */
export type Around = (answer: string) => string;

/**
 * The answer that makes the file the document. A model knows what it has in mind and what it sent, and of what was
 * saved no more than the prompt quotes.
 */
export function honestAnswer(
  { asked, done }: Question,
  document: Document,
  sent: FirstMessage,
): Right {
  switch (asked.kind) {
    case 'write':
      if (sent.text.trim() === '') return wholeDocument(document, done);
      return { kind: 'text', text: sent.text, fresh: sent.text, cut: sent.cut };
    case 'empty':
    case 'omission':
      return asked.kind === 'empty' ? wholeDocument(document, done) : word('KEEP');
    case 'near miss':
      // A line of which the document's last one is only a part has something behind it; and what it has sent already
      // is not to be added once more.
      return word(
        sent.after === '' && endsWith(document.text, asked.text) && !hasSent(sent, asked.text)
          ? 'KEEP'
          : 'DONE',
      );
    case 'fence':
      if (!sent.fenced) {
        return word(startsWith(document.text, asked.firstLine) ? 'KEEP' : 'STRIP');
      }
      // Only a fence that it closed itself ends with a line that is not the document's.
      return sent.after.includes('```') ? word('STRIP') : wholeDocument(document, done);
    case 'lead':
      return word(startsWith(document.text, asked.lead) ? 'KEEP' : 'DROP');
    case 'bridge':
      return between(asked.end, asked.start, document);
    case 'end': {
      const end = asked.candidates.find(
        ({ following }) => asked.doubled || comesAfter(following, sent.after),
      );
      if (end !== undefined) return word(`END ${end.line}`);
      return continuation(asked.quote, document, sent, done, true);
    }
    case 'continue':
      return continuation(asked.quote, document, sent, done, asked.mayBeFinished);
    default:
      return asked satisfies never;
  }
}

export function wholeDocument(document: Document, done: string): Right {
  return text(`${document.text}${done}`);
}

function continuation(
  quote: string,
  document: Document,
  sent: FirstMessage,
  done: string,
  mayBeFinished: boolean,
): Right {
  // It repeats what it has sent, what it said before the document too.
  const whole = sent.before + document.text;
  const found = find(quote.split('\n'), whole, whole.includes('\r\n'));
  if (found !== undefined) return goOn(whole, found, done, mayBeFinished);
  const place = findQuoted(quote, document.text, sent);
  return place === null
    ? wholeDocument(document, done)
    : goOn(document.text, place, done, mayBeFinished);
}

type Place = { readonly start: number; readonly end: number };

function goOn(whole: string, place: Place, done: string, mayBeFinished: boolean): Right {
  const rest = whole.slice(place.end);
  if (mayBeFinished && rest.trim() === '') return word(done);
  return {
    kind: 'text',
    text: `${whole.slice(place.start)}${done}`,
    fresh: `${rest.replace(/^\r?\n/u, '')}${done}`,
  };
}

/**
 * Where the quoted lines are in the document. What was saved may begin and end with what the model said around the
 * document: those lines are not looked for.
 */
function findQuoted(quote: string, document: string, sent: FirstMessage): Place | null {
  const crlf = document.includes('\r\n');
  const before = linesOf(sent.before);
  const after = linesOf(sent.after);
  let lines = quote.split('\n');
  while (lines.length > 1 && isAround(lines[0], before) && !find(lines, document, crlf)) {
    lines = lines.slice(1);
  }
  while (lines.length > 1 && isAround(lines.at(-1), after) && !find(lines, document, crlf)) {
    lines = lines.slice(0, -1);
  }
  return find(lines, document, crlf) ?? null;
}

function find(lines: readonly string[], document: string, crlf: boolean): Place | undefined {
  const wanted = lines.join(crlf ? '\r\n' : '\n');
  const start = document.lastIndexOf(wanted);
  return wanted === '' || start === -1 ? undefined : { start, end: start + wanted.length };
}

function isAround(line: string | undefined, around: ReadonlySet<string>): boolean {
  return line !== undefined && (line.trim() === '' || around.has(line.trim()));
}

function linesOf(part: string): ReadonlySet<string> {
  return new Set(part.split('\n').map((line) => line.trim()));
}

function between(end: string, start: string, document: Document): Right {
  const from = document.text.lastIndexOf(end);
  const to = document.text.lastIndexOf(start);
  if (from === -1 || to === -1) return wholeDocument(document, 'DONE');
  return text(`${document.text.slice(from, Math.max(to + start.length, from + end.length))}\nDONE`);
}

/** A prompt shows text in one line, shortened. */
function startsWith(document: string, shown: string): boolean {
  return flat(document).startsWith(flat(shown).replace(/…$/u, '').trim());
}

function comesAfter(following: string, after: string): boolean {
  const behind = flat(after.replace(/^\s*(?:```\s*)?DONE/u, ''));
  const shown = flat(following).replace(/…$/u, '').trim();
  return shown !== '' && behind.startsWith(shown);
}

function endsWith(document: string, shown: string): boolean {
  return flat(document).endsWith(flat(shown));
}

/** Whether a message that was cut off had these lines before it came to that. */
function hasSent(sent: FirstMessage, shown: string): boolean {
  const whole = sent.text.slice(0, sent.text.lastIndexOf('\n') + 1);
  return sent.cut && whole.split('\n').includes(shown);
}

function flat(part: string): string {
  return part.replaceAll(/\s+/gu, ' ').trim();
}

function word(choice: string): Right {
  return { kind: 'word', word: choice };
}

function text(whole: string): Right {
  return { kind: 'text', text: whole, fresh: whole };
}

import { isHighSurrogate, visibleName, visibleProse } from '@orion/contracts';

/**
 * Text from models, tools, paths and errors, made harmless for a terminal: what could move the cursor, change the
 * window or the clipboard, or reorder what is read becomes visible text such as `\x1b`. Line feeds and tabs stay,
 * and a carriage return before a line feed is dropped.
 *
 * Every control character is shown by itself, so an escape sequence needs no parsing: without its first character the
 * rest is plain text. So a sequence that is split over chunks needs no special care.
 */
export type Sanitizer = {
  /** What may be shown now. The only thing held back is a final carriage return, or half of a surrogate pair. */
  push(text: string): string;
  /** What was held back, at the end of the text. */
  end(): string;
};

// C0 without tab and line feed, DEL, C1; soft marks that reorder or hide text: Arabic letter mark, left-to-right and
// right-to-left marks, embeddings, overrides and isolates, the line and paragraph separators, deprecated format
// characters, interlinear annotations; lone surrogates; tag characters. Zero-width joiners stay: scripts and emoji need them.
const UNSAFE =
  // oxlint-disable-next-line no-control-regex -- control characters are what this is about
  /[\u0000-\u0008\u000B-\u001F\u007F-\u009F\u061C\u200E\u200F\u2028-\u202E\u2066-\u206F\uFFF9-\uFFFB\p{Surrogate}\u{E0000}-\u{E007F}]/u;
const UNSAFE_RUNS = new RegExp(UNSAFE.source, 'gu');

/** One whole text. */
export function sanitize(text: string): string {
  if (!UNSAFE.test(text)) return text;
  return text.replaceAll('\r\n', '\n').replace(UNSAFE_RUNS, visible);
}

/** One line of a message, with paths and names in it: every character that is not seen is shown, line feeds too. */
export function sanitizeLine(text: string): string {
  return visibleName(text.replaceAll('\r\n', '\n'), visible);
}

/** One line of prose or of a file: joiners stay where scripts and emoji want them, and tabs. */
export function sanitizeProse(text: string): string {
  return visibleProse(text, (character) => (character === '\t' ? character : visible(character)));
}

/** A JSON text as a line for programs and terminals alike: the same value, with escapes in place of what is unsafe. */
export function jsonLine(json: string): string {
  return `${UNSAFE.test(json) ? json.replace(UNSAFE_RUNS, escapedInJson) : json}\n`;
}

function escapedInJson(character: string): string {
  return Array.from(
    { length: character.length },
    (_, unit) => `\\u${character.charCodeAt(unit).toString(16).padStart(4, '0')}`,
  ).join('');
}

export function createSanitizer(): Sanitizer {
  let held = '';
  return {
    push(text) {
      const joined = held + text;
      const last = joined.charCodeAt(joined.length - 1);
      const holdsBack = last === 0x0d || isHighSurrogate(last);
      held = holdsBack ? joined.slice(-1) : '';
      return sanitize(holdsBack ? joined.slice(0, -1) : joined);
    },
    end() {
      const rest = held;
      held = '';
      return sanitize(rest);
    },
  };
}

function visible(character: string): string {
  if (character === '\n') return '\\n';
  if (character === '\t') return '\\t';
  const code = character.codePointAt(0) ?? 0;
  if (code <= 0xff) return `\\x${code.toString(16).padStart(2, '0')}`;
  if (code <= 0xffff) return `\\u${code.toString(16).padStart(4, '0')}`;
  return `\\u{${code.toString(16)}}`;
}

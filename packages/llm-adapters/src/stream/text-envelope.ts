/**
 * Recognises events that differ only in one JSON string, as the text deltas of a stream usually do, without parsing
 * each of them.
 *
 * An envelope is the exact text of an event before and after that string. It is proven when it is made, and every use
 * of it is exact. Doubtful cases are left to the parser of single events.
 *
 * 1. Proof: with another text between prefix and suffix, the event means that other text. So the string at this place
 *    is the one that counts, and everything else in the event keeps its meaning.
 * 2. In an event that begins with the prefix, the first suffix after it ends the string. Otherwise the string would
 *    contain a quotation mark; such a text does not parse and is left alone.
 * 3. Texts are parsed together. So each must be a string by itself: it must not end within an escape or within a
 *    character.
 */
export type TextEnvelope = {
  readonly prefix: string;
  readonly suffix: string;
};

/** Texts are latin1: one character per byte of the stream. */
export type EnvelopeRun = {
  /** The decoded texts of the events, joined. */
  readonly text: string;
  /** The start of the first event that does not match. */
  readonly end: number;
};

const PROBE = 'orion-envelope-probe';
const NOT_ASCII = /[\u0080-\u00ff]/;

/**
 * The envelope of an event that only adds `text`. `read` returns the text of an event that only adds text; `keys` are
 * the fields that hold text.
 */
export function findEnvelope(
  event: string,
  text: string,
  keys: readonly string[],
  read: (event: string) => string | undefined,
): TextEnvelope | undefined {
  if (text === PROBE) return undefined;
  for (const key of keys) {
    const name = `"${key}":`;
    for (let found = event.indexOf(name); found !== -1; found = event.indexOf(name, found + 1)) {
      const start = event.indexOf('"', found + name.length) + 1;
      if (start === 0 || event.slice(found + name.length, start - 1).trim() !== '') continue;
      const end = endOfString(event, start);
      if (end === undefined) continue;
      const envelope = { prefix: event.slice(0, start), suffix: event.slice(end) };
      if (read(envelope.prefix + PROBE + envelope.suffix) === PROBE) return envelope;
    }
  }
  return undefined;
}

function endOfString(text: string, start: number): number | undefined {
  for (let position = start; position < text.length; position += 1) {
    const code = text.charCodeAt(position);
    if (code === 0x22) return position;
    if (code === 0x5c) position += 1;
  }
  return undefined;
}

/** The longest run of matching events from `start` on; undefined if the first one does not match. */
export function readRun(
  envelope: TextEnvelope,
  stream: string,
  start: number,
): EnvelopeRun | undefined {
  const { prefix, suffix } = envelope;
  if (!stream.startsWith(prefix, start)) return undefined;
  const first = start + prefix.length;
  const firstEnd = endOfString(stream, first);
  if (firstEnd === undefined || !stream.startsWith(suffix, firstEnd)) return undefined;
  const last = stream.lastIndexOf(suffix);
  const texts = stream.slice(first, last).split(suffix + prefix);
  let count = 0;
  while (count < texts.length && endsWhole(texts[count] ?? '')) count += 1;
  if (count === texts.length) {
    const text = parseBody(texts.length === 1 ? (texts[0] ?? '') : texts.join(''));
    if (text !== undefined) return { text, end: last + suffix.length };
  }
  // Other events are among them: read one by one up to there.
  let text = '';
  let end = start;
  for (const body of texts.slice(0, count)) {
    const parsed = parseBody(body);
    if (parsed === undefined) break;
    text += parsed;
    end += prefix.length + body.length + suffix.length;
  }
  return end === start ? undefined : { text, end };
}

function parseBody(body: string): string | undefined {
  const json = NOT_ASCII.test(body) ? Buffer.from(body, 'latin1').toString('utf8') : body;
  try {
    return JSON.parse(`"${json}"`) as string;
  } catch {
    return undefined;
  }
}

/** Whether the end of this string body means the same, whatever follows it. */
function endsWhole(body: string): boolean {
  const { length } = body;
  if (length === 0) return true;
  const last = body.charCodeAt(length - 1);
  if (last === 0x5c) return false;
  if (last >= 0x80) return endsWithWholeCharacter(body);
  for (let back = 2; back <= 5; back += 1) {
    if (body.charCodeAt(length - back) === 0x5c)
      return body.charCodeAt(length - back + 1) !== 0x75; /* u */
  }
  return true;
}

/** The characters are bytes of UTF-8. */
function endsWithWholeCharacter(body: string): boolean {
  for (let length = 1; length <= 4; length += 1) {
    const byte = body.charCodeAt(body.length - length);
    if (byte >= 0xc0) return length === (byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2);
    if (!(byte >= 0x80)) return false;
  }
  return false;
}

import { findEnvelope, readRun } from './text-envelope.ts';
import type { EnvelopeRun, TextEnvelope } from './text-envelope.ts';

/**
 * Decodes the bytes of an HTTP body into server-sent events, read by read.
 *
 * 1. Any split of the bytes gives the same events: within a character, a line, a CRLF or a byte order mark.
 * 2. A body that is not an event stream (a JSON document, an HTML page) is recognised by its first character, whatever
 *    its Content-Type, and passed on whole.
 * 3. Buffers are bounded, and buffered text is not read again with each piece that arrives.
 * 4. Text deltas that share an envelope reach `onText` without being parsed one by one. Everything else, and every
 *    doubtful case, reaches `onEvent`.
 *
 * Lines are found in latin1, where a character is a byte: the structure is ASCII, and UTF-8 is decoded only where a
 * payload needs it. Line ends are ASCII, too, so that decoding line by line is correct.
 */
export type StreamEvents = {
  /**
   * `atEnd`: the body ended within this event, so that its data may be incomplete. Returns the text if the event only
   * added this text to the message.
   */
  readonly onEvent: (data: string, name: string | undefined, atEnd: boolean) => string | undefined;
  readonly onText: (text: string) => void;
  readonly onDocument: (text: string, kind: 'json' | 'other') => void;
  readonly onTooLarge: (limit: number) => void;
  /** The text of an event that would only add a text. Has no effect. */
  readonly readText: (data: string, name: string | undefined) => string | undefined;
  /** The fields of payloads that hold text. */
  readonly textKeys: readonly string[];
};

export type EventStreamDecoder = {
  feed(bytes: Uint8Array): void;
  /** The body has ended in an orderly way. */
  end(): void;
};

/** Far larger than any event of a real provider. Also the limit of a document, which is buffered whole. */
const MAX_BUFFERED_BYTES = 16 * 1024 * 1024;
/** A piece may keep alive the whole text that it is a part of, so that only a few are held. */
const MOST_PIECES = 64;
/** Envelopes that never match cost more than they save. After so many of them, only an occasional one is tried. */
const FRUITLESS_ENVELOPES = 8;
const ENVELOPE_RETRY = 256;

const BYTE_ORDER_MARK = '\u00ef\u00bb\u00bf';
const NOT_ASCII = /[\u0080-\u00ff]/;

export function createEventStreamDecoder(
  events: StreamEvents,
  limit: number = MAX_BUFFERED_BYTES,
): EventStreamDecoder {
  let mode: 'undecided' | 'events' | 'json' | 'other' = 'undecided';
  /** The document so far, or a beginning that may still become anything. */
  const held = new Pieces();
  const reader = new EventReader(events, limit);
  let overflown = false;

  function hold(text: string): void {
    held.add(text);
    if (held.length <= limit) return;
    overflown = true;
    held.clear();
    events.onTooLarge(limit);
  }

  function decide(text: string): void {
    let start = held.take() + text;
    if (start.length < BYTE_ORDER_MARK.length && BYTE_ORDER_MARK.startsWith(start)) {
      hold(start);
      return;
    }
    if (start.startsWith(BYTE_ORDER_MARK)) start = start.slice(BYTE_ORDER_MARK.length);
    // Blanks and empty lines before the first event are insignificant and need not be held.
    const body = start.trimStart();
    const first = body.charAt(0);
    if (first === '') return;
    mode = first === '{' || first === '[' ? 'json' : first === '<' ? 'other' : 'events';
    if (mode === 'events') reader.read(body);
    else hold(body);
  }

  return {
    feed: (bytes) => {
      const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
      if (mode === 'events') reader.read(text);
      else if (mode === 'undecided') decide(text);
      else if (!overflown) hold(text);
    },
    end: () => {
      if (mode === 'events') reader.end();
      else if (mode !== 'undecided' && !overflown) events.onDocument(toText(held.take()), mode);
    },
  };
}

/** Turns lines into events as the standard of server-sent events defines. */
class EventReader {
  readonly #events: StreamEvents;
  readonly #limit: number;
  readonly #envelope: LearnedEnvelope;
  /** An incomplete line. */
  readonly #held = new Pieces();
  readonly #event = new OpenEvent();
  #afterCarriageReturn = false;
  #overflown = false;

  constructor(events: StreamEvents, limit: number) {
    this.#events = events;
    this.#limit = limit;
    this.#envelope = new LearnedEnvelope(events);
  }

  read(chunk: string): void {
    if (this.#overflown) return;
    let text = chunk;
    if (this.#afterCarriageReturn) {
      if (text.startsWith('\n')) text = text.slice(1);
      this.#afterCarriageReturn = false;
    }
    if (this.#held.length === 0) {
      this.#readText(text);
      return;
    }
    if (!text.includes('\n') && !text.includes('\r')) {
      this.#hold(text);
      return;
    }
    // Only the open event is joined; joining everything that arrived would copy it.
    const blank = text.indexOf('\n\n');
    const end = blank === -1 ? text.length : blank + 2;
    this.#readText(this.#held.take() + text.slice(0, end));
    if (end < text.length) this.read(text.slice(end));
  }

  end(): void {
    // A last event without its blank line counts, too.
    const line = this.#held.take();
    if (line !== '') this.#event.addLine(line);
    if (this.#event.hasData) this.#dispatch(true);
    this.#event.clear();
  }

  #readText(text: string): void {
    const ends = new LineEnds(text);
    let position = 0;
    while (position < text.length) {
      const run = this.#event.isNew ? this.#envelope.read(text, position) : undefined;
      if (run !== undefined) {
        if (run.text !== '') this.#events.onText(run.text);
        position = run.end;
        continue;
      }
      const start = position;
      position = this.#readEvent(text, position, ends);
      if (position === start) break;
    }
    if (!this.#overflown) this.#hold(text.slice(position));
  }

  /** Reads lines up to the end of one event. Returns the position of the first unread line. */
  #readEvent(text: string, from: number, ends: LineEnds): number {
    const event = this.#event;
    const whole = event.isNew;
    let position = from;
    for (;;) {
      const end = ends.after(position);
      if (end === -1) return position;
      const line = text.slice(position, end);
      position = end + 1;
      if (text.charCodeAt(end) === 0x0d) {
        if (position === text.length) this.#afterCarriageReturn = true;
        else if (text.charCodeAt(position) === 0x0a) position += 1;
      }
      if (line !== '') {
        event.addLine(line);
        if (event.length <= this.#limit) continue;
        this.#overflow();
        return text.length;
      }
      if (event.hasData) {
        const plain = this.#dispatch(false);
        if (plain !== undefined && whole && !this.#afterCarriageReturn)
          this.#envelope.learn(text.slice(from, position), plain);
      }
      event.clear();
      return position;
    }
  }

  #dispatch(atEnd: boolean): string | undefined {
    return this.#events.onEvent(toText(this.#event.takeData()), this.#event.name, atEnd);
  }

  #hold(text: string): void {
    this.#held.add(text);
    if (this.#held.length + this.#event.length > this.#limit) this.#overflow();
  }

  #overflow(): void {
    this.#overflown = true;
    this.#held.clear();
    this.#event.clear();
    this.#events.onTooLarge(this.#limit);
  }
}

/** The envelope of the text deltas, learned from the latest of them. */
class LearnedEnvelope {
  readonly #events: StreamEvents;
  #envelope: TextEnvelope | undefined;
  #fruitless = 0;
  #plainEvents = 0;

  constructor(events: StreamEvents) {
    this.#events = events;
  }

  /** The run of matching events at this position. */
  read(text: string, position: number): EnvelopeRun | undefined {
    if (this.#envelope === undefined) return undefined;
    const run = readRun(this.#envelope, text, position);
    if (run !== undefined) this.#fruitless = 0;
    return run;
  }

  /** Learns from a whole event that did not match and that adds this text. */
  learn(event: string, plain: string): void {
    this.#envelope = undefined;
    this.#plainEvents += 1;
    if (this.#fruitless >= FRUITLESS_ENVELOPES && this.#plainEvents % ENVELOPE_RETRY !== 0) return;
    const { textKeys, readText } = this.#events;
    this.#envelope = findEnvelope(event, plain, textKeys, (probe) => {
      const probed = new OpenEvent();
      for (const line of probe.split(/\r\n|\r|\n/)) {
        if (line !== '') probed.addLine(line);
      }
      return readText(toText(probed.takeData()), probed.name);
    });
    if (this.#envelope !== undefined) this.#fruitless += 1;
  }
}

/** Finds line ends. Each of the two characters is searched for once, however many of the other come before it. */
class LineEnds {
  readonly #text: string;
  #feed: number;
  #return: number;

  constructor(text: string) {
    this.#text = text;
    this.#feed = text.indexOf('\n');
    this.#return = text.indexOf('\r');
  }

  /** The first line end at or after `position`; -1 if there is none. Positions must not decrease. */
  after(position: number): number {
    if (this.#feed !== -1 && this.#feed < position) this.#feed = this.#text.indexOf('\n', position);
    if (this.#return !== -1 && this.#return < position)
      this.#return = this.#text.indexOf('\r', position);
    if (this.#feed === -1 || this.#return === -1) return Math.max(this.#feed, this.#return);
    return Math.min(this.#feed, this.#return);
  }
}

/** A text that arrives in pieces, possibly of a single byte; `MOST_PIECES` of them are joined at a time. */
class Pieces {
  #blocks: string[] = [];
  #pieces: string[] = [];
  length = 0;

  add(piece: string): void {
    if (piece === '') return;
    this.length += piece.length;
    this.#pieces.push(piece);
    if (this.#pieces.length < MOST_PIECES) return;
    this.#blocks.push(this.#pieces.join(''));
    this.#pieces = [];
  }

  take(): string {
    const [first = ''] = this.#pieces;
    const isOne = this.#pieces.length <= 1 && this.#blocks.length === 0;
    const text = isOne ? first : [...this.#blocks, ...this.#pieces].join('');
    this.clear();
    return text;
  }

  clear(): void {
    if (this.length === 0) return;
    this.#blocks = [];
    this.#pieces = [];
    this.length = 0;
  }
}

/**
 * The lines of one event so far, with the fields of the standard, and with `error`: llama.cpp and its forks write a
 * failure as the value of this field, and `[DONE]` after it.
 */
class OpenEvent {
  name: string | undefined;
  readonly #data = new Pieces();
  hasData = false;
  /** No line has arrived yet, not even a comment. */
  isNew = true;
  /** The length of its data lines as they arrived, including empty ones. */
  length = 0;

  takeData(): string {
    return this.#data.take();
  }

  addLine(line: string): void {
    this.isNew = false;
    if (line.startsWith('data:')) {
      this.#addData(line, line.slice(line.charCodeAt(5) === 0x20 ? 6 : 5));
    } else if (line.startsWith('event:')) {
      const value = line.slice(line.charCodeAt(6) === 0x20 ? 7 : 6);
      this.name = value === '' ? undefined : value;
    } else if (line.startsWith('error:')) {
      this.name = 'error';
      this.#addData(line, line.slice(line.charCodeAt(6) === 0x20 ? 7 : 6));
    } else if (line === 'data') {
      this.#addData(line, '');
    }
  }

  #addData(line: string, value: string): void {
    this.length += line.length + 1;
    // Copied: a slice would keep the whole text alive, and much may arrive between two lines.
    this.#data.add(this.hasData ? Buffer.from(`\n${value}`, 'latin1').toString('latin1') : value);
    this.hasData = true;
  }

  clear(): void {
    this.name = undefined;
    this.#data.clear();
    this.hasData = false;
    this.isNew = true;
    this.length = 0;
  }
}

function toText(bytes: string): string {
  return NOT_ASCII.test(bytes) ? Buffer.from(bytes, 'latin1').toString('utf8') : bytes;
}

import { createParser } from 'eventsource-parser';

/**
 * Bytes of an HTTP body turned into server-sent events, read by read.
 *
 * 1. Any split of the bytes gives the same events: inside a character, a line, a CRLF, a byte order mark.
 * 2. A body that is not an event stream at all (one JSON document, an HTML page) is recognised by its first
 *    character, whatever its Content-Type says, and handed over whole.
 * 3. Nothing is held without bound.
 */
export type BodyEvents = {
  /** `atEnd`: the body ended inside this event, so that its data may be incomplete. */
  readonly onEvent: (data: string, name: string | undefined, atEnd: boolean) => void;
  readonly onDocument: (text: string, kind: 'json' | 'other') => void;
  readonly onTooLarge: (limit: number) => void;
};

export type BodyDecoder = {
  feed(bytes: Uint8Array): void;
  /** The body has ended in an orderly way. */
  end(): void;
};

/** Far above any event of a real provider; a document is held whole and gets the same bound. */
const MAX_BUFFERED_CHARACTERS = 16 * 1024 * 1024;

export function createBodyDecoder(
  events: BodyEvents,
  limit: number = MAX_BUFFERED_CHARACTERS,
): BodyDecoder {
  const decoder = new TextDecoder('utf-8');
  let mode: 'undecided' | 'events' | 'json' | 'other' = 'undecided';
  let document = '';
  let atEnd = false;

  const parser = createParser({
    maxBufferSize: limit,
    onEvent: (event) => events.onEvent(event.data, event.event, atEnd),
    onError: (error) => {
      if (error.type !== 'max-buffer-size-exceeded') return;
      overflown = true;
      events.onTooLarge(limit);
    },
  });
  let overflown = false;

  function feedText(text: string): void {
    if (overflown) return;
    if (mode === 'events') {
      parser.feed(text);
      return;
    }
    document += text;
    if (mode === 'undecided') {
      const first = document.trimStart().charAt(0);
      if (first === '') return;
      mode = first === '{' || first === '[' ? 'json' : first === '<' ? 'other' : 'events';
      if (mode === 'events') {
        const start = document;
        document = '';
        parser.feed(start);
      }
    }
    if (document.length > limit) {
      overflown = true;
      events.onTooLarge(limit);
    }
  }

  return {
    feed: (bytes) => feedText(decoder.decode(bytes, { stream: true })),
    end: () => {
      feedText(decoder.decode());
      if (overflown) return;
      if (mode === 'json' || mode === 'other') {
        events.onDocument(document, mode);
      } else if (mode === 'events') {
        // A last event without its blank line still counts; these two line ends complete it.
        atEnd = true;
        parser.feed('\n\n');
      }
    },
  };
}

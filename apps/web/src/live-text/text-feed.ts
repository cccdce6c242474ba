import type { LiveText } from './live-text.ts';

/**
 * Reads bytes of what is saved, from an offset up to another one; less where that is not all there, and null where the
 * text is not kept any more.
 */
export type ReadRange = (
  from: number,
  to: number,
  signal: AbortSignal,
) => Promise<Uint8Array | null>;

export type FeedHost = {
  readonly read: ReadRange;
  /** The last read failed with this error; null: one has succeeded since. */
  readonly failed: (error: Error | null) => void;
  readonly wait: (milliseconds: number, signal: AbortSignal) => Promise<void>;
};

/** The first read is small, so that text appears soon; each further one is twice as large, since requests are counted. */
const FIRST_RANGE_BYTES = 256 * 1024;
const LARGEST_RANGE_BYTES = 4 * 1024 * 1024;
/** Before it is asked again for text that is not saved yet, or that could not be read. */
const RETRY_MS = 1000;
/** Between two reads of text that is being written: what comes meanwhile is one request, and drawn at once. */
const PACE_MS = 100;

/**
 * Brings the text of a session into the view: as the events carry it, and by range where they do not. Nothing is
 * guessed: text is added only exactly behind what is there.
 */
export class TextFeed {
  readonly #live: Pick<LiveText, 'append' | 'rewind' | 'bytes'>;
  readonly #host: FeedHost;
  readonly #closed = new AbortController();
  /** The end of the text, as the events say. */
  #wanted = 0;
  /** Counts rewinds: what was read before one is not added after it. */
  #version = 0;
  #isReading = false;
  #rangeBytes = FIRST_RANGE_BYTES;

  constructor(live: Pick<LiveText, 'append' | 'rewind' | 'bytes'>, host: FeedHost) {
    this.#live = live;
    this.#host = host;
  }

  chunk(offset: number, length: number, content: string | null): void {
    this.#wanted = Math.max(this.#wanted, offset + length);
    if (content !== null && offset === this.#live.bytes()) {
      this.#version += 1;
      this.#live.append(content);
    }
    void this.#catchUp();
  }

  /** The text has so many bytes, as a list or the state of the session says. */
  reach(bytes: number): void {
    this.#wanted = Math.max(this.#wanted, bytes);
    void this.#catchUp();
  }

  rewind(toOffset: number): void {
    this.#version += 1;
    this.#wanted = toOffset;
    this.#live.rewind(toOffset);
    void this.#catchUp();
  }

  close(): void {
    this.#closed.abort();
  }

  /** Never rejects. Tries for as long as something is missing. */
  async #catchUp(): Promise<void> {
    if (this.#isReading) return;
    this.#isReading = true;
    const { signal } = this.#closed;
    while (this.#live.bytes() < this.#wanted && !signal.aborted) {
      const outcome = await this.#readOnce(signal);
      if (outcome === 'gone') break;
      if (outcome === 'nothing') await this.#host.wait(RETRY_MS, signal);
      else if (this.#live.bytes() >= this.#wanted) await this.#host.wait(PACE_MS, signal);
    }
    this.#isReading = false;
  }

  async #readOnce(signal: AbortSignal): Promise<'something' | 'nothing' | 'gone'> {
    const version = this.#version;
    const from = this.#live.bytes();
    const to = Math.min(this.#wanted, from + this.#rangeBytes);
    try {
      const bytes = await this.#host.read(from, to, signal);
      if (signal.aborted || bytes === null) return 'gone';
      this.#host.failed(null);
      this.#rangeBytes = Math.min(LARGEST_RANGE_BYTES, this.#rangeBytes * 2);
      if (version !== this.#version) return 'something';
      const text = wholeCharacters(bytes);
      if (text !== '') this.#live.append(text);
      return text === '' ? 'nothing' : 'something';
    } catch (error) {
      this.#rangeBytes = FIRST_RANGE_BYTES;
      if (!signal.aborted) this.#host.failed(error as Error);
      return 'nothing';
    }
  }
}

/** Without a character at the end of which bytes are missing. */
function wholeCharacters(bytes: Uint8Array): string {
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes, { stream: true });
}

/**
 * Finds a text in bytes that pass by.
 *
 * F1. What is found does not depend on how the bytes are divided.
 * F2. Held are the bytes of one chunk and less than one length of what is looked for.
 */

/** A place that matches, and the whole lines that it touches; offsets count bytes. */
export type Place = {
  readonly start: number;
  readonly end: number;
  /** Of the line in which it begins, counted from 1. */
  readonly line: number;
  readonly lineStart: number;
  /** After the ending of the line in which it ends. */
  readonly lineEnd: number;
  /** False: that line is the last one and has no ending. */
  readonly terminated: boolean;
};

export type Found = {
  /** All places, of which only the first are listed. */
  readonly count: number;
  readonly places: readonly Place[];
};

export const MAX_LISTED_PLACES = 5;

const LF = 0x0a;

/** Places may overlap: each one is a way to understand a marker. `firstLineStart` is where line 1 begins. */
export async function findPlaces(
  chunks: AsyncIterable<Uint8Array>,
  needle: Uint8Array,
  firstLineStart: number,
): Promise<Found> {
  const places: Place[] = [];
  /** Places whose last line has not ended yet. */
  let open: Omit<Place, 'lineEnd' | 'terminated'>[] = [];
  let count = 0;
  let line = 1;
  let lineStart = firstLineStart;
  let counted = 0;

  const endLine = (feed: number): void => {
    const ended = open.filter((place) => feed >= place.end - 1);
    for (const place of ended) places.push({ ...place, lineEnd: feed + 1, terminated: true });
    if (ended.length > 0) open = open.filter((place) => feed < place.end - 1);
  };
  const countTo = (until: number, window: Uint8Array, windowStart: number): void => {
    const stop = until - windowStart;
    for (
      let at = window.indexOf(LF, counted - windowStart);
      at !== -1 && at < stop;
      at = window.indexOf(LF, at + 1)
    ) {
      line += 1;
      lineStart = windowStart + at + 1;
      endLine(windowStart + at);
    }
    counted = until;
  };

  const end = await scan(chunks, needle, {
    step: 1,
    found: (start, window, windowStart) => {
      count += 1;
      if (places.length + open.length >= MAX_LISTED_PLACES) return;
      countTo(start, window, windowStart);
      open.push({ start, end: start + needle.length, line, lineStart });
    },
    leaving: countTo,
  });
  for (const place of open) places.push({ ...place, lineEnd: end, terminated: false });
  return { count, places: places.toSorted((one, other) => one.start - other.start) };
}

/** Where it stands, in order and without overlap. Stops after `limit` places. */
export async function findOffsets(
  chunks: AsyncIterable<Uint8Array>,
  needle: Uint8Array,
  limit: number,
): Promise<{ readonly offsets: readonly number[]; readonly limited: boolean }> {
  const offsets: number[] = [];
  let limited = false;
  await scan(chunks, needle, {
    step: needle.length,
    found: (start) => {
      if (offsets.length < limit) offsets.push(start);
      else limited = true;
    },
    leaving: () => undefined,
  });
  return { offsets, limited };
}

type Visitor = {
  /** How far behind the beginning of a place the next one may begin. */
  readonly step: number;
  readonly found: (start: number, window: Uint8Array, windowStart: number) => void;
  /** Bytes before `until` are about to leave the window. */
  readonly leaving: (until: number, window: Uint8Array, windowStart: number) => void;
};

/** Answers how many bytes there were. */
async function scan(
  chunks: AsyncIterable<Uint8Array>,
  needle: Uint8Array,
  visitor: Visitor,
): Promise<number> {
  let window: Uint8Array = new Uint8Array(0);
  let windowStart = 0;
  let from = 0;
  for await (const chunk of chunks) {
    window = window.length === 0 ? chunk : Buffer.concat([window, chunk]);
    const view = Buffer.from(window.buffer, window.byteOffset, window.byteLength);
    for (
      let at = view.indexOf(needle, from - windowStart);
      at !== -1;
      at = view.indexOf(needle, from - windowStart)
    ) {
      visitor.found(windowStart + at, window, windowStart);
      from = windowStart + at + visitor.step;
      if (from > windowStart + window.length) break;
    }
    const windowEnd = windowStart + window.length;
    from = Math.max(from, windowEnd - needle.length + 1);
    const keepFrom = Math.min(from, windowEnd);
    visitor.leaving(keepFrom, window, windowStart);
    window = window.subarray(keepFrom - windowStart);
    windowStart = keepFrom;
  }
  const end = windowStart + window.length;
  visitor.leaving(end, window, windowStart);
  return end;
}

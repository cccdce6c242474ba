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

/** A place whose last line has not ended yet, as far as it was looked for. */
type OpenPlace = Omit<Place, 'lineEnd' | 'terminated'> & { readonly soughtTo: number };

/**
 * Places may overlap: each one is a way to understand a marker. `firstLineStart` is where line 1 begins. Lines are not
 * counted: only who is told of a place wants to know its line.
 */
export async function findPlaces(
  chunks: AsyncIterable<Uint8Array>,
  needle: Uint8Array,
  firstLineStart: number,
): Promise<Found> {
  const places: Place[] = [];
  let open: OpenPlace[] = [];
  let count = 0;
  /** Of the line that goes on at the beginning of the window. */
  let lineStart = firstLineStart;

  const lineStartBefore = (position: number, window: Uint8Array, windowStart: number): number => {
    if (position <= windowStart) return lineStart;
    const feed = window.lastIndexOf(LF, position - windowStart - 1);
    return feed === -1 ? lineStart : windowStart + feed + 1;
  };
  const endLines = (window: Uint8Array, windowStart: number): void => {
    const still: OpenPlace[] = [];
    for (const { soughtTo, ...place } of open) {
      const feed = window.indexOf(LF, soughtTo - windowStart);
      if (feed === -1) still.push({ ...place, soughtTo: windowStart + window.length });
      else places.push({ ...place, lineEnd: windowStart + feed + 1, terminated: true });
    }
    open = still;
  };

  const end = await scan(chunks, needle, {
    step: 1,
    found: (start, window, windowStart) => {
      count += 1;
      if (places.length + open.length >= MAX_LISTED_PLACES) return true;
      const end = start + needle.length;
      open.push({
        start,
        end,
        lineStart: lineStartBefore(start, window, windowStart),
        soughtTo: end - 1,
      });
      return true;
    },
    leaving: (until, window, windowStart) => {
      endLines(window, windowStart);
      lineStart = lineStartBefore(until, window, windowStart);
    },
  });
  for (const { soughtTo: _soughtTo, ...place } of open) {
    places.push({ ...place, lineEnd: end, terminated: false });
  }
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
      limited = offsets.length >= limit;
      if (!limited) offsets.push(start);
      return !limited;
    },
    leaving: () => undefined,
  });
  return { offsets, limited };
}

type Visitor = {
  /** How far behind the beginning of a place the next one may begin. */
  readonly step: number;
  /** False: nothing further is of interest. */
  readonly found: (start: number, window: Uint8Array, windowStart: number) => boolean;
  /** Bytes before `until` are about to leave the window. */
  readonly leaving: (until: number, window: Uint8Array, windowStart: number) => void;
};

/** Answers how many bytes were looked at. */
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
      if (!visitor.found(windowStart + at, window, windowStart)) return windowStart + at;
      from = windowStart + at + visitor.step;
    }
    const windowEnd = windowStart + window.length;
    from = Math.max(from, windowEnd - needle.length + 1);
    visitor.leaving(from, window, windowStart);
    window = window.subarray(from - windowStart);
    windowStart = from;
  }
  const end = windowStart + window.length;
  visitor.leaving(end, window, windowStart);
  return end;
}

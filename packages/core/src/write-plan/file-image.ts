/**
 * The planned contents of a file: pieces of the old file with new text between them.
 *
 * I1. An image is a list of ranges; it never holds the bytes, whatever its size.
 * I2. Pieces of the old file keep their order and occur once, so that one pass over the file reads them all.
 * I3. A piece is never empty.
 */
import type { ByteSource, CommitPart } from '@orion/contracts';

/** New text and its exact size. */
export type NewText = { readonly source: ByteSource; readonly bytes: number };

/** The bytes from `start` up to, not including, `end`: of the old file, or of the new text. */
export type Piece =
  | { readonly kind: 'kept'; readonly start: number; readonly end: number }
  | { readonly kind: 'new'; readonly text: NewText; readonly start: number; readonly end: number };

export type FileImage = { readonly pieces: readonly Piece[]; readonly bytes: number };

/** Replaces the bytes from `start` to `end` of the image with the texts. */
export type Splice = {
  readonly start: number;
  readonly end: number;
  readonly texts: readonly NewText[];
};

export const emptyImage: FileImage = { pieces: [], bytes: 0 };

/** A file of that size, unchanged. */
export function unchangedImage(bytes: number): FileImage {
  return bytes === 0 ? emptyImage : { pieces: [{ kind: 'kept', start: 0, end: bytes }], bytes };
}

export function imageOfTexts(texts: readonly NewText[]): FileImage {
  return splice(emptyImage, [{ start: 0, end: 0, texts }]);
}

/** The splices refer to the image before any of them, in order and without overlap. */
export function splice(image: FileImage, splices: readonly Splice[]): FileImage {
  const [first] = splices;
  // A plan may have thousands of operations: each must not rebuild the whole list.
  return first !== undefined && splices.length === 1
    ? spliceOnce(image, first)
    : spliceAll(image, splices);
}

function spliceOnce(image: FileImage, { start, end, texts }: Splice): FileImage {
  if (start < 0 || end < start || end > image.bytes) throw outside();
  const from = seek(image, start);
  const to = seek(image, end);
  const left = from.offset === 0 ? [] : partOf(image.pieces[from.index], 0, from.offset);
  const right = to.offset === 0 ? [] : partOf(image.pieces[to.index], to.offset);
  const added = texts.flatMap((text): readonly Piece[] =>
    text.bytes === 0 ? [] : [{ kind: 'new', text, start: 0, end: text.bytes }],
  );
  const before = from.index;
  const after = to.index + (to.offset === 0 ? 0 : 1);
  const pieces = image.pieces.toSpliced(before, after - before, ...left, ...added, ...right);
  if (added.length === 0) joinAt(pieces, before + left.length);
  const addedBytes = added.reduce((sum, piece) => sum + piece.end - piece.start, 0);
  return { pieces, bytes: image.bytes - (end - start) + addedBytes };
}

/** The piece that contains a byte of the image, or the end of the list; searched from the nearer end. */
function seek(
  { pieces, bytes }: FileImage,
  position: number,
): { readonly index: number; readonly offset: number } {
  const lengthOf = (index: number): number => {
    const piece = pieces[index];
    if (piece === undefined) throw outside();
    return piece.end - piece.start;
  };
  if (position > bytes / 2) {
    let index = pieces.length;
    let begin = bytes;
    while (begin > position) {
      index -= 1;
      begin -= lengthOf(index);
    }
    return { index, offset: position - begin };
  }
  let index = 0;
  let begin = 0;
  while (index < pieces.length && begin + lengthOf(index) <= position) {
    begin += lengthOf(index);
    index += 1;
  }
  return { index, offset: position - begin };
}

function partOf(piece: Piece | undefined, from: number, to?: number): readonly Piece[] {
  if (piece === undefined) throw outside();
  return [
    { ...piece, start: piece.start + from, end: to === undefined ? piece.end : piece.start + to },
  ];
}

/** Joins the kept pieces on both sides of a place if they are adjacent in the old file. */
function joinAt(pieces: Piece[], index: number): void {
  const [left, right] = [pieces[index - 1], pieces[index]];
  if (left?.kind !== 'kept' || right?.kind !== 'kept' || left.end !== right.start) return;
  pieces.splice(index - 1, 2, { ...left, end: right.end });
}

function outside(): RangeError {
  return new RangeError('splices are out of order or outside of the image');
}

function spliceAll(image: FileImage, splices: readonly Splice[]): FileImage {
  const pieces: Piece[] = [];
  let bytes = 0;
  const add = (piece: Piece): void => {
    if (piece.end === piece.start) return;
    bytes += piece.end - piece.start;
    const last = pieces.at(-1);
    if (last?.kind === 'kept' && piece.kind === 'kept' && last.end === piece.start) {
      pieces[pieces.length - 1] = { ...last, end: piece.end };
    } else {
      pieces.push(piece);
    }
  };
  /** How much of the image has been consumed: in bytes, and as a piece and the bytes of it. */
  let position = 0;
  let index = 0;
  let used = 0;
  const take = (until: number, keep: boolean): void => {
    for (let piece = image.pieces[index]; piece !== undefined; piece = image.pieces[index]) {
      const length = piece.end - piece.start;
      const pieceEnd = position + length - used;
      const stop = Math.min(until, pieceEnd);
      if (keep) {
        const from = piece.start + used;
        add({ ...piece, start: from, end: from + (stop - position) });
      }
      used += stop - position;
      position = stop;
      if (stop < pieceEnd) return;
      index += 1;
      used = 0;
    }
  };
  for (const { start, end, texts } of splices) {
    if (start < position || end < start || end > image.bytes) throw outside();
    take(start, true);
    take(end, false);
    for (const text of texts) add({ kind: 'new', text, start: 0, end: text.bytes });
  }
  take(image.bytes, true);
  return { pieces, bytes };
}

/** Above this number the pieces are written as one stream: a call for each of a million would take minutes. */
const MAX_PARTS = 1000;

/** The image as the workspace writes it. `readBase` must verify what it reads, as the workspace does for kept parts. */
export function partsOf(image: FileImage, readBase: ByteSource): readonly CommitPart[] {
  if (image.pieces.length > MAX_PARTS) {
    return [{ kind: 'new', source: () => gathered(readImage(image, readBase)) }];
  }
  return image.pieces.map((piece): CommitPart =>
    piece.kind === 'kept' ? piece : { kind: 'new', source: sourceOf(piece) },
  );
}

/** The bytes of an image. `readBase` reads the old file from its start and is called at most once. */
export async function* readImage(
  image: FileImage,
  readBase: ByteSource,
): AsyncGenerator<Uint8Array, void, undefined> {
  let base: BaseReader | null = null;
  try {
    for (const piece of image.pieces) {
      if (piece.kind === 'new') {
        yield* sourceOf(piece)();
      } else {
        base ??= new BaseReader(readBase());
        yield* base.range(piece.start, piece.end);
      }
    }
    // A source that verifies its bytes does so at its end.
    await base?.finish();
  } finally {
    await base?.close();
  }
}

const GATHERED_BYTES = 64 * 1024;

/** The same bytes in fewer, larger chunks. */
async function* gathered(
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array, void, undefined> {
  let block = new Uint8Array(GATHERED_BYTES);
  let used = 0;
  for await (const chunk of chunks) {
    if (used + chunk.length > block.length) {
      if (used > 0) yield block.subarray(0, used);
      block = new Uint8Array(GATHERED_BYTES);
      used = 0;
    }
    if (chunk.length >= block.length) {
      yield chunk;
    } else {
      block.set(chunk, used);
      used += chunk.length;
    }
  }
  if (used > 0) yield block.subarray(0, used);
}

export function textOf(bytes: Uint8Array): NewText {
  return {
    bytes: bytes.length,
    source: async function* once() {
      if (bytes.length > 0) yield bytes;
    },
  };
}

/** The first bytes of a text. */
export function beginningOf(text: NewText, bytes: number): NewText {
  return { bytes, source: sourceOf({ kind: 'new', text, start: 0, end: bytes }) };
}

export function sourceOf({ text, start, end }: Extract<Piece, { kind: 'new' }>): ByteSource {
  if (start === 0 && end === text.bytes) return text.source;
  return async function* slice() {
    let position = 0;
    for await (const chunk of text.source()) {
      const from = Math.max(0, start - position);
      const to = Math.min(chunk.length, end - position);
      if (to > from) yield chunk.subarray(from, to);
      position += chunk.length;
      if (position >= end) return;
    }
  };
}

/** Reads ascending ranges of one stream. */
export class BaseReader {
  readonly #chunks: AsyncIterator<Uint8Array>;
  #chunk: Uint8Array = new Uint8Array(0);
  /** The offset of the chunk in the file. */
  #position = 0;
  #ended = false;

  constructor(bytes: AsyncIterable<Uint8Array>) {
    this.#chunks = bytes[Symbol.asyncIterator]();
  }

  async *range(start: number, end: number): AsyncGenerator<Uint8Array, void, undefined> {
    let position = start;
    while (position < end) {
      const chunkEnd = this.#position + this.#chunk.length;
      if (position >= chunkEnd) {
        if (!(await this.#next())) throw new Error('the file is shorter than its snapshot');
        continue;
      }
      const from = position - this.#position;
      const to = Math.min(end, chunkEnd) - this.#position;
      yield this.#chunk.subarray(from, to);
      position = this.#position + to;
    }
  }

  async finish(): Promise<void> {
    while (await this.#next());
  }

  async close(): Promise<void> {
    if (!this.#ended) await this.#chunks.return?.();
  }

  async #next(): Promise<boolean> {
    this.#position += this.#chunk.length;
    const { done, value } = await this.#chunks.next();
    this.#ended = done === true;
    this.#chunk = this.#ended ? new Uint8Array(0) : (value as Uint8Array);
    return !this.#ended;
  }
}

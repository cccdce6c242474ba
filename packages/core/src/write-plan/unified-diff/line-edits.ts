/**
 * The lines of a change, in order: equal, removed and added ones.
 *
 * L1. The image says which bytes stay; lines are compared only where an operation changed something.
 * L2. Only one line of each side and one region of changed lines are held, both bounded. Larger regions are listed
 *     line by line instead of compared.
 * L3. Bytes are compared, not characters.
 * L4. Of a long run of equal lines only those near a change are listed; the others are counted.
 */
import { createHash } from 'node:crypto';
import type { Hash } from 'node:crypto';

import { diffArrays } from 'diff';

import { BaseReader, sourceOf } from '../file-image.ts';
import type { FileImage, Piece } from '../file-image.ts';

/** `text` contains bytes as Latin-1, with the line's ending; `omitted` bytes of a long line are missing. */
export type DiffLine = {
  readonly text: string;
  readonly omitted: number;
  readonly sha256: string | null;
};

export type LineEdit =
  | { readonly kind: 'same' | 'removed' | 'added'; readonly line: DiffLine }
  /** A number of equal lines, none of them within `CONTEXT_LINES` of a change. */
  | { readonly kind: 'skipped'; readonly lines: number };

/** Lines around a change that are always listed. */
export const CONTEXT_LINES = 3;
/** After this many equal lines no hunk is open. */
const SKIPS_AFTER = 2 * CONTEXT_LINES + 2;

const MAX_LINE_BYTES = 64 * 1024;
const MAX_REGION_BYTES = 8 * 1024 * 1024;
const MAX_REGION_LINES = 50_000;
/** A region with more differences than this is listed as one block. */
const MAX_EDITS = 1500;

const LF = 0x0a;

export async function* lineEdits(
  image: FileImage,
  oldBytes: number,
  readBase: () => AsyncIterable<Uint8Array>,
): AsyncGenerator<LineEdit, void, undefined> {
  const walk = new Walk();
  for await (const { kind, bytes } of spans(image, oldBytes, readBase)) {
    yield* walk.take(kind, bytes);
  }
  yield* walk.end();
}

type Span = { readonly kind: 'kept' | 'gone' | 'new'; readonly bytes: Uint8Array };

/** Walks both files side by side: removed bytes come before those that replace them. */
async function* spans(
  { pieces }: FileImage,
  oldBytes: number,
  readBase: () => AsyncIterable<Uint8Array>,
): AsyncGenerator<Span, void, undefined> {
  const base = new BaseReader(readBase());
  let inserted: Extract<Piece, { kind: 'new' }>[] = [];
  let position = 0;
  try {
    for (const piece of [...pieces, { kind: 'kept', start: oldBytes, end: oldBytes } as const]) {
      if (piece.kind === 'new') {
        inserted.push(piece);
        continue;
      }
      for await (const bytes of base.range(position, piece.start)) yield { kind: 'gone', bytes };
      for (const text of inserted) {
        for await (const bytes of sourceOf(text)()) yield { kind: 'new', bytes };
      }
      for await (const bytes of base.range(piece.start, piece.end)) yield { kind: 'kept', bytes };
      inserted = [];
      position = piece.end;
    }
  } finally {
    await base.close();
  }
}

class Walk {
  #old = new LineBuilder();
  #new = new LineBuilder();
  /** Only kept bytes have come since both sides began a line. */
  #same = true;
  #region: { removed: DiffLine[]; added: DiffLine[]; bytes: number } | null = null;
  /** The region is too large to hold. */
  #isTooLarge = false;
  /** Equal lines since the last change. */
  #streak = 0;

  *take(kind: Span['kind'], bytes: Uint8Array): Generator<LineEdit, void, undefined> {
    let from = 0;
    while (from < bytes.length) {
      const skipped = kind === 'kept' ? this.#skip(bytes, from) : null;
      if (skipped !== null) {
        yield { kind: 'skipped', lines: skipped.lines };
        from = skipped.end;
      }
      const feed = bytes.indexOf(LF, from);
      const to = feed === -1 ? bytes.length : feed + 1;
      const part = bytes.subarray(from, to);
      from = to;
      if (kind !== 'new') this.#old.add(part);
      if (kind !== 'gone') this.#new.add(part);
      if (kind !== 'kept') this.#same = false;
      if (feed !== -1) yield* this.#endLine(kind);
    }
  }

  /** How much of an equal run can be counted only; its last lines may be the context of the next change. */
  #skip(bytes: Uint8Array, from: number): { readonly end: number; readonly lines: number } | null {
    const inRun = this.#same && this.#old.empty && this.#streak >= SKIPS_AFTER;
    if (!inRun) return null;
    let end = bytes.length;
    for (let line = 0; line <= CONTEXT_LINES; line += 1) {
      end = bytes.lastIndexOf(LF, end - 1);
      if (end < from) return null;
    }
    let lines = 0;
    for (let at = bytes.indexOf(LF, from); at !== -1 && at <= end; at = bytes.indexOf(LF, at + 1)) {
      lines += 1;
    }
    return { end: end + 1, lines };
  }

  *end(): Generator<LineEdit, void, undefined> {
    if (this.#same && !this.#new.empty) {
      yield* this.#closeRegion();
      yield { kind: 'same', line: this.#new.take() };
      return;
    }
    yield* this.#change(
      this.#old.empty ? null : this.#old.take(),
      this.#new.empty ? null : this.#new.take(),
    );
    yield* this.#closeRegion();
  }

  *#endLine(kind: Span['kind']): Generator<LineEdit, void, undefined> {
    if (kind === 'kept') {
      const removed = this.#old.take();
      const added = this.#new.take();
      if (this.#same) {
        yield* this.#closeRegion();
        this.#streak += 1;
        yield { kind: 'same', line: added };
      } else {
        yield* this.#change(removed, added);
      }
      this.#same = true;
      return;
    }
    if (kind === 'gone') yield* this.#change(this.#old.take(), null);
    else yield* this.#change(null, this.#new.take());
    // If both sides begin a line here, they continue together.
    this.#same = this.#old.empty && this.#new.empty;
  }

  *#change(removed: DiffLine | null, added: DiffLine | null): Generator<LineEdit, void, undefined> {
    this.#streak = 0;
    if (this.#isTooLarge) {
      if (removed !== null) yield { kind: 'removed', line: removed };
      if (added !== null) yield { kind: 'added', line: added };
      return;
    }
    this.#region ??= { removed: [], added: [], bytes: 0 };
    const region = this.#region;
    if (removed !== null) region.removed.push(removed);
    if (added !== null) region.added.push(added);
    region.bytes += (removed?.text.length ?? 0) + (added?.text.length ?? 0);
    const lines = region.removed.length + region.added.length;
    if (region.bytes <= MAX_REGION_BYTES && lines <= MAX_REGION_LINES) return;
    this.#isTooLarge = true;
    this.#region = null;
    yield* asBlock(region.removed, region.added);
  }

  *#closeRegion(): Generator<LineEdit, void, undefined> {
    const region = this.#region;
    this.#region = null;
    this.#isTooLarge = false;
    if (region !== null) yield* compare(region.removed, region.added);
  }
}

class LineBuilder {
  #parts: string[] = [];
  #length = 0;
  #omitted = 0;
  #hash: Hash | null = null;

  get empty(): boolean {
    return this.#length === 0 && this.#omitted === 0;
  }

  add(bytes: Uint8Array): void {
    const room = MAX_LINE_BYTES - this.#length;
    const shown = bytes.subarray(0, room);
    if (shown.length > 0) {
      this.#parts.push(latin1(shown));
      this.#length += shown.length;
    }
    if (shown.length === bytes.length) return;
    this.#hash ??= createHash('sha256').update(this.#parts.join(''), 'latin1');
    this.#hash.update(bytes.subarray(shown.length));
    this.#omitted += bytes.length - shown.length;
  }

  take(): DiffLine {
    const line: DiffLine = {
      text: this.#parts.join(''),
      omitted: this.#omitted,
      sha256: this.#hash === null ? null : this.#hash.digest('hex'),
    };
    this.#parts = [];
    this.#length = 0;
    this.#omitted = 0;
    this.#hash = null;
    return line;
  }
}

function* compare(
  removed: readonly DiffLine[],
  added: readonly DiffLine[],
): Generator<LineEdit, void, undefined> {
  let head = 0;
  while (head < removed.length && head < added.length && equal(removed[head], added[head]))
    head += 1;
  let tail = 0;
  while (
    tail < removed.length - head &&
    tail < added.length - head &&
    equal(removed[removed.length - 1 - tail], added[added.length - 1 - tail])
  ) {
    tail += 1;
  }
  for (const line of added.slice(0, head)) yield { kind: 'same', line };
  const oldLines = removed.slice(head, removed.length - tail);
  const newLines = added.slice(head, added.length - tail);
  const changes = diffArrays(oldLines, newLines, {
    comparator: equal,
    maxEditLength: MAX_EDITS,
  });
  if (changes === undefined) {
    yield* asBlock(oldLines, newLines);
  } else {
    for (const change of changes) {
      const kind = change.added ? 'added' : change.removed ? 'removed' : 'same';
      for (const line of change.value) yield { kind, line };
    }
  }
  for (const line of added.slice(added.length - tail)) yield { kind: 'same', line };
}

function* asBlock(
  removed: readonly DiffLine[],
  added: readonly DiffLine[],
): Generator<LineEdit, void, undefined> {
  for (const line of removed) yield { kind: 'removed', line };
  for (const line of added) yield { kind: 'added', line };
}

function equal(one: DiffLine | undefined, other: DiffLine | undefined): boolean {
  return (
    one?.text === other?.text && one?.omitted === other?.omitted && one?.sha256 === other?.sha256
  );
}

function latin1(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
}

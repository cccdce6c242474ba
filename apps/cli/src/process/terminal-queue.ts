import { countLineFeeds } from '@orion/contracts';

import { plural } from '../terminal/format.ts';
import type { TerminalDevice } from './terminal-device.ts';

/**
 * What waits for a terminal.
 *
 * T1. Nobody waits for the terminal inside of a call: what it does not take now is tried again by a timer.
 * T2. What was written arrives whole and in its order, whatever was offered besides.
 * T3. What was offered is left out when more than 1 MiB of it waits: progress first, then the oldest lines, whole ones,
 *     and one line says in their place how many.
 */
export type TerminalQueue = {
  /** Answers whether the writer should wait for `drained`. */
  write(data: string | Uint8Array): boolean;
  offer(data: string | Uint8Array): void;
  /** Progress: of what waits, only the last one counts. */
  offerFrame(data: string): void;
  /** Settles when nothing waits any more, or nothing can be written. */
  drained(): Promise<void>;
  failure(): Error | null;
};

/** Neighbours of one kind are one piece until it is large enough to be written for itself. */
type Piece = { readonly kind: 'written' | 'offered' | 'frame'; parts: Buffer[]; length: number };

const MAX_OFFERED = 1024 * 1024;
/** A writer that can wait does so above this. */
const HIGH_WATER = 64 * 1024;
const PIECE_BYTES = 64 * 1024;
/** The first pause before another try; doubled each time the terminal takes nothing, up to the last. */
const FIRST_PAUSE_MS = 2;
const LAST_PAUSE_MS = 50;
const LINE_FEED = 0x0a;

export function createTerminalQueue(device: TerminalDevice): TerminalQueue {
  const pieces = new Pieces();
  let pause = FIRST_PAUSE_MS;
  let timer: NodeJS.Timeout | null = null;
  let broken: Error | null = null;
  let settled: (() => void)[] = [];

  function add(kind: Piece['kind'], data: string | Uint8Array): void {
    const bytes = typeof data === 'string' ? Buffer.from(data) : Buffer.from(data);
    if (broken !== null || bytes.length === 0) return;
    pieces.add(kind, bytes);
    if (timer === null) send();
  }

  function send(): void {
    timer = null;
    try {
      if (sendWhatIsTaken()) return;
    } catch (error) {
      broken = error as Error;
      pieces.clear();
      settle();
      return;
    }
    timer = setTimeout(send, pause);
    pause = Math.min(pause * 2, LAST_PAUSE_MS);
  }

  /** Answers whether nothing is left. */
  function sendWhatIsTaken(): boolean {
    for (let bytes = pieces.next(); bytes !== null; bytes = pieces.next()) {
      const count = device.write(bytes);
      if (count === 0) return false;
      pause = FIRST_PAUSE_MS;
      pieces.sent(count);
    }
    settle();
    return true;
  }

  function settle(): void {
    const waiters = settled;
    settled = [];
    for (const each of waiters) each();
  }

  return {
    write(data) {
      add('written', data);
      return pieces.waiting() > HIGH_WATER;
    },
    offer(data) {
      add('offered', data);
      if (pieces.waiting('offered') > MAX_OFFERED) pieces.leaveOut();
    },
    offerFrame(data) {
      pieces.dropFrames();
      add('frame', data);
    },
    drained() {
      if (pieces.isEmpty()) return Promise.resolve();
      return new Promise((resolve) => settled.push(resolve));
    },
    failure: () => broken,
  };
}

/** What the terminal has not taken, in its order. */
class Pieces {
  #pieces: Piece[] = [];
  /** Bytes of the first piece that the terminal has. */
  #sent = 0;
  #leftOut = 0;
  #atLineStart = true;

  isEmpty(): boolean {
    return this.#pieces.length === 0;
  }

  clear(): void {
    this.#pieces = [];
  }

  add(kind: Piece['kind'], bytes: Buffer): void {
    const last = this.#pieces.at(-1);
    const isBegun = this.#pieces.length === 1 && this.#sent > 0;
    if (last?.kind === kind && last.length < PIECE_BYTES && !isBegun) {
      last.parts.push(bytes);
      last.length += bytes.length;
    } else {
      this.#pieces.push({ kind, parts: [bytes], length: bytes.length });
    }
  }

  /** Bytes, of one kind or of all. */
  waiting(kind?: Piece['kind']): number {
    const isMeant = (piece: Piece | undefined): boolean =>
      kind === undefined || piece?.kind === kind;
    const all = this.#pieces.reduce((sum, piece) => sum + (isMeant(piece) ? piece.length : 0), 0);
    return all - (isMeant(this.#pieces[0]) ? this.#sent : 0);
  }

  /** What is to be sent now; null: nothing is left. */
  next(): Buffer | null {
    if (this.#leftOut > 0 && this.#sent === 0) this.#tellLeftOut();
    const [piece] = this.#pieces;
    return piece === undefined ? null : bytesOf(piece).subarray(this.#sent);
  }

  /** The terminal has taken so much of it. */
  sent(count: number): void {
    const [piece] = this.#pieces;
    if (piece === undefined) return;
    this.#sent += count;
    this.#atLineStart = bytesOf(piece)[this.#sent - 1] === LINE_FEED;
    if (this.#sent < piece.length) return;
    this.#pieces.shift();
    this.#sent = 0;
  }

  dropFrames(): void {
    this.#pieces = this.#pieces.filter(
      (piece, index) => piece.kind !== 'frame' || (index === 0 && this.#sent > 0),
    );
  }

  /** Down to half of the limit, so that a terminal that takes nothing costs each byte once. */
  leaveOut(): void {
    const begun = this.#sent > 0 ? this.#pieces.slice(0, 1) : [];
    let excess = this.waiting('offered') - MAX_OFFERED / 2;
    let inLine = false;
    const kept: Piece[] = [];
    for (const piece of this.#pieces.slice(begun.length)) {
      if (piece.kind === 'frame') continue;
      if (piece.kind === 'written' || (excess <= 0 && !inLine)) {
        kept.push(piece);
        continue;
      }
      const bytes = bytesOf(piece);
      const end = excess >= bytes.length ? bytes.length : lineEnd(bytes, excess);
      const gone = bytes.subarray(0, end);
      this.#leftOut += countLineFeeds(gone);
      inLine = gone.at(-1) !== LINE_FEED;
      excess -= end;
      if (end < bytes.length) {
        kept.push({ kind: piece.kind, parts: [bytes.subarray(end)], length: bytes.length - end });
      }
    }
    if (inLine) this.#leftOut += 1;
    this.#pieces = [...begun, ...kept];
  }

  #tellLeftOut(): void {
    const bytes = Buffer.from(`${this.#atLineStart ? '' : '\n'}${leftOutLine(this.#leftOut)}\n`);
    this.#leftOut = 0;
    this.#pieces.unshift({ kind: 'written', parts: [bytes], length: bytes.length });
  }
}

/** What stands in the place of lines that a terminal did not read in time. */
export function leftOutLine(count: number): string {
  return `[${plural(count, 'line')} left out: the terminal did not read what was written to it]`;
}

function bytesOf(piece: Piece): Buffer {
  const [first = Buffer.alloc(0)] = piece.parts;
  const bytes = piece.parts.length === 1 ? first : Buffer.concat(piece.parts);
  piece.parts = [bytes];
  return bytes;
}

/** Where the first line ends that does so at this place or later; the whole length when none does. */
function lineEnd(bytes: Buffer, from: number): number {
  const at = bytes.indexOf(LINE_FEED, Math.max(0, from - 1));
  return at === -1 ? bytes.length : at + 1;
}

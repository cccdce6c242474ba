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
  let pieces: Piece[] = [];
  /** Bytes of the first piece that the terminal has. */
  let sent = 0;
  let leftOut = 0;
  let atLineStart = true;
  let pause = FIRST_PAUSE_MS;
  let timer: NodeJS.Timeout | null = null;
  let broken: Error | null = null;
  let settled: (() => void)[] = [];

  function add(kind: Piece['kind'], data: string | Uint8Array): void {
    const bytes = typeof data === 'string' ? Buffer.from(data) : Buffer.from(data);
    if (broken !== null || bytes.length === 0) return;
    const last = pieces.at(-1);
    const isBegun = pieces.length === 1 && sent > 0;
    if (last?.kind === kind && last.length < PIECE_BYTES && !isBegun) {
      last.parts.push(bytes);
      last.length += bytes.length;
    } else {
      pieces.push({ kind, parts: [bytes], length: bytes.length });
    }
    if (timer === null) send();
  }

  function waiting(kind?: Piece['kind']): number {
    const all = pieces.reduce(
      (sum, piece) => sum + (kind === undefined || piece.kind === kind ? piece.length : 0),
      0,
    );
    return all - (kind === undefined || pieces[0]?.kind === kind ? sent : 0);
  }

  function send(): void {
    timer = null;
    try {
      if (sendWhatIsTaken()) return;
    } catch (error) {
      broken = error as Error;
      pieces = [];
      settle();
      return;
    }
    timer = setTimeout(send, pause);
    pause = Math.min(pause * 2, LAST_PAUSE_MS);
  }

  /** Answers whether nothing is left. */
  function sendWhatIsTaken(): boolean {
    for (;;) {
      if (leftOut > 0 && sent === 0) tellLeftOut();
      const [piece] = pieces;
      if (piece === undefined) {
        settle();
        return true;
      }
      const bytes = bytesOf(piece);
      const count = device.write(bytes.subarray(sent));
      if (count === 0) return false;
      pause = FIRST_PAUSE_MS;
      sent += count;
      atLineStart = bytes[sent - 1] === LINE_FEED;
      if (sent === bytes.length) {
        pieces.shift();
        sent = 0;
      }
    }
  }

  function settle(): void {
    const waiters = settled;
    settled = [];
    for (const each of waiters) each();
  }

  /** Down to half of the limit, so that a terminal that takes nothing costs each byte once. */
  function leaveOut(): void {
    const begun = sent > 0 ? pieces.slice(0, 1) : [];
    const rest = pieces.slice(begun.length);
    let excess = waiting('offered') - MAX_OFFERED / 2;
    let inLine = false;
    const kept: Piece[] = [];
    for (const piece of rest) {
      if (piece.kind === 'frame') continue;
      if (piece.kind === 'written' || (excess <= 0 && !inLine)) {
        kept.push(piece);
        continue;
      }
      const bytes = bytesOf(piece);
      const end = excess >= bytes.length ? bytes.length : lineEnd(bytes, excess);
      const gone = bytes.subarray(0, end);
      leftOut += countLines(gone);
      inLine = gone.at(-1) !== LINE_FEED;
      excess -= end;
      if (end < bytes.length) {
        kept.push({ kind: piece.kind, parts: [bytes.subarray(end)], length: bytes.length - end });
      }
    }
    if (inLine) leftOut += 1;
    pieces = [...begun, ...kept];
  }

  function tellLeftOut(): void {
    const notice =
      `${atLineStart ? '' : '\n'}[${plural(leftOut, 'line')} left out: ` +
      'the terminal did not read what was written to it]\n';
    leftOut = 0;
    const bytes = Buffer.from(notice);
    pieces.unshift({ kind: 'written', parts: [bytes], length: bytes.length });
  }

  return {
    write(data) {
      add('written', data);
      return waiting() > HIGH_WATER;
    },
    offer(data) {
      add('offered', data);
      if (waiting('offered') > MAX_OFFERED) leaveOut();
    },
    offerFrame(data) {
      pieces = pieces.filter((piece, index) => piece.kind !== 'frame' || (index === 0 && sent > 0));
      add('frame', data);
    },
    drained() {
      if (pieces.length === 0) return Promise.resolve();
      return new Promise((resolve) => settled.push(resolve));
    },
    failure: () => broken,
  };
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

function countLines(bytes: Buffer): number {
  let count = 0;
  for (let at = bytes.indexOf(LINE_FEED); at !== -1; at = bytes.indexOf(LINE_FEED, at + 1)) {
    count += 1;
  }
  return count;
}

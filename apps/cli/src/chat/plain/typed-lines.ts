/**
 * Lines that a person types, edited by the terminal itself.
 *
 * L1. Lines that arrive at once are one text: a paste.
 * L2. A line that ends in a backslash goes on in the next one; `"""` opens and closes a text of several lines.
 */
export type TypedLines = {
  /** Reads and returns what is typed until nothing has come for a moment, a line without its end included. */
  takeTyped(): Promise<string>;
  /** Whether a text of several lines is begun. */
  isOpen(): boolean;
  pause(): void;
  resume(): void;
};

export type TypedLinesOptions = {
  readonly stdin: NodeJS.ReadStream;
  /** The terminal has ended a line: its cursor is at the beginning of the next one. */
  readonly onLineEnd: () => void;
  readonly onText: (text: string) => void;
  /** A text of several lines goes on. */
  readonly onOpen: () => void;
  readonly onEnd: () => void;
};

/** No person ends two lines within it, and no terminal takes so long within a paste. */
const AT_ONCE_MS = 15;
/** A person does not pause so long within a line. */
const QUIET_MS = 100;
const INTERRUPT = '\u0003';
const QUOTES = '"""';

export function readTypedLines({
  stdin,
  onLineEnd,
  onText,
  onOpen,
  onEnd,
}: TypedLinesOptions): TypedLines {
  /** What is typed but not yet said. */
  let typed = '';
  let pieces: string[] = [];
  let taking: { text: string; readonly timer: NodeJS.Timeout } | null = null;
  let timer: NodeJS.Timeout | undefined;
  let ended = false;

  function onData(chunk: string): void {
    if (taking !== null) {
      taking.text += chunk;
      taking.timer.refresh();
      if (chunk.includes(INTERRUPT)) process.kill(process.pid, 'SIGINT');
      return;
    }
    typed += chunk;
    if (/[\r\n]/u.test(chunk)) onLineEnd();
    if (!/[\r\n]$/u.test(typed)) return;
    clearTimeout(timer);
    const mine = setTimeout(() => {
      // A process that had no time reads first what the terminal has for it.
      setImmediate(() => {
        if (timer === mine) say();
      });
    }, AT_ONCE_MS);
    timer = mine;
  }

  function say(): void {
    clearTimeout(timer);
    timer = undefined;
    const text = typed.replace(/(?:\r\n|\r|\n)$/u, '').replaceAll(/\r\n?/gu, '\n');
    typed = '';
    pieces.push(text);
    const whole = joinPieces(pieces);
    if (whole === null) {
      onOpen();
      return;
    }
    pieces = [];
    onText(whole);
  }

  function end(): void {
    if (ended) return;
    ended = true;
    if (typed !== '') say();
    onEnd();
  }

  stdin.setEncoding('utf8').on('data', onData).on('end', end).on('error', end);
  stdin.resume();
  return {
    isOpen: () => pieces.length > 0,
    async takeTyped() {
      const { promise, resolve } = Promise.withResolvers<void>();
      // With line editing, a line without its end could not be read yet.
      const wasRaw = stdin.isRaw;
      const mine = { text: typed, timer: setTimeout(resolve, QUIET_MS) };
      clearTimeout(timer);
      timer = undefined;
      typed = '';
      taking = mine;
      if (stdin.isTTY && !ended) stdin.setRawMode(true);
      await promise;
      if (stdin.isTTY && !ended) stdin.setRawMode(wasRaw);
      taking = null;
      return mine.text.replaceAll(INTERRUPT, '').replaceAll(/\r\n?/gu, '\n');
    },
    pause() {
      if (taking !== null && stdin.isTTY) stdin.setRawMode(false);
      stdin.off('data', onData).pause();
    },
    resume() {
      stdin.on('data', onData).resume();
    },
  };
}

/** The text that the pieces make; null while it is open. Only the end of the last one decides. */
export function joinPieces(pieces: readonly string[]): string | null {
  const last = pieces.at(-1) ?? '';
  if (pieces[0]?.trimStart().startsWith(QUOTES) === true) {
    const isClosed = /"""[ \t]*$/u.test(pieces.length === 1 ? afterQuotes(last) : last);
    if (!isClosed) return null;
    const inner = afterQuotes(pieces.join('\n')).trimEnd().slice(0, -QUOTES.length);
    return inner.replaceAll(/^\n|\n$/gu, '');
  }
  if (last.endsWith('\\')) return null;
  return [...pieces.slice(0, -1).map((piece) => piece.slice(0, -1)), last].join('\n');
}

function afterQuotes(text: string): string {
  return text.trimStart().slice(QUOTES.length);
}

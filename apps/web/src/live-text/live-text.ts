import { gutterText, linesWithin, markedLines } from './gutter.ts';
import type { Marks } from './gutter.ts';
import { LineBlocks, LINES, utf8Length } from './line-blocks.ts';
import styles from './live-text.module.css';

/**
 * The text of a file while it is written, drawn without a framework.
 *
 * T1  The document is the only place that holds the text; blocks outside the view cost the browser nothing.
 * T2  Appends are drawn once a frame, at most FRAME_CHARACTERS of them.
 * T3  The view follows the end only while a person lets it: any move upwards ends that at once.
 * T4  At most MOST_BLOCKS blocks are drawn; earlier ones go, and are counted.
 * T5  A line is drawn up to FOLD characters. The rest of it is in the document, and the browser's search finds it.
 */
export type LiveText = {
  append(text: string): void;
  /** Takes back everything after this many bytes. */
  rewind(toByte: number): void;
  /** How much of the text is safe. */
  mark(marks: Marks): void;
  /** Lines at which text was joined, counted from 1. */
  markSeams(lines: readonly number[]): void;
  followEnd(): void;
  /** The first line in sight; null while it follows the end. */
  topLine(): number | null;
  /** Bytes of the text, drawn or not. */
  bytes(): number;
  close(): void;
};

/** What is beside the text. */
export type LiveTextState = {
  /** Of the text that is drawn. */
  readonly bytes: number;
  readonly lines: number;
  readonly follows: boolean;
  /** Lines that came since it does not follow. */
  readonly newLines: number;
  readonly earlierLines: number;
};

const FRAME_CHARACTERS = 256 * 1024;
const MOST_BLOCKS = 2000;
const FOLD = 10_000;
/** The view follows while its end is so near, in pixels. */
const NEAR = 64;

type Drawn = {
  readonly element: HTMLElement;
  readonly gutter: Text;
  readonly text: HTMLElement;
  /** Where the next characters go: the open line, or what of it is folded. */
  tail: Text;
  openLineLength: number;
  /** The open line is a long one, and `tail` is in its fold. */
  isFolding: boolean;
  /** What the gutter says now: lines, and those of them that are safe. */
  shown: string;
};

export function createLiveText(
  scroller: HTMLElement,
  changed: (state: LiveTextState) => void,
  /** The line to begin at as soon as it is there; null to follow the end. */
  startLine: number | null = null,
): LiveText {
  const blocks = new LineBlocks();
  const drawn: (Drawn | null)[] = [];
  let firstDrawn = 0;
  let waiting = '';
  let total = 0;
  let seams: ReadonlySet<number> = new Set();
  let marks: Marks = { synced: 0, saved: 0 };
  let follows = startLine === null;
  let wantedLine = startLine;
  let linesWhenLeft = 0;
  let frame = 0;
  let lastTop = 0;
  const closed = new AbortController();

  function append(text: string): void {
    waiting += text;
    total += utf8Length(text);
    schedule();
  }

  function schedule(): void {
    if (frame === 0 && !closed.signal.aborted) frame = requestAnimationFrame(draw);
  }

  function draw(): void {
    frame = 0;
    flush(FRAME_CHARACTERS);
    if (waiting !== '') schedule();
  }

  function flush(most: number): void {
    const before = blocks.blocks.length;
    const cut = endOfWholeCharacters(waiting, most);
    const part = waiting.slice(0, cut);
    waiting = waiting.slice(cut);
    for (const { index, text } of blocks.append(part)) addText(blockAt(index), text);
    for (let index = Math.max(firstDrawn, before - 1); index < blocks.blocks.length; index += 1)
      drawGutter(index);
    dropEarlier();
    if (follows) scrollToEnd();
    else if (wantedLine !== null && blocks.lineFeeds >= wantedLine) scrollToLine(wantedLine);
    report();
  }

  function blockAt(index: number): Drawn {
    const found = drawn[index];
    if (found !== undefined && found !== null) return found;
    const made = drawBlock(index * LINES + 1);
    drawn[index] = made;
    scroller.append(made.element);
    return made;
  }

  function drawGutter(index: number): void {
    const block = blocks.blocks[index];
    const at = drawn[index];
    if (block === undefined || at === undefined || at === null) return;
    const lines = linesOf(index);
    const within = (bytes: number): number =>
      linesWithin(block, lines, bytes, () => at.text.textContent);
    const safe = { synced: within(marks.synced), saved: within(marks.saved) };
    const marked = markedLines(lines, safe);
    const shown = `${marked.synced} ${marked.saved} ${marked.received}`;
    if (shown === at.shown) return;
    at.shown = shown;
    const numbers = gutterText(block.firstLine, lines, seams);
    if (numbers !== at.gutter.data) at.gutter.data = numbers;
    const { style } = at.element;
    style.setProperty('--lines', String(lines));
    for (const [mark, count] of Object.entries(marked))
      style.setProperty(`--${mark}`, String(count));
  }

  function mark(next: Marks): void {
    const first = blocks.indexAt(Math.min(marks.synced, next.synced));
    const last = blocks.indexAt(Math.max(marks.saved, next.saved));
    marks = next;
    for (let index = Math.max(firstDrawn, first); index <= last; index += 1) drawGutter(index);
  }

  function dropEarlier(): void {
    while (blocks.blocks.length - firstDrawn > MOST_BLOCKS) {
      drawn[firstDrawn]?.element.remove();
      drawn[firstDrawn] = null;
      firstDrawn += 1;
    }
  }

  function rewind(toByte: number): void {
    flush(Number.POSITIVE_INFINITY);
    const cut = blocks.rewind(toByte, (index) => drawn[index]?.text.textContent ?? '');
    total = blocks.bytes;
    if (cut === null) return;
    for (const gone of drawn.splice(cut.index + 1)) gone?.element.remove();
    firstDrawn = Math.min(firstDrawn, cut.index);
    const at = blockAt(cut.index);
    const kept = at.text.textContent.slice(0, cut.keptCharacters);
    at.text.replaceChildren();
    at.tail = at.text.appendChild(new Text());
    at.openLineLength = 0;
    at.isFolding = false;
    addText(at, kept);
    marks = { synced: Math.min(marks.synced, toByte), saved: Math.min(marks.saved, toByte) };
    drawGutter(cut.index);
    report();
  }

  function report(): void {
    const open = drawn.at(-1);
    const lines = blocks.lineFeeds + ((open?.openLineLength ?? 0) > 0 ? 1 : 0);
    changed({
      bytes: blocks.bytes,
      lines,
      follows,
      newLines: follows ? 0 : lines - linesWhenLeft,
      earlierLines: (blocks.blocks[firstDrawn]?.firstLine ?? 1) - 1,
    });
  }

  function leaveEnd(): void {
    wantedLine = null;
    if (!follows) return;
    follows = false;
    linesWhenLeft = blocks.lineFeeds;
    report();
  }

  function followEnd(): void {
    follows = true;
    wantedLine = null;
    scrollToEnd();
    report();
  }

  function scrollToLine(line: number): void {
    const index = Math.floor((line - 1) / LINES);
    const at = drawn[index];
    if (at === undefined || at === null) return;
    const inBlock = (line - 1) % LINES;
    const { offsetTop, offsetHeight } = at.element;
    const top = offsetTop - scroller.offsetTop + (offsetHeight * inBlock) / linesOf(index);
    scroller.scrollTop = top;
    lastTop = scroller.scrollTop;
    // There may not be enough text behind it yet.
    if (lastTop >= top - 1) wantedLine = null;
  }

  function topLine(): number | null {
    if (follows) return null;
    const top = scroller.scrollTop + scroller.offsetTop;
    const index = drawn.findIndex((at) => {
      const element = at?.element;
      return element !== undefined && element.offsetTop + element.offsetHeight > top;
    });
    const element = drawn[index]?.element;
    if (element === undefined) return null;
    const share = Math.max(0, top - element.offsetTop) / element.offsetHeight;
    return index * LINES + 1 + Math.floor(share * linesOf(index));
  }

  const linesOf = (index: number): number =>
    (blocks.blocks[index]?.lines ?? 0) + ((drawn[index]?.openLineLength ?? 0) > 0 ? 1 : 0);

  function scrollToEnd(): void {
    scroller.scrollTop = scroller.scrollHeight;
    lastTop = scroller.scrollTop;
  }

  const isNearEnd = (): boolean =>
    scroller.scrollHeight - scroller.clientHeight - scroller.scrollTop <= NEAR;
  const { signal } = closed;
  scroller.addEventListener('wheel', ({ deltaY }) => deltaY < 0 && leaveEnd(), {
    signal,
    passive: true,
  });
  scroller.addEventListener('touchmove', leaveEnd, { signal, passive: true });
  scroller.addEventListener('keydown', ({ key }) => UPWARDS.has(key) && leaveEnd(), { signal });
  scroller.addEventListener(
    'scroll',
    () => {
      const isDown = scroller.scrollTop > lastTop;
      const isUp = scroller.scrollTop < lastTop;
      lastTop = scroller.scrollTop;
      if (isUp && !isNearEnd()) leaveEnd();
      else if (isDown && !follows && wantedLine === null && isNearEnd()) followEnd();
    },
    { signal, passive: true },
  );
  document.addEventListener(
    'selectionchange',
    () => {
      const selection = document.getSelection();
      if (selection?.type === 'Range' && scroller.contains(selection.anchorNode)) leaveEnd();
    },
    { signal },
  );

  return {
    append,
    rewind,
    mark,
    markSeams(lines) {
      seams = new Set(lines);
      for (const line of lines) {
        const at = drawn[Math.floor((line - 1) / LINES)];
        if (at !== undefined && at !== null) at.shown = '';
        drawGutter(Math.floor((line - 1) / LINES));
      }
    },
    followEnd,
    topLine,
    bytes: () => total,
    close() {
      closed.abort();
      cancelAnimationFrame(frame);
      scroller.replaceChildren();
    },
  };
}

const UPWARDS: ReadonlySet<string> = new Set(['ArrowUp', 'PageUp', 'Home']);

function drawBlock(firstLine: number): Drawn {
  const element = document.createElement('div');
  element.className = styles['block'] ?? '';
  const gutterElement = document.createElement('div');
  gutterElement.className = styles['gutter'] ?? '';
  gutterElement.ariaHidden = 'true';
  const gutter = gutterElement.appendChild(new Text());
  // Drawn, not written: a font may lack the characters for it.
  const marks = document.createElement('div');
  marks.className = styles['marks'] ?? '';
  marks.ariaHidden = 'true';
  for (const mark of ['synced', 'saved', 'received']) {
    const lines = marks.appendChild(document.createElement('div'));
    lines.className = `${styles['mark']} ${styles[mark]}`;
  }
  const text = document.createElement('div');
  text.className = styles['text'] ?? '';
  text.dataset['liveText'] = String(firstLine);
  const tail = text.appendChild(new Text());
  element.append(gutterElement, marks, text);
  return { element, gutter, text, tail, openLineLength: 0, isFolding: false, shown: '' };
}

/** Adds text to a block; only a long line needs more than one node. */
function addText(block: Drawn, text: string): void {
  let at = 0;
  while (at < text.length) {
    const end = text.indexOf('\n', at);
    const lineEnd = end === -1 ? text.length : end;
    const room = Math.max(0, FOLD - block.openLineLength);
    if (lineEnd - at <= room) {
      // As many whole lines as fit go at once.
      const next = endOfShortLines(text, at, room);
      block.tail.appendData(text.slice(at, next));
      const lastFeed = text.lastIndexOf('\n', next - 1);
      block.openLineLength =
        lastFeed >= at ? next - lastFeed - 1 : block.openLineLength + next - at;
      at = next;
      continue;
    }
    if (room > 0) block.tail.appendData(text.slice(at, at + room));
    fold(block).appendData(text.slice(at + room, lineEnd));
    block.openLineLength += lineEnd - at;
    at = lineEnd;
    if (end !== -1) {
      block.tail = block.text.appendChild(new Text('\n'));
      block.openLineLength = 0;
      block.isFolding = false;
      at += 1;
    }
  }
}

/** How far the text goes without a line that has to be folded. */
function endOfShortLines(text: string, from: number, firstRoom: number): number {
  let at = from;
  let room = firstRoom;
  for (;;) {
    const end = text.indexOf('\n', at);
    if (end === -1) return text.length - at <= room ? text.length : at;
    if (end - at > room) return at;
    at = end + 1;
    room = FOLD;
    if (at >= text.length) return at;
  }
}

/** Where the rest of a long line goes; it is shown on request, and when the browser's search finds something in it. */
function fold(block: Drawn): Text {
  if (block.isFolding) return block.tail;
  block.isFolding = true;
  const rest = document.createElement('span');
  rest.setAttribute('hidden', 'until-found');
  block.tail = rest.appendChild(new Text());
  const more = document.createElement('button');
  more.type = 'button';
  more.className = styles['fold'] ?? '';
  more.addEventListener('click', () => {
    rest.removeAttribute('hidden');
    more.remove();
  });
  more.ariaLabel = 'Show the rest of this long line';
  block.text.append(rest, more);
  return block.tail;
}

/** Not between the halves of a character. */
function endOfWholeCharacters(text: string, most: number): number {
  if (text.length <= most) return text.length;
  const unit = text.charCodeAt(most - 1);
  return unit >= 0xd800 && unit <= 0xdbff ? most - 1 : most;
}

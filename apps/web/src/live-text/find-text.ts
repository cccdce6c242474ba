import { LINES } from './line-blocks.ts';

/** A place in the drawn text: so many characters into a block. */
export type Found = {
  readonly block: HTMLElement;
  readonly at: number;
  readonly length: number;
  /** Counted from 1. */
  readonly line: number;
};

const BLOCK = '[data-live-text]';

/**
 * The next place of a text behind another place, or before it; around the end if there is none. Capital letters are
 * the same as small ones. Null if the drawn text does not have it. Costs as much as the text that it passes.
 */
export function findText(
  scroller: HTMLElement,
  wanted: string,
  from: Found | null,
  by: 1 | -1,
): Found | null {
  const blocks = [...scroller.querySelectorAll<HTMLElement>(BLOCK)];
  const literal = wanted.replaceAll(/[\\^$.*+?()[\]{}|/-]/gu, String.raw`\$&`);
  const pattern = new RegExp(literal, 'giu');
  const start = from === null ? (by === 1 ? 0 : blocks.length - 1) : blocks.indexOf(from.block);
  for (let step = 0; step <= blocks.length; step += 1) {
    const block = blocks[(start + by * step + blocks.length * 2) % blocks.length];
    if (block === undefined) return null;
    const text = block.textContent;
    const isFrom = step === 0 && from !== null;
    const hits = [...text.matchAll(pattern)].filter(
      ({ index }) => !isFrom || (by === 1 ? index > from.at : index < from.at),
    );
    const hit = hits.at(by === 1 ? 0 : -1);
    if (hit !== undefined) {
      return { block, at: hit.index, length: hit[0].length, line: lineAt(block, text, hit.index) };
    }
  }
  return null;
}

/** Where a line begins; null if it is not drawn. */
export function findLine(scroller: HTMLElement, line: number): Found | null {
  const block = [...scroller.querySelectorAll<HTMLElement>(BLOCK)].find((each) => {
    const first = firstLine(each);
    return first <= line && line < first + LINES;
  });
  if (block === undefined) return null;
  const lines = block.textContent.split('\n');
  const index = line - firstLine(block);
  const text = lines[index];
  if (text === undefined || (text === '' && index === lines.length - 1)) return null;
  const at = lines.slice(0, index).reduce((sum, { length }) => sum + length + 1, 0);
  return { block, at, length: text.length, line };
}

/** Brings a place into sight and marks it. */
export function showFound(scroller: HTMLElement, { block, at, length }: Found): void {
  const [start, startAt] = pointAt(block, at);
  const [end, endAt] = pointAt(block, at + length);
  for (const node of [start, end]) {
    const fold = node.parentElement?.closest('[hidden]')?.nextElementSibling;
    if (fold instanceof HTMLElement) fold.click();
  }
  const range = new Range();
  range.setStart(start, startAt);
  range.setEnd(end, endAt);
  CSS.highlights.set('found', new Highlight(range));
  const place = (): void => {
    const { top, left } = range.getBoundingClientRect();
    const box = scroller.getBoundingClientRect();
    scroller.scrollTop += top - box.top - box.height / 3;
    scroller.scrollLeft = Math.max(0, scroller.scrollLeft + left - box.left - box.width / 2);
  };
  place();
  // Only now are the sizes known of the blocks that were out of sight.
  requestAnimationFrame(place);
}

export function unmark(): void {
  CSS.highlights.delete('found');
}

const firstLine = (block: HTMLElement): number => Number(block.dataset['liveText']);

function lineAt(block: HTMLElement, text: string, at: number): number {
  let line = firstLine(block);
  for (let feed = text.indexOf('\n'); feed !== -1 && feed < at; feed = text.indexOf('\n', feed + 1))
    line += 1;
  return line;
}

/** The text node of a place, and where in it. */
function pointAt(block: HTMLElement, at: number): readonly [Text, number] {
  const nodes = document.createTreeWalker(block, NodeFilter.SHOW_TEXT);
  let before = 0;
  for (let node = nodes.nextNode(); node instanceof Text; node = nodes.nextNode()) {
    if (at <= before + node.length) return [node, at - before];
    before += node.length;
  }
  throw new Error('the place is behind the end of its block');
}

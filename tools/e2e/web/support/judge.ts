/** Whether a state of the page can be read and reached by everybody, wherever it is drawn. */
import { join } from 'node:path';

import type { Page } from 'playwright-core';
import { expect } from 'vitest';

import { findingsInAll } from './axe.ts';
import { layoutAtRest } from './page-time.ts';

/** A laptop, the same at a zoom of 200 %, and a phone. */
const LAPTOP = { width: 1280, height: 800 };
const ZOOMED = { width: 640, height: 400 };
const PHONE = { width: 360, height: 640 };
/** Blocks of a text, of 250 lines each, that are judged. */
const NEAR_BLOCKS = 10;

/**
 * Axe finds nothing in any appearance; on a laptop, zoomed, with letters of twice the size, and on a phone nothing goes
 * sideways, is cut, or lies on something else.
 */
export async function judge(page: Page, state: string): Promise<void> {
  const found: string[] = [];
  const look = (where: string, problems: readonly string[]): void => {
    found.push(...problems.map((problem) => `${where}: ${problem}`));
  };
  await markFarText(page);
  await page.setViewportSize(LAPTOP);
  look('laptop', await page.evaluate(problemsOfLayout));
  await draw(page, `${state}, laptop`);
  await setTextSize(page, '200%');
  look('text of 200 %', await page.evaluate(problemsOfLayout));
  await setTextSize(page, '');
  await page.setViewportSize(ZOOMED);
  await layoutAtRest(page);
  look('zoom of 200 %', await page.evaluate(problemsOfLayout));
  await page.setViewportSize(PHONE);
  await layoutAtRest(page);
  look('phone', await page.evaluate(problemsOfLayout));
  await draw(page, `${state}, phone`);
  // What lies above the page while it is scrolled makes no target small.
  await setBars(page, 'static');
  await setFarText(page, 'none');
  look('phone', await findingsInAll(page));
  await setFarText(page, '');
  await setBars(page, '');
  await page.setViewportSize(LAPTOP);
  // All states of a test are judged, whatever is wrong with one of them.
  expect.soft([state, found]).toEqual([state, []]);
}

/** For people: into the folder that ORION_WEB_PICTURES names, if it does. */
async function draw(page: Page, name: string): Promise<void> {
  const folder = process.env['ORION_WEB_PICTURES'];
  if (folder !== undefined)
    await page.screenshot({ path: join(folder, `${name.replaceAll(/[^\w, ]/gu, '')}.png`) });
}

/** As the browser's setting for letters has it: sizes that are meant for letters follow, those of the screen do not. */
async function setTextSize(page: Page, size: string): Promise<void> {
  await page.evaluate((given) => {
    document.documentElement.style.fontSize = given;
  }, size);
  await layoutAtRest(page);
}

async function setBars(page: Page, position: string): Promise<void> {
  await page.evaluate((given) => {
    for (const bar of document.querySelectorAll<HTMLElement>('nav, .toasts'))
      bar.style.position = given;
  }, position);
}

/**
 * Of a text of a hundred thousand lines the blocks far from its end are like those near it, and have no layout until
 * somebody asks for it, which takes minutes.
 */
async function markFarText(page: Page): Promise<void> {
  await page.evaluate((near) => {
    const texts = Array.from(document.querySelectorAll<HTMLElement>('[data-live-text]'));
    for (const { parentElement: block } of texts.slice(0, -near))
      block?.setAttribute('data-far', '');
  }, NEAR_BLOCKS);
}

async function setFarText(page: Page, display: string): Promise<void> {
  await page.evaluate((given) => {
    for (const block of document.querySelectorAll<HTMLElement>('[data-far]'))
      block.style.display = given;
  }, display);
}

/** Runs in the page. What scrolls by itself may hold more than it shows; a cell of the trace is a summary. */
function problemsOfLayout(): readonly string[] {
  type Part = ReturnType<typeof document.querySelector>;
  type Box = {
    readonly text: string;
    readonly node: Node;
    readonly layer: Part;
    left: number;
    right: number;
    top: number;
    bottom: number;
  };
  const OWN_LINES = 'pre, .trace-grid, [aria-label="Text of the file"]';
  const found = new Set<string>();
  const root = document.documentElement;
  if (root.scrollWidth > root.clientWidth) found.add(`the page is ${root.scrollWidth} pixels wide`);
  const isUnseen = (element: Element): boolean =>
    element.closest('.unseen, .skip, [hidden], [data-far], dialog:not([open]), canvas') !== null;
  const layerOf = (element: Element): Part => {
    for (let at: Part = element; at !== null; at = at.parentElement) {
      const { position } = getComputedStyle(at);
      if (at.tagName === 'DIALOG') return at;
      if (at.classList.contains('trace-row')) continue;
      if (position === 'fixed' || position === 'sticky' || position === 'absolute') return at;
    }
    return null;
  };
  const boxes: Box[] = [];
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = texts.nextNode(); node !== null; node = texts.nextNode()) {
    const element = node.parentElement;
    if (element === null || (node as Text).data.trim() === '') continue;
    if (isUnseen(element) || !element.checkVisibility({ visibilityProperty: true })) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    const layer = layerOf(element);
    const { whiteSpace, fontSize } = getComputedStyle(element);
    // Blanks at the end of a line that is wrapped hang out of it, unseen.
    const most = whiteSpace.startsWith('pre') ? Number.parseFloat(fontSize) : 1.5;
    for (const { left, right, top, bottom } of Array.from(range.getClientRects()).slice(0, 200)) {
      if (right - left < 1 || bottom - top < 1) continue;
      const box: Box = {
        text: (node as Text).data.trim().slice(0, 40),
        node,
        layer,
        left,
        right,
        top,
        bottom,
      };
      let isScrolled = false;
      const beyond: string[] = [];
      for (let at: Part = element; at !== null && at !== root; at = at.parentElement) {
        const style = getComputedStyle(at);
        const outer = at.getBoundingClientRect();
        const isCut = style.overflowX === 'hidden' || style.overflowX === 'clip';
        const scrolls = style.overflowX === 'auto' || style.overflowX === 'scroll';
        const goesOut = box.left < outer.left - 1.5 || box.right > outer.right + most;
        const slack = (box.bottom - box.top) / 3;
        const goesBelow = box.top < outer.top - slack || box.bottom > outer.bottom + slack;
        const isCutBelow = style.overflowY === 'hidden' || style.overflowY === 'clip';
        if (isCutBelow && goesBelow) found.add(`cut below ${at.className}: ${box.text}`);
        if (isCut && goesOut && at.closest('.trace-row, .trace-head') === null)
          found.add(`cut in ${at.tagName.toLowerCase()}.${at.className}: ${box.text}`);
        if (!isCut && !scrolls && goesOut && style.display !== 'inline')
          beyond.push(`beyond ${at.tagName.toLowerCase()}.${at.className}: ${box.text}`);
        if (at.tagName === 'DIALOG') {
          // It lies above everything, whatever it is in.
          isScrolled = true;
          break;
        }
        if (isCut || scrolls) {
          // One gets there by scrolling, where lines are not wrapped.
          if (at.matches(OWN_LINES)) beyond.length = 0;
          isScrolled = true;
          box.left = Math.max(box.left, outer.left);
          box.right = Math.min(box.right, outer.right);
          box.top = Math.max(box.top, outer.top);
          box.bottom = Math.min(box.bottom, outer.bottom);
        }
      }
      for (const each of beyond) found.add(each);
      if (!isScrolled && (box.left < -1 || box.right > root.clientWidth + 1))
        found.add(`out of sight: ${box.text}`);
      if (box.right - box.left > 2 && box.bottom - box.top > 2) boxes.push(box);
    }
  }
  boxes.sort((one, other) => one.top - other.top);
  for (const [index, one] of boxes.entries()) {
    for (let next = index + 1; next < boxes.length; next += 1) {
      const other = boxes[next];
      if (other === undefined || other.top >= one.bottom) break;
      if (other.layer !== one.layer || other.node === one.node) continue;
      const width = Math.min(one.right, other.right) - Math.max(one.left, other.left);
      const height = Math.min(one.bottom, other.bottom) - other.top;
      const least = Math.min(one.bottom - one.top, other.bottom - other.top);
      if (width > 2 && height > least * 0.4) found.add(`“${one.text}” lies on “${other.text}”`);
    }
  }
  return Array.from(found).slice(0, 8);
}

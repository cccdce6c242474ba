/**
 * The focus is never lost.
 *
 * 1. When the element that has it goes, the nearest part of the page that still exists has it; the new view where none
 *    does, as after a log-in.
 * 2. A view that one comes back to gives it to the row that one left by.
 * 3. What a person has focused meanwhile keeps it.
 */
const PARTS = 'dialog, li, article, section, main';
const ROW = 'a[data-row]';

export function keepFocus(root: HTMLElement): () => void {
  const closed = new AbortController();
  const { signal } = closed;
  let last: HTMLElement | null = null;
  /** The parts around it, innermost first. */
  let around: readonly HTMLElement[] = [];
  /** By the place that was left: the row that led away from it. */
  const leftBy = new Map<string, string>();
  let wanted: string | null = null;

  root.addEventListener(
    'focusin',
    ({ target }) => {
      last = target instanceof HTMLElement ? target : null;
      around = last === null ? [] : partsAround(last);
    },
    { signal },
  );
  root.addEventListener(
    'click',
    ({ target }) => {
      const row = target instanceof Element ? target.closest<HTMLAnchorElement>(ROW) : null;
      if (row !== null) leftBy.set(location.pathname, row.getAttribute('href') ?? '');
    },
    { signal, capture: true },
  );
  const look = (): void => {
    if (last !== null && (!last.isConnected || last.matches(':disabled'))) {
      const { activeElement } = document;
      const isLost = activeElement === document.body || activeElement === last;
      last = null;
      const part = around.find(({ isConnected }) => isConnected) ?? root.querySelector('main');
      if (isLost) part?.focus({ preventScroll: true });
    }
    if (wanted === null) return;
    if (document.activeElement?.matches('body, main') !== true) {
      wanted = null;
      return;
    }
    const row = root.querySelector<HTMLElement>(`${ROW}[href="${CSS.escape(wanted)}"]`);
    if (row === null) return;
    wanted = null;
    row.focus();
  };
  window.addEventListener(
    'popstate',
    () => {
      wanted = leftBy.get(location.pathname) ?? null;
      // The view may be drawn already.
      look();
    },
    { signal },
  );
  const observer = new MutationObserver(look);
  observer.observe(root, {
    childList: true,
    subtree: true,
    attributes: true,
    attributeFilter: ['disabled'],
  });
  return () => {
    observer.disconnect();
    closed.abort();
  };
}

function partsAround(element: HTMLElement): readonly HTMLElement[] {
  const parts: HTMLElement[] = [];
  for (
    let part = element.parentElement?.closest<HTMLElement>(PARTS) ?? null;
    part !== null;
    part = part.parentElement?.closest<HTMLElement>(PARTS) ?? null
  ) {
    if (!part.hasAttribute('tabindex')) part.tabIndex = -1;
    parts.push(part);
  }
  return parts;
}

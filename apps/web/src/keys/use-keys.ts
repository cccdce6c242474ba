import { useEffect, useRef } from 'react';
import { useLocation } from 'wouter';

import { commandOf } from './keys.ts';
import type { KeyCommand, Prefix } from './keys.ts';

/** What the keys of the whole page find in a view: views say it by these attributes. */
const ROW = 'main [data-row]';
const OWN_FIND = 'main [data-find]';
const ANY_FIND = `${OWN_FIND}, main input[type=search]`;
const TO_END = 'main [data-to-end]';
const APPROVAL = 'main [data-approval]';

const FIELD = 'textarea, select, [contenteditable], input:not([type=radio], [type=checkbox])';

export type KeyHost = {
  readonly hasLetters: boolean;
  readonly showHelp: () => void;
  /** Where the next approval that is not on this view is decided; null if there is none. */
  readonly approvalPath: () => string | null;
};

/** Answers the keys of the table, as long as no dialog is open. */
export function useKeys({ hasLetters, showHelp, approvalPath }: KeyHost): void {
  const [place, go] = useLocation();
  const prefix = useRef<Prefix | null>(null);
  useEffect(() => {
    const run = (command: KeyCommand, event: KeyboardEvent): void => {
      if (typeof command === 'object') return go(command.to);
      switch (command) {
        case 'help':
          return showHelp();
        case 'next_row':
          return void step(ROW, 1);
        case 'previous_row':
          return void step(ROW, -1);
        case 'next_approval': {
          const path = approvalPath();
          if (step(APPROVAL, 1)) return;
          return path === null ? element(APPROVAL)?.focus() : go(path);
        }
        case 'end':
          return element(TO_END)?.click();
        case 'find':
          return element(event.ctrlKey || event.metaKey ? OWN_FIND : ANY_FIND)?.focus();
        case 'back':
          return isField(event.target) ? element('main')?.focus() : goBack(place, go);
        default:
          command satisfies never;
      }
    };
    const pressed = (event: KeyboardEvent): void => {
      const isOurs = !event.defaultPrevented && !event.isComposing;
      if (!isOurs || document.querySelector('dialog[open]') !== null) return;
      const press = {
        key: event.key,
        hasCtrl: event.ctrlKey || event.metaKey,
        hasAlt: event.altKey,
        isTyping: isField(event.target),
        at: event.timeStamp,
      };
      const found = commandOf(press, prefix.current, hasLetters);
      prefix.current = found.prefix;
      if (found.command === null || isBrowsers(found.command, event)) return;
      event.preventDefault();
      run(found.command, event);
    };
    document.addEventListener('keydown', pressed);
    return () => document.removeEventListener('keydown', pressed);
  }, [approvalPath, go, hasLetters, place, showHelp]);
}

/** What this view has no use for, and Ctrl+F the second time. */
function isBrowsers(command: KeyCommand, event: KeyboardEvent): boolean {
  if (command === 'end') return element(TO_END) === null;
  if (command !== 'find') return false;
  if (!event.ctrlKey && !event.metaKey) return element(ANY_FIND) === null;
  const own = element(OWN_FIND);
  return own === null || own === document.activeElement;
}

/** Moves the focus to the next element of a kind; false if there is none in this direction. */
function step(kind: string, by: 1 | -1): boolean {
  const all = [...document.querySelectorAll<HTMLElement>(kind)].filter((each) =>
    each.checkVisibility(),
  );
  const { activeElement } = document;
  const at = all.findIndex((each) => each === activeElement || each.contains(activeElement));
  const next = all[at === -1 && by === -1 ? all.length - 1 : at + by];
  next?.focus();
  return next !== undefined;
}

/** Without anything before it in this tab, one level up. */
function goBack(place: string, go: (path: string) => void): void {
  if (navigation.canGoBack) return history.back();
  const parent = place.slice(0, place.lastIndexOf('/'));
  if (place !== '/') go(parent === '' || parent === '/a' ? '/' : parent);
}

const element = (selector: string): HTMLElement | null => document.querySelector(selector);

function isField(target: EventTarget | null): boolean {
  return target instanceof Element && target.closest(FIELD) !== null;
}

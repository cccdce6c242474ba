/** Short messages about something that happened out of sight. Each has its place on the page: a toast only leads there. */
import { keepLatest } from './keep-latest.ts';

export type Toast = {
  /** The same toast is shown once, of the latest MOST_KNOWN. */
  readonly id: string;
  readonly text: string;
  readonly show: () => void;
};

/** Further ones wait. */
const MOST_SHOWN = 3;
/** More are not remembered: a tab may be open for weeks. */
export const MOST_KNOWN = 2000;

export class Toasts {
  readonly #listeners = new Set<() => void>();
  readonly #known = new Map<string, null>();
  #waiting: readonly Toast[] = [];
  #shown: readonly Toast[] = [];

  readonly snapshot = (): readonly Toast[] => this.#shown;

  readonly subscribe = (changed: () => void): (() => void) => {
    this.#listeners.add(changed);
    return () => this.#listeners.delete(changed);
  };

  add(toast: Toast): void {
    const isKnown = this.#known.has(toast.id);
    keepLatest(this.#known, toast.id, null, MOST_KNOWN);
    if (!isKnown) this.#set([...this.#waiting, toast]);
  }

  close(id: string): void {
    this.#set(this.#waiting.filter((toast) => toast.id !== id));
  }

  #set(waiting: readonly Toast[]): void {
    this.#waiting = waiting;
    this.#shown = waiting.slice(0, MOST_SHOWN);
    for (const changed of this.#listeners) changed();
  }
}

/** Those of the page. */
export const toasts = new Toasts();

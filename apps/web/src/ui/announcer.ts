/**
 * What a screen reader says without being asked.
 *
 * 1. Changes of state are said at most every 10 s, together; of each topic only the latest.
 * 2. Two things are said at once: that a person is needed, and that text is not being saved or synced.
 * 3. The same words about the same topic are said once, until that is over; of the latest MOST_TOPICS topics, as a tab
 *    may be open for weeks.
 */
import { keepLatest } from './keep-latest.ts';

export type Announcement = { readonly id: number; readonly text: string };
export type Announcements = { readonly polite: Announcement; readonly urgent: Announcement };
export type UrgentTopic = 'needs you' | 'saving is held up';

const PAUSE_MS = 10_000;
export const MOST_TOPICS = 500;
const NOTHING: Announcement = { id: 0, text: '' };

export class Announcer {
  readonly #listeners = new Set<() => void>();
  readonly #said = new Map<string, string>();
  readonly #waiting = new Map<string, string>();
  #now: Announcements = { polite: NOTHING, urgent: NOTHING };
  #isResting = false;

  readonly snapshot = (): Announcements => this.#now;

  readonly subscribe = (changed: () => void): (() => void) => {
    this.#listeners.add(changed);
    return () => this.#listeners.delete(changed);
  };

  /** Takes note of how something is, such as the state of a write. */
  say(topic: string, text: string): void {
    if (!this.#isNew(topic, text)) return;
    this.#waiting.set(topic, text);
    if (!this.#isResting) this.#flush();
  }

  sayAtOnce(topic: UrgentTopic, text: string): void {
    if (this.#isNew(topic, text)) this.#set('urgent', text);
  }

  /** It is not so any more: when it is again, the same words are said again. */
  over(topic: string): void {
    this.#said.delete(topic);
    this.#waiting.delete(topic);
  }

  #isNew(topic: string, text: string): boolean {
    const isNew = this.#said.get(topic) !== text;
    keepLatest(this.#said, topic, text, MOST_TOPICS);
    return isNew;
  }

  #flush(): void {
    this.#isResting = this.#waiting.size > 0;
    if (!this.#isResting) return;
    this.#set('polite', [...this.#waiting.values()].join('. '));
    this.#waiting.clear();
    setTimeout(() => this.#flush(), PAUSE_MS);
  }

  #set(region: keyof Announcements, text: string): void {
    this.#now = { ...this.#now, [region]: { id: this.#now[region].id + 1, text } };
    for (const changed of this.#listeners) changed();
  }
}

/** That of the page. */
export const announcer = new Announcer();

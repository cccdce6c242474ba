import { TurnJournal } from './turn-journal.ts';
import type { TurnJournalOptions } from './turn-journal.ts';

/** The most ended turns that may still be on their way into the log; the oldest are given up first. */
const MAX_LINGERING = 20;

export type TurnJournalsOptions = Omit<TurnJournalOptions, 'turnId'> & {
  /** Called for a turn whose events are not all in the log, once that is certain. */
  readonly onIncomplete: (turnId: string, dropped: number) => void;
};

/** The journals of all turns of a process: those that run, and those whose log was away when they ended. */
export class TurnJournals {
  readonly #options: TurnJournalsOptions;
  readonly #open = new Set<TurnJournal>();
  readonly #lingering = new Set<TurnJournal>();
  #dropped = 0;

  constructor(options: TurnJournalsOptions) {
    this.#options = options;
  }

  /** Events of all turns that are not in the log and will not be. */
  dropped(): number {
    let dropped = this.#dropped;
    for (const journal of this.#open) dropped += journal.dropped();
    return dropped;
  }

  begin(turnId: string): TurnJournal {
    const journal = new TurnJournal({ ...this.#options, turnId });
    this.#open.add(journal);
    void journal.finished.then(() => {
      this.#open.delete(journal);
      this.#lingering.delete(journal);
      const dropped = journal.dropped();
      this.#dropped += dropped;
      if (dropped > 0) this.#options.onIncomplete(turnId, dropped);
    });
    journal.open();
    return journal;
  }

  /** The end of a turn. Never rejects. */
  async end(journal: TurnJournal): Promise<void> {
    await journal.end();
    if (!this.#open.has(journal)) return;
    this.#lingering.add(journal);
    const [oldest] = this.#lingering;
    if (this.#lingering.size > MAX_LINGERING) oldest?.abandon();
  }

  /** One more attempt for what is not stored. */
  async finish(): Promise<void> {
    await Promise.all([...this.#open].map((journal) => journal.finish()));
  }

  /** Gives up what is not stored now. */
  abandon(): void {
    for (const journal of this.#open) journal.abandon();
  }
}

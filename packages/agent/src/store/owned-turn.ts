import { OrionError } from '@orion/contracts';
import type {
  AppendOutcome,
  Clock,
  ConversationSave,
  FinishOutcome,
  RunEvent,
  SaveOutcome,
  TurnAppend,
  TurnClaim,
  TurnFence,
  TurnLog,
  TurnLogEvent,
} from '@orion/contracts';

import { AppendGroup } from './append-group.ts';
import type { GroupMember } from './append-group.ts';
import type { ConversationKeeper, KeptConversation } from './conversation-keeper.ts';
import { logEventOf } from './log-entry.ts';
import type { TurnWriter } from './turn-writer.ts';

/** With more that is not stored, in characters of JSON or in milliseconds, the provider is not read. */
const MAX_UNSTORED = 256 * 1024;
const MAX_UNSTORED_MS = 2_000;
/** The most events of one append. */
const MAX_APPEND = 500;
/** An owner that was confirmed longer ago, in milliseconds, begins nothing. */
const CONFIRMED_MS = 8_000;
const RETRY_MS = 500;

export type OwnedTurnOptions = {
  readonly log: Pick<TurnLog, 'finish'>;
  readonly group: AppendGroup;
  readonly conversations: Pick<ConversationKeeper, 'conclude'>;
  readonly clock: Clock;
  readonly claim: TurnClaim;
};

/** The turns that a process owns, all of which share its statements. */
export function ownedTurns({
  log,
  ...parts
}: Pick<OwnedTurnOptions, 'conversations' | 'clock'> & {
  readonly log: Pick<TurnLog, 'appendAll' | 'finish'>;
}): (claim: TurnClaim) => OwnedTurn {
  const group = new AppendGroup(log, parts.clock);
  return (claim) => new OwnedTurn({ ...parts, log, group, claim });
}

type Waiter = { readonly upTo: number; isAsked: boolean; readonly resolve: () => void };

/**
 * Writes the events of a turn that this process owns until another one acquires it.
 *
 * 1. Nothing is dropped: while the store is away the turn waits.
 * 2. No effect begins but right after the store has confirmed the owner: by an answer to a statement that was sent after
 *    the effect was asked for, and no longer ago than 8 s. So what the database did before that, be it an error or a
 *    failover, is behind the confirmation.
 * 3. A turn that is fenced, over or ahead of the log is lost: from then on nothing of it is stored or begun.
 * 4. `done` and the conversation are stored together.
 */
export class OwnedTurn implements TurnWriter, GroupMember {
  readonly #options: OwnedTurnOptions;
  readonly #lost = new AbortController();
  readonly #cancelled = new AbortController();
  /** Not stored, in order. */
  readonly #waiting: {
    readonly event: TurnLogEvent;
    readonly size: number;
    readonly at: number;
  }[] = [];
  #unstored = 0;
  #storedSeq: number;
  /** What was taken by the statement that is under way. */
  #taken = 0;
  #waiters: Waiter[] = [];

  constructor(options: OwnedTurnOptions) {
    this.#options = options;
    this.#storedSeq = options.claim.lastSeq;
  }

  get fence(): TurnFence {
    const { turnId, epoch } = this.#options.claim;
    return { turnId, epoch };
  }

  get lastSeq(): number {
    return this.#options.claim.lastSeq;
  }

  get lost(): AbortSignal {
    return this.#lost.signal;
  }

  /** Aborted when somebody has asked for the end of the turn. */
  get cancelled(): AbortSignal {
    return this.#cancelled.signal;
  }

  note(event: RunEvent): void {
    if (this.lost.aborted) return;
    const logged = logEventOf(event);
    const size = JSON.stringify(logged.data).length;
    this.#waiting.push({ event: logged, size, at: this.#options.clock.monotonic() });
    this.#unstored += size;
    this.#options.group.add(this, { urgent: false });
  }

  room(): Promise<void> | null {
    const [oldest] = this.#waiting;
    if (oldest === undefined) return null;
    const age = this.#options.clock.monotonic() - oldest.at;
    if (this.#unstored <= MAX_UNSTORED && age <= MAX_UNSTORED_MS) return null;
    return this.#answer();
  }

  settled(): Promise<void> {
    return this.confirm();
  }

  async confirm(): Promise<void> {
    const { clock } = this.#options;
    for (;;) {
      const askedAt = clock.monotonic();
      await this.#answer();
      if (clock.monotonic() - askedAt <= CONFIRMED_MS) return;
    }
  }

  async conclude(done: RunEvent, conversation: KeptConversation | null): Promise<void> {
    await this.confirm();
    const { turnId, epoch } = this.#options.claim;
    const append = { turnId, epoch, expectSeq: done.seq, events: [logEventOf(done)] };
    if (conversation === null) {
      this.note(done);
      await this.confirm();
      return;
    }
    const { conversations } = this.#options;
    await conversations.conclude(conversation, (save) => this.#finish(append, save));
    this.lost.throwIfAborted();
  }

  take(): TurnAppend {
    const { turnId, epoch } = this.#options.claim;
    const events = this.#waiting.slice(0, MAX_APPEND).map(({ event }) => event);
    this.#taken = events.length;
    const goal = this.#storedSeq + events.length;
    for (const waiter of this.#waiters) waiter.isAsked = waiter.upTo <= goal;
    return { turnId, epoch, expectSeq: this.#storedSeq + 1, events };
  }

  answered(outcome: AppendOutcome): void {
    if (outcome.kind !== 'stored') {
      this.#lose(lossOf(outcome, this.#options.claim));
      return;
    }
    if (outcome.cancelRequested) this.#cancelled.abort();
    for (const { size } of this.#waiting.splice(0, this.#taken)) this.#unstored -= size;
    this.#storedSeq += this.#taken;
    const answered = this.#waiters.filter(({ isAsked }) => isAsked);
    this.#waiters = this.#waiters.filter(({ isAsked }) => !isAsked);
    for (const { resolve } of answered) resolve();
    const urgent = this.#waiters.length > 0;
    if (urgent || this.#waiting.length > 0) this.#options.group.add(this, { urgent });
  }

  failed(error: unknown): void {
    this.#lose(error);
  }

  /** When everything noted so far is stored, by a statement that has not begun yet. */
  async #answer(): Promise<void> {
    this.lost.throwIfAborted();
    await new Promise<void>((resolve) => {
      const upTo = this.#storedSeq + this.#waiting.length;
      this.#waiters.push({ upTo, isAsked: false, resolve });
      this.#options.group.add(this, { urgent: true });
    });
    this.lost.throwIfAborted();
  }

  async #finish(append: TurnAppend, save: ConversationSave): Promise<SaveOutcome> {
    const { log, clock } = this.#options;
    for (;;) {
      let outcome: FinishOutcome;
      try {
        outcome = await log.finish(append, save);
      } catch (error) {
        if (!OrionError.isInstance(error) || !error.retryable) throw error;
        await new Promise<void>((resolve) => {
          clock.schedule(RETRY_MS, resolve);
        });
        continue;
      }
      switch (outcome.kind) {
        case 'stored':
          this.#storedSeq = outcome.lastSeq;
          return { kind: 'saved', revision: outcome.revision ?? save.revision + 1 };
        case 'stale':
          return outcome;
        default:
          this.#lose(lossOf(outcome, this.#options.claim));
          return { kind: 'fenced' };
      }
    }
  }

  #lose(reason: unknown): void {
    this.#options.group.remove(this);
    this.#waiting.length = 0;
    this.#unstored = 0;
    this.#lost.abort(reason);
    const waiters = this.#waiters;
    this.#waiters = [];
    for (const { resolve } of waiters) resolve();
  }
}

/** Why the turn is its owner's no more. */
function lossOf(
  outcome: Exclude<AppendOutcome, { kind: 'stored' }>,
  { turnId, epoch }: TurnClaim,
): OrionError {
  switch (outcome.kind) {
    case 'fenced':
      return new OrionError({
        code: 'FENCED',
        message: `The turn ${turnId} does not belong to the owner ${epoch} any more`,
      });
    case 'finished':
      return new OrionError({ code: 'TURN_FINISHED', message: `The turn ${turnId} is over` });
    case 'gap':
      return new OrionError({
        code: 'TURN_LOG_GAP',
        message: `The log of the turn ${turnId} went back to ${outcome.lastSeq}`,
      });
    case 'refused':
      return new OrionError({ code: 'STORE_UNAVAILABLE', message: outcome.message });
  }
  return outcome satisfies never;
}

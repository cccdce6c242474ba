import { OrionError } from '@orion/contracts';
import type {
  AppendOutcome,
  Clock,
  CompleteAttempt,
  ConversationSave,
  JsonValue,
  RunEvent,
  SaveOutcome,
  TurnAppend,
  TurnClaim,
  TurnFence,
  TurnLog,
  TurnLogEntry,
  TurnLogEvent,
} from '@orion/contracts';

import { ownPace } from '../turn/join-text.ts';
import type { TextPace } from '../turn/join-text.ts';
import { AppendGroup } from './append-group.ts';
import type { GroupMember } from './append-group.ts';
import type { ConversationKeeper, KeptConversation, TurnPlace } from './conversation-keeper.ts';
import { settlesWithin } from './deadline.ts';
import { charactersOf, logEventOf } from './log-entry.ts';
import type { TurnWriter } from './turn-writer.ts';
import { untilStored } from './until-stored.ts';

/** With more that is not stored, in characters or in milliseconds, the provider is not read. */
const MAX_UNSTORED = 256 * 1024;
/** What an event counts beside its text, in characters. */
const EVENT_SIZE = 256;
const MAX_UNSTORED_MS = 2_000;
/** The most events of one append. */
const MAX_APPEND = 500;
/** An owner that was confirmed longer ago, in milliseconds, begins nothing. */
const CONFIRMED_MS = 8_000;
/** A store that does not answer for so long, in milliseconds, keeps no turn from being handed off. */
const LEAVE_MS = 400;

export type OwnedTurnOptions = {
  readonly log: Pick<TurnLog, 'finish' | 'read'>;
  readonly group: AppendGroup;
  readonly conversations: Pick<ConversationKeeper, 'conclude' | 'store'>;
  readonly clock: Clock;
  readonly claim: TurnClaim;
  /** Of the queue that has handed out the turn. */
  readonly complete?: CompleteAttempt | undefined;
};

/** The turns that a process owns, all of which share its statements. */
export function ownedTurns({
  log,
  ...parts
}: Pick<OwnedTurnOptions, 'conversations' | 'clock'> & {
  readonly log: Pick<TurnLog, 'appendAll' | 'finish' | 'read'>;
}): (claim: TurnClaim, complete?: CompleteAttempt) => OwnedTurn {
  const group = new AppendGroup(log, parts.clock);
  return (claim, complete) => new OwnedTurn({ ...parts, log, group, claim, complete });
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
 * 4. `done` and the conversation are stored together, and with them the attempt of a queue is over.
 * 5. A checkpoint is stored together with the event that it belongs to, or alone; the newest one wins.
 * 6. Of a turn that was left nothing more is stored or begun, as if it were lost.
 */
export class OwnedTurn implements TurnWriter, GroupMember {
  /** Readers see chat when it is stored. Content of a file is not stored: they only see how far it is. */
  readonly pace: TextPace;
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
  /** Not stored, in order; each belongs to the events up to `seq`. */
  readonly #checkpoints: { readonly seq: number; readonly data: JsonValue }[] = [];
  #takenCheckpoints = 0;
  #waiters: Waiter[] = [];
  /** A statement is under way, or has been asked for. */
  #isAsking = false;
  /** Its `done` is stored. */
  #isOver = false;

  constructor(options: OwnedTurnOptions) {
    this.#options = options;
    this.#storedSeq = options.claim.lastSeq;
    const { group, clock } = options;
    const own = ownPace(clock);
    this.pace = {
      hold: (kind, passedOnAt, due) =>
        kind === 'chunk' ? group.beforeFlush(due) : own.hold(kind, passedOnAt, due),
      ask: (due) => group.atFlush(due),
    };
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

  get claim(): TurnClaim {
    return this.#options.claim;
  }

  note(event: RunEvent, checkpoint?: JsonValue): void {
    if (this.lost.aborted) return;
    const logged = logEventOf(event);
    if (checkpoint !== undefined) this.#checkpoints.push({ seq: event.seq, data: checkpoint });
    const size = EVENT_SIZE + charactersOf(event);
    this.#waiting.push({ event: logged, size, at: this.#options.clock.monotonic() });
    this.#unstored += size;
    this.#ask({ urgent: false });
  }

  /** Where the next owner would continue, from the next statement on. */
  keepCheckpoint(data: JsonValue): void {
    if (this.lost.aborted) return;
    this.#checkpoints.push({ seq: this.#storedSeq + this.#waiting.length, data });
  }

  /** Repeats it until the store answers, or the turn is lost. */
  untilStored<Answer>(attempt: () => Promise<Answer>): Promise<Answer> {
    return untilStored(this.#options.clock, this.lost, attempt);
  }

  /** The events that earlier owners have stored, with when that was. */
  async *readBack(): AsyncGenerator<TurnLogEntry, void> {
    const { log, claim } = this.#options;
    for (let seq = 0; seq < claim.lastSeq;) {
      const after = seq;
      const entries = await this.untilStored(() => log.read(claim.turnId, after));
      const last = entries.at(-1);
      if (last === undefined) return;
      yield* entries;
      seq = last.seq;
    }
  }

  /** Stores what the turn has said so far; answers where it begins. */
  save(conversation: KeptConversation): Promise<TurnPlace> {
    const fence = { ...this.fence, lastSeq: this.#storedSeq };
    return this.untilStored(() => this.#options.conversations.store({ ...conversation, fence }));
  }

  /** Stores what there is, if the store answers soon, and lets go of the turn, which is not over. */
  async leave(): Promise<void> {
    const { clock } = this.#options;
    if (this.#isOver) return;
    if (!this.lost.aborted) await settlesWithin(clock, LEAVE_MS, this.#answer());
    if (!this.lost.aborted) this.#lose(new Error('the turn was handed off'));
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
    // The end asks for the owner itself; it must only not overtake anything.
    if (this.#isAsking) await this.confirm();
    this.lost.throwIfAborted();
    const { turnId, epoch } = this.#options.claim;
    const append = { turnId, epoch, expectSeq: done.seq, events: [logEventOf(done)] };
    const { conversations } = this.#options;
    await (conversation === null
      ? this.#finish(append, null)
      : conversations.conclude(conversation, (save) => this.#finish(append, save)));
    this.lost.throwIfAborted();
    this.#isOver = true;
  }

  take(): TurnAppend {
    const { turnId, epoch } = this.#options.claim;
    const events = this.#waiting.slice(0, MAX_APPEND).map(({ event }) => event);
    this.#taken = events.length;
    const goal = this.#storedSeq + events.length;
    for (const waiter of this.#waiters) waiter.isAsked = waiter.upTo <= goal;
    this.#takenCheckpoints = this.#checkpoints.findLastIndex(({ seq }) => seq <= goal) + 1;
    const newest = this.#checkpoints[this.#takenCheckpoints - 1];
    const append = { turnId, epoch, expectSeq: this.#storedSeq + 1, events };
    return newest === undefined ? append : { ...append, checkpoint: newest.data };
  }

  answered(outcome: AppendOutcome): void {
    this.#isAsking = false;
    if (outcome.kind !== 'stored') {
      this.#lose(lossOf(outcome, this.#options.claim));
      return;
    }
    if (outcome.cancelRequested) this.#cancelled.abort();
    for (const { size } of this.#waiting.splice(0, this.#taken)) this.#unstored -= size;
    this.#storedSeq += this.#taken;
    this.#checkpoints.splice(0, this.#takenCheckpoints);
    const answered = this.#waiters.filter(({ isAsked }) => isAsked);
    this.#waiters = this.#waiters.filter(({ isAsked }) => !isAsked);
    for (const { resolve } of answered) resolve();
    const urgent = this.#waiters.length > 0;
    if (urgent || this.#waiting.length > 0) this.#ask({ urgent });
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
      this.#ask({ urgent: true });
    });
    this.lost.throwIfAborted();
  }

  #ask(how: { readonly urgent: boolean }): void {
    this.#isAsking = true;
    this.#options.group.add(this, how);
  }

  async #finish(append: TurnAppend, save: ConversationSave | null): Promise<SaveOutcome> {
    const { log, complete } = this.#options;
    const outcome = await this.untilStored(() => log.finish(append, save, complete));
    switch (outcome.kind) {
      case 'stored':
        this.#storedSeq = outcome.lastSeq;
        return { kind: 'saved', revision: outcome.revision ?? (save?.revision ?? 0) + 1 };
      case 'stale':
        return outcome;
      default:
        this.#lose(lossOf(outcome, this.#options.claim));
        return { kind: 'fenced' };
    }
  }

  #lose(reason: unknown): void {
    this.#options.group.remove(this);
    this.#waiting.length = 0;
    this.#checkpoints.length = 0;
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

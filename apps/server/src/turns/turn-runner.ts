import { defined, OrionError, sleep, toErrorInfo } from '@orion/contracts';
import type {
  Clock,
  RunEvent,
  ServedTurns,
  TurnAttempt,
  TurnClaim,
  TurnLog,
  TurnQueue,
  TurnToRun,
} from '@orion/contracts';

import type { Projects } from '../projects.ts';
import { BeginGate } from './begin-gate.ts';
import { CANCELLED, endTurn } from './turn-end.ts';
import type { TurnEnding } from './turn-end.ts';

export type TurnRunnerOptions = {
  readonly queue: TurnQueue;
  readonly turns: Pick<ServedTurns, 'find' | 'toRun' | 'release' | 'look'>;
  readonly log: Pick<TurnLog, 'acquire' | 'finish' | 'read'>;
  readonly projects: Pick<Projects, 'of'>;
  readonly clock: Clock;
  /** How many turns run at the same time. */
  readonly slots: number;
  /** While it answers true no further turn begins. It is given how many run now. */
  readonly isOverloaded: (running: number) => boolean;
  /** Sees every event of the turns that run here. Must not throw. */
  readonly onEvent: (event: RunEvent) => void;
  /** Told of an attempt that failed, for the log of the server. */
  readonly onFailure: (turnId: string, error: unknown) => void;
};

/** How often the rows of running turns are looked at: a turn that says nothing learns so that it is to end. */
const LOOK_MS = 500;
/** A turn that has not ended so long after it was told to hangs, as in a tool, and is ended without it. */
const OVERDUE_MS = 12_000;
/** What turns get to save what they have, once the time to end by themselves is over. */
const HAND_OFF_MS = 5_000;
/** Attempts without progress, after which a failure that a repeat might cure ends the turn. */
const MAX_IDLE_ATTEMPTS = 5;
/** Turns that wait for a person take room, too: further ones take slots as well. */
const MAX_RESTING = 1_000;
const STOPPING = new OrionError({ code: 'SERVER_STOPPING', message: 'The server stops' });
/** And from this one on it runs alone: it may be what its processes die of, or have stood beside that. */
const ALONE_FROM = 3;
/** A session whose owner is alive is asked for again after this time. */
const BUSY_MS = 1_000;
/** Pauses before a turn is acquired again that the store may have given already. */
const ACQUIRE_PAUSES_MS: readonly number[] = [50, 500];
/** What may be otherwise in the next attempt. */
const PASSING: ReadonlySet<string> = new Set(['TURN_LOG_GAP', 'STORE_UNAVAILABLE']);

/**
 * How an attempt ends. `lost`: another owner has the turn, or the store went back to before this one had it. Only the
 * queue can know which, and has it tried again unless somebody else does.
 */
type AttemptEnd = 'over' | 'given back' | 'lost';
const LOST: Readonly<Record<string, AttemptEnd>> = {
  FENCED: 'lost',
  TURN_FINISHED: 'over',
  TURN_NOT_FOUND: 'over',
};

type Running = {
  readonly claim: TurnClaim;
  readonly cancel: AbortController;
  readonly handOff: AbortController;
  /** It waits for a person. */
  isResting: boolean;
  /** By the monotonic clock, when the turn was told to end; null before that. */
  toldAt: number | null;
  /** Resolved when it has not ended long after that. */
  readonly overdue: PromiseWithResolvers<'overdue'>;
};

/**
 * Runs the turns that the queue hands out, each as the owner that the turn log made.
 *
 * 1. An attempt ends its turn, gives it back, or fails and is followed by another one. Nothing that it throws leaves
 *    this class but as the failure of the attempt.
 * 2. What a turn says goes to the log alone: nothing here passes it to a reader.
 * 3. Whatever ends a turn completes its attempt in the same transaction, so that there is never one without the other.
 * 4. Whether a turn is to end, and whether it is still its owner's, is in the store; a call of this process only has it
 *    looked at earlier.
 * 5. Few turns begin at a time, and while others wait for that the queue hands out no further ones: another process may
 *    have them begin sooner.
 */
export class TurnRunner {
  readonly #options: TurnRunnerOptions;
  readonly #running = new Map<string, Running>();
  readonly #gate: BeginGate;
  /** Why what runs is handed off; null before that. */
  #handOff: OrionError | null = null;
  #isStopping = false;
  #cancelLook: (() => void) | null = null;

  constructor(options: TurnRunnerOptions) {
    this.#options = options;
    const { clock, queue } = options;
    this.#gate = new BeginGate({ clock, onClear: () => queue.lookAgain() });
  }

  start(): void {
    const { queue, slots, isOverloaded } = this.#options;
    const resting = (): ReadonlySet<string> =>
      new Set(
        this.#resting()
          .slice(0, MAX_RESTING)
          .map(({ claim }) => claim.turnId),
      );
    const limits = {
      slots,
      resting,
      isOverloaded: (running: number) => this.#gate.isCrowded || isOverloaded(running),
    };
    queue.work((attempt, lost) => this.#attempt(attempt, lost), limits);
  }

  running(): number {
    return this.#running.size;
  }

  /** How many of them wait for a person. */
  resting(): number {
    return this.#resting().length;
  }

  #resting(): readonly Running[] {
    return [...this.#running.values()].filter(({ isResting }) => isResting);
  }

  /** Looks at the rows of the running turns now. Never rejects. */
  async look(): Promise<void> {
    this.#cancelLook?.();
    this.#cancelLook = null;
    const running = [...this.#running.values()];
    try {
      const news = await this.#options.turns.look(running.map(({ claim }) => claim));
      for (const [index, turn] of running.entries()) {
        if (news[index] === 'cancelled') this.#tell(turn, turn.cancel);
        // Its next append finds the same; this one is for a turn that hangs.
        if (news[index] === 'lost') this.#tell(turn, turn.handOff);
      }
    } catch {
      // The store is away: turns wait for it, too.
    }
    this.#lookLater();
  }

  /**
   * Takes no further turn, and waits for those that run. Those that are not over after `drainMs`, or once `cut` is
   * aborted, save what they have and are given back, for the next process; those that wait for a person at once. Never
   * rejects.
   */
  async stop(drainMs: number, cut?: AbortSignal): Promise<void> {
    const { queue, clock } = this.#options;
    const isDrained = new AbortController();
    void queue.drain().then(() => isDrained.abort());
    this.#isStopping = true;
    for (const turn of this.#resting()) this.#leave(turn);
    const signals = [isDrained.signal, ...(cut === undefined ? [] : [cut])];
    await sleep(clock, drainMs, ...signals);
    this.#handOff = STOPPING;
    for (const turn of this.#running.values()) this.#leave(turn);
    await sleep(clock, HAND_OFF_MS, isDrained.signal);
    this.#cancelLook?.();
    this.#cancelLook = null;
  }

  #leave({ handOff }: Running): void {
    handOff.abort(STOPPING);
  }

  #tell(turn: Running, what: AbortController): void {
    const now = this.#options.clock.monotonic();
    what.abort();
    turn.toldAt ??= now;
    if (now - turn.toldAt >= OVERDUE_MS) turn.overdue.resolve('overdue');
  }

  #lookLater(): void {
    if (this.#running.size === 0) return;
    this.#cancelLook ??= this.#options.clock.schedule(LOOK_MS, () => {
      this.#cancelLook = null;
      void this.look();
    });
  }

  /** Rejects to have the turn tried again. */
  async #attempt(attempt: TurnAttempt, lost: AbortSignal): Promise<void> {
    const onBegun = await this.#gate.enter();
    try {
      if (this.#isStopping || lost.aborted) await this.#options.queue.giveBack(attempt);
      else await this.#attemptNow(attempt, lost, onBegun);
    } finally {
      onBegun();
    }
  }

  async #attemptNow(attempt: TurnAttempt, lost: AbortSignal, onBegun: () => void): Promise<void> {
    const { queue, turns, onFailure } = this.#options;
    const { turnId, isAlone = false } = attempt;
    // What was asked for does not change: it can be read before the turn is this attempt's.
    const reading = turns.toRun(turnId);
    reading.catch(() => undefined);
    let claim: TurnClaim;
    try {
      claim = await this.#acquire(attempt, lost);
    } catch (error) {
      const end = LOST[toErrorInfo(error).code];
      if (end === undefined) throw error;
      if (end === 'over') await queue.complete(attempt, null);
      return;
    }
    const turn = await reading;
    const isSuspect = claim.idleAttempts >= ALONE_FROM && !isAlone;
    let end: AttemptEnd = 'given back';
    if (turn === null) end = 'over';
    else if (claim.idleAttempts > MAX_IDLE_ATTEMPTS) end = await this.#end(turn, attempt, POISONED);
    else if (!isSuspect) end = await this.#run(claim, turn, attempt, lost, onBegun);
    switch (end) {
      case 'over':
        // It may have been over before, or without an answer.
        await queue.complete(attempt, null);
        return;
      case 'given back':
        // First: from then on it may go on elsewhere, should this process end before the store has answered.
        await queue.giveBack(attempt, { isAlone: isSuspect });
        // A turn that is not released has the state of one that runs until its next attempt.
        await turns.release(claim).catch((error: unknown) => onFailure(turnId, error));
        return;
      case 'lost':
        return;
    }
    end satisfies never;
  }

  /** Without an answer of the store it may have happened: the same attempt asks again, so that it counts once. */
  async #acquire({ turnId, attempt }: TurnAttempt, lost: AbortSignal): Promise<TurnClaim> {
    const { log, clock } = this.#options;
    for (const pause of ACQUIRE_PAUSES_MS) {
      try {
        return await log.acquire(turnId, attempt, { mayBegin: false });
      } catch (error) {
        if (!toErrorInfo(error).retryable || lost.aborted || this.#isStopping) throw error;
      }
      await sleep(clock, pause, lost);
    }
    return log.acquire(turnId, attempt, { mayBegin: false });
  }

  async #run(
    claim: TurnClaim,
    turn: TurnToRun,
    attempt: TurnAttempt,
    lost: AbortSignal,
    onBegun: () => void,
  ): Promise<AttemptEnd> {
    const { onFailure, clock } = this.#options;
    const { turnId } = turn;
    const running: Running = {
      claim,
      cancel: new AbortController(),
      handOff: new AbortController(),
      isResting: false,
      toldAt: null,
      overdue: Promise.withResolvers(),
    };
    const { cancel, handOff } = running;
    // It was acquired while the others were handed off.
    if (this.#handOff !== null || lost.aborted) return 'given back';
    this.#running.set(turnId, running);
    this.#lookLater();
    lost.addEventListener('abort', () => handOff.abort(), { once: true });
    try {
      const ended = this.#drain(turn, running, attempt, onBegun);
      const end = await Promise.race([ended, running.overdue.promise]);
      if (end !== 'overdue') return end;
      const how = cancel.signal.aborted ? await this.#end(turn, attempt, CANCELLED) : 'lost';
      // What hangs does not go on for nobody.
      handOff.abort();
      return how;
    } catch (error) {
      const { code, retryable } = toErrorInfo(error);
      const end = LOST[code];
      if (end !== undefined) return end;
      onFailure(turnId, error);
      if (code === 'SESSION_BUSY') await sleep(clock, BUSY_MS, handOff.signal, cancel.signal);
      if (handOff.signal.aborted || code === 'SESSION_BUSY') return 'given back';
      const mayPass = retryable || PASSING.has(code);
      if (mayPass && claim.idleAttempts < MAX_IDLE_ATTEMPTS) throw error;
      return await this.#end(turn, attempt, endingOf(error));
    } finally {
      this.#running.delete(turnId);
    }
  }

  /** Lets the agent run the turn until it is over or given up. */
  async #drain(
    turn: TurnToRun,
    running: Running,
    attempt: TurnAttempt,
    onBegun: () => void,
  ): Promise<AttemptEnd> {
    const { claim, cancel, handOff } = running;
    const { projects, queue, onEvent } = this.#options;
    const { turnId: _, protocol, ...request } = turn;
    const events = projects.of(turn.projectId).runOwnedTurn(claim, {
      ...request,
      ...defined({ protocol: protocol ?? undefined }),
      signal: cancel.signal,
      handOff: handOff.signal,
      complete: (transaction) => queue.complete(attempt, transaction),
      onRest: (isResting) => {
        running.isResting = isResting;
        // Alone it would keep others waiting for as long as a person takes.
        if (isResting && (this.#isStopping || attempt.isAlone === true)) this.#leave(running);
      },
    });
    let isOver = false;
    for await (const event of events) {
      onBegun();
      onEvent(event);
      isOver ||= event.type === 'done';
    }
    return isOver ? 'over' : 'given back';
  }

  async #end(turn: TurnToRun, attempt: TurnAttempt, ending: TurnEnding): Promise<AttemptEnd> {
    const { queue } = this.#options;
    const end = await endTurn(this.#options, turn, {
      attempt: attempt.attempt,
      ending,
      complete: (transaction) => queue.complete(attempt, transaction),
    });
    return end === 'fenced' ? 'lost' : 'over';
  }
}

/** A turn whose attempts all ended without having stored how far it had come, as when its process dies of it. */
const POISONED: TurnEnding = {
  status: 'error',
  error: new OrionError({
    code: 'TURN_POISONED',
    message: `The turn was tried ${MAX_IDLE_ATTEMPTS} times, and each time its process ended or failed.`,
  }).toInfo(),
};

/** What a defect says may be anything: the log of the server has its place. */
function endingOf(error: unknown): TurnEnding {
  const info = toErrorInfo(error);
  const isDefect = info.code === 'INTERNAL_ERROR';
  const message = 'The server failed to run the turn.';
  return { status: 'error', error: isDefect ? { ...info, message } : info };
}

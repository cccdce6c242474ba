import type {
  ErrorCode,
  ProtocolOutcome,
  RunEventBody,
  SaveResult,
  WriteReceipt,
} from '@orion/contracts';
import { OrionError, sleep, toErrorInfo } from '@orion/contracts';
import { advance, isOpen, recordOf } from '@orion/core';
import type { SessionEffect, SessionInput, TimerName, WriteSession } from '@orion/core';

import { keptNotice } from '../kept-texts.ts';
import type { KeptText } from '../kept-texts.ts';
import { Mailbox } from '../mailbox.ts';
import { nextStep } from '../next-step.ts';
import { withRemoved } from '../receipt-message.ts';
import { examine, finalize } from './finalize.ts';
import type { InstantEffects, Job } from './session-effects.ts';
import { endOf, pausedEnd, type SessionEnd } from './session-end.ts';
import { linesOf } from './session-event.ts';
import { messageEndOf, sessionModel, type Arrival, type SessionModel } from './session-model.ts';
import { SessionReport } from './session-report.ts';
import { sessionRescue, type SessionRescue } from './session-rescue.ts';
import type { SessionDriverOptions, SessionOutcome, SessionStart } from './session-run.ts';
import { sessionSaver, type SessionSaver } from './session-saver.ts';

/** How often the watermarks of a text are looked at, in milliseconds. */
const WATCH_MS = 250;
/** Waits before a request that brought no message is repeated, in milliseconds. */
const RESEND_WAITS: readonly number[] = [0, 500, 2000];
/**
 * Carries out what the session reducer asks for: the only place where a session's values meet the disk, the
 * model and the clock.
 *
 * Invariants
 * D1  The state of the session is the reducer's alone; nothing here remembers a status.
 * D2  `#dispatch` is synchronous, so inputs never overlap: text is appended before anything else can happen.
 * D3  Effects that wait are jobs, carried out one after the other in the order in which they were asked for.
 * D4  Every save that was started is awaited before the session is given back or removed.
 * D5  No timer outlives `run`.
 */
export class SessionDriver {
  readonly #options: SessionDriverOptions;
  readonly #mailbox = new Mailbox<Arrival>();
  readonly #jobs: Job[] = [];
  readonly #model: SessionModel;
  /** What cancels those that run. */
  readonly #timers = new Map<TimerName, () => void>();
  readonly #saver: SessionSaver;
  readonly #report: SessionReport;
  readonly #rescue: SessionRescue;
  readonly #instant: InstantEffects = {
    append: ({ text: content, offset, length, isThinking }) => {
      const { handle } = this.#options;
      handle.append(content);
      if (isThinking) return;
      const durableBytes = Math.min(this.#saver.durableBytes(), offset + length);
      const place = { sessionId: handle.id, offset, length, durableBytes };
      this.#report.event({ type: 'write_chunk', ...place, content });
      this.#watch();
    },
    hold: ({ text }) => this.#options.handle.appendPending(text),
    discard_held: () => this.#options.handle.clearPending(),
    set_aside: ({ text }) => this.#options.handle.setAside(text),
    rewind: ({ toOffset }) => {
      const { id: sessionId } = this.#options.handle;
      this.#report.event({ type: 'write_rewind', sessionId, toOffset });
    },
    chat: ({ text }) => this.#report.event({ type: 'chunk', content: text, source: 'model' }),
    save: () => this.#saver.start(recordOf(this.#session)),
    start_timer: ({ timer, milliseconds }) => {
      this.#cancelTimer(timer);
      const ring = (): void => {
        this.#timers.delete(timer);
        this.#dispatch({ type: 'timer', timer });
        this.#wakeUp();
      };
      this.#timers.set(timer, this.#options.clock.schedule(milliseconds, ring));
    },
    cancel_timer: ({ timer }) => this.#cancelTimer(timer),
    stop_message: () => {
      this.#stopMessage = true;
    },
    warn: ({ message }) => this.#report.notice(message),
    refuse: ({ code, message }) => {
      this.#refusal = { code, message };
    },
    trace: ({ event, details }) => this.#report.trace(event, details),
  };
  #cancelWatch: (() => void) | null = null;
  #session: WriteSession;
  #stopMessage = false;
  #committing = false;
  #refusal: { readonly code: ErrorCode; readonly message: string } | null = null;
  #receipt: WriteReceipt | null = null;
  #outcome: SessionOutcome | null = null;
  readonly #kept: KeptText[] = [];

  constructor(options: SessionDriverOptions) {
    const { handle, clock, session } = options;
    this.#options = options;
    this.#session = session;
    this.#model = sessionModel(options, this.#mailbox);
    this.#saver = sessionSaver(handle, session.summary.bytes, clock, {
      saved: (result) => this.#saved(result),
      failed: (error) => this.#saveFailed(error),
    });
    this.#report = new SessionReport(options, () => this.#saver.durableBytes());
    this.#rescue = sessionRescue(handle, this.#saver, this.#report);
  }

  /**
   * Runs the session until it is committed, paused or gone. Yields what a person may see; the outcome is the
   * return value. Returning early saves the session and gives it back.
   */
  async *run(start: SessionStart): AsyncGenerator<RunEventBody, SessionOutcome> {
    const { signal, lost, handle } = this.#options;
    const onCancel = (): void => this.#wakeUp();
    const onLost = (): void => {
      this.#dispatch({ type: 'lease_lost', writing: this.#committing });
      this.#wakeUp();
    };
    signal.addEventListener('abort', onCancel);
    lost.addEventListener('abort', onLost);
    if (lost.aborted) onLost();
    try {
      this.#begin(start);
      await this.#tellMemoryOnly();
      for (;;) {
        await this.#tellKept();
        yield* this.#report.drain();
        if (this.#outcome !== null) return this.#outcome;
        this.#noticeCancel();
        const job = this.#jobs.shift();
        if (job !== undefined) {
          yield* this.#perform(job, start);
        } else if (this.#refusal !== null) {
          await this.#rescue.text(recordOf(this.#session));
          const { rescuedText } = this.#rescue.place();
          throw new OrionError({
            ...this.#refusal,
            hint: nextStep(this.#refusal.code, { sessionId: handle.id, rescuedText }),
          });
        } else if (this.#isOpen()) {
          await this.#mailbox.take();
        } else {
          this.#conclude(endOf(this.#session, this.#receipt, this.#rescue.place()));
        }
      }
    } catch (error) {
      if (this.#refusal !== null || lost.aborted) throw error;
      // R019: a defect never takes the text with it.
      const { message } = toErrorInfo(error);
      this.#report.trace('failed', { error: message.slice(0, 300) });
      await this.#rescue.session(recordOf(this.#session));
      const end = pausedEnd(this.#session, 'INTERNAL_ERROR', message, this.#rescue.place());
      this.#conclude(end);
      yield* this.#report.drain();
      return end.outcome;
    } finally {
      signal.removeEventListener('abort', onCancel);
      lost.removeEventListener('abort', onLost);
      for (const cancel of this.#timers.values()) cancel();
      this.#cancelWatch?.();
      // A lost session, too, is open in this process until it is released.
      if (this.#isTurnLost() || this.#outcome?.kind === 'lost') await this.#giveBack();
      else if (this.#outcome === null) await this.#leave();
    }
  }

  /** How the session left this turn, even if its reader had left. Null: it waits for a recovery. */
  get outcome(): SessionOutcome | null {
    return this.#outcome;
  }

  /** What the model sent in calls while it was asked for the text. */
  get kept(): readonly KeptText[] {
    return this.#kept;
  }

  /** R258: no call runs here, so that nothing else says where their text is. */
  async #tellKept(): Promise<void> {
    const untold = await this.#options.kept.takeUntold();
    this.#kept.push(...untold);
    for (const text of untold) this.#report.notice(keptNotice(text));
  }

  #conclude(end: SessionEnd): void {
    this.#report.end(this.#session, end);
    this.#outcome = end.outcome;
  }

  #begin(start: SessionStart): void {
    const { metadata, summary } = this.#session;
    if (start.kind === 'recover' || start.kind === 'finalize') this.#report.recovered();
    this.#report.trace(start.kind === 'content' ? 'started' : 'recovered', {
      target: metadata.target_file,
      bytes: summary.bytes,
      lines: summary.lineFeeds,
    });
    switch (start.kind) {
      case 'content':
        this.#report.status(this.#session);
        this.#jobs.push({ type: 'resend', attempt: 0 });
        return;
      case 'recover':
        this.#dispatch({ type: 'recover' });
        return;
      case 'finalize':
        this.#dispatch({ type: 'finalize_command', answer: start.answer });
        return;
      case 'upload_ended':
        this.#dispatch({ type: 'upload_ended', corrections: start.corrections });
        return;
      default:
        start satisfies never;
    }
  }

  /**
   * R057: a session that the disk refused at its begin is saved once more before the model is asked, so that a person
   * hears why it is in memory while there is nothing to lose; this starts the repeats too.
   */
  async #tellMemoryOnly(): Promise<void> {
    if (this.#options.handle.persistence() === 'disk') return;
    this.#saver.start(recordOf(this.#session));
    await this.#saver.settled();
  }

  #isOpen(): boolean {
    return isOpen(this.#session.control);
  }

  #isIn(...kinds: readonly WriteSession['control']['kind'][]): boolean {
    return kinds.includes(this.#session.control.kind);
  }

  /** What the model says can be the session's, or follow a file that is written. */
  #readsOn(): boolean {
    return this.#isOpen() || (this.#isIn('done') && !this.#options.lost.aborted);
  }

  #noticeCancel(): void {
    if (!this.#isOpen() || this.#isIn('finalizing')) return;
    if (this.#options.signal.aborted) this.#dispatch({ type: 'cancelled' });
  }

  /** The turn is another owner's, and the session still this process's. */
  #isTurnLost(): boolean {
    const { lost, handle } = this.#options;
    return lost.aborted && !handle.lost.aborted && this.#outcome?.kind !== 'committed';
  }

  #cancelTimer(timer: TimerName): void {
    this.#timers.get(timer)?.();
    this.#timers.delete(timer);
  }

  /** While there is text that is not safe, it is looked at what has become of it. */
  #watch(): void {
    this.#cancelWatch ??= this.#options.clock.schedule(WATCH_MS, () => {
      this.#cancelWatch = null;
      // The last word about the session says what is safe.
      if (!this.#isOpen() || this.#isIn('finalizing')) return;
      const found = this.#report.progress(this.#session);
      // A stream that stalls brings nothing that would carry this out.
      if (found === 'reported') this.#wakeUp();
      if (found !== 'all safe') this.#watch();
    });
  }

  #wakeUp(): void {
    this.#mailbox.push({ kind: 'wake' });
  }

  /** The one way in. Text and saves are carried out at once, everything that waits becomes a job. */
  #dispatch(input: SessionInput): void {
    const { session, effects } = advance(this.#session, input);
    this.#session = session;
    for (const effect of effects) this.#carryOut(effect);
    this.#report.status(this.#session);
  }

  #carryOut(effect: SessionEffect): void {
    const type = effect.type as keyof InstantEffects;
    const handler = this.#instant[type] as ((effect: SessionEffect) => void) | undefined;
    if (handler === undefined) this.#jobs.push(effect as Job);
    else handler(effect);
  }

  #saved(result: SaveResult): void {
    this.#report.saved(result);
  }

  #saveFailed(error: unknown): void {
    const { code, message } = toErrorInfo(error);
    this.#report.saveFailed(code, message);
    // It may have been under way when the session left this turn, as with a hand-off.
    if (!this.#isOpen()) return;
    this.#dispatch({ type: 'save_failed' });
    this.#wakeUp();
  }

  async *#perform(job: Job, start: SessionStart): AsyncGenerator<RunEventBody, void> {
    const { handle, clock, signal } = this.#options;
    switch (job.type) {
      case 'send_prompt':
        this.#model.ask(job.prompt, job.opening ?? null);
        this.#report.asked(job.reason, this.#session);
        yield* this.#receive(start);
        return;
      case 'resend': {
        const place = Math.min(Math.max(job.attempt - 1, 0), RESEND_WAITS.length - 1);
        const wait = RESEND_WAITS[place] ?? 0;
        if (wait > 0) await sleep(clock, wait, signal);
        yield* this.#receive(start);
        return;
      }
      case 'set_aside_held':
        for await (const text of handle.readPending()) handle.setAside(text);
        handle.clearPending();
        return;
      case 'replay_held':
        for await (const text of handle.readPending()) {
          this.#dispatch({ type: 'held_text', text });
          yield* this.#report.drain();
        }
        this.#dispatch({ type: 'held_end' });
        return;
      case 'show':
        yield* this.#show(job.start, job.end);
        return;
      case 'start_over':
        await this.#saver.settled();
        await handle.startOver(recordOf(this.#session));
        this.#saver.startOver();
        this.#report.trace('started_over', {});
        return;
      case 'examine':
        this.#dispatch(await examine(job, handle, this.#report));
        return;
      case 'finalize':
        await this.#saver.settled();
        // A person may take a day to agree, and see all the while what could be lost.
        this.#report.progress(this.#session, 'no more text');
        yield* this.#report.drain();
        await this.#finalize(job, start);
        return;
      case 'pause':
        this.#report.trace('paused', { code: job.code });
        await this.#saver.settled();
        return;
      case 'release':
        await this.#saver.settled();
        await this.#rescue.text(recordOf(this.#session));
        await handle.release();
        return;
      case 'remove':
        await this.#remove();
        return;
      case 'discard': {
        await this.#saver.settled();
        const { attic } = await handle.discard();
        this.#report.trace('discarded', { attic });
        return;
      }
      default:
        job satisfies never;
    }
  }

  async *#show(start: number, end: number): AsyncGenerator<RunEventBody, void> {
    const decoder = new TextDecoder();
    for await (const chunk of this.#options.handle.readContent(start, end)) {
      const content = decoder.decode(chunk, { stream: true });
      if (content !== '') yield { type: 'chunk', content, source: 'model' };
    }
  }

  /** Asks the model for the next message and hands its text to the reducer as it arrives. */
  async *#receive(start: SessionStart): AsyncGenerator<RunEventBody, void> {
    // The file may be on its way, or the session gone, since it was asked for.
    if (!this.#isOpen() || this.#isIn('finalizing')) return;
    const { started, events } = await this.#model.next(linesOf(this.#session.summary));
    this.#stopMessage = false;
    this.#dispatch(started);
    for await (const event of events) {
      switch (event?.type) {
        case 'chunk':
          this.#dispatch({ type: 'text', text: event.content });
          break;
        case 'reasoning':
          this.#dispatch({ type: 'reasoning' });
          break;
        case 'usage':
          this.#report.event({ type: 'usage', ...event.usage });
          break;
        case 'outcome':
          this.#endMessage(event.outcome);
          return;
        default:
          break;
      }
      yield* this.#report.drain();
      if (event !== null && this.#saver.isBehind()) {
        await this.#saver.catchUp(recordOf(this.#session));
      }
      // R031: at the end marker the file is written at once, however long the model goes on.
      while (this.#isIn('finalizing')) {
        const job = this.#jobs.shift();
        if (job === undefined) break;
        yield* this.#perform(job, start);
        // Anything else is said in a message of its own.
        if (!this.#isIn('finalizing', 'done')) return;
      }
      if (this.#stopMessage || (event === null && !this.#readsOn())) return;
    }
  }

  #endMessage(outcome: ProtocolOutcome): void {
    if (outcome.kind === 'message_end' && outcome.calls.length > 0) {
      this.#dispatch({ type: 'tool_called' });
      const names = outcome.calls.map((call) => call.name).join(', ');
      this.#refusal = null;
      this.#report.trace('tool_call_refused', { code: 'SESSION_BUSY', names: names.slice(0, 200) });
    }
    const end = messageEndOf(outcome);
    if (end === null) {
      this.#dispatch({ type: 'cancelled' });
      return;
    }
    if (end.kind === 'error') {
      this.#report.trace('stream_error', { code: end.code });
      // A file that is written misses nothing.
      if (this.#receipt === null) this.#report.notice(`${end.message} (${end.code})`);
    }
    this.#dispatch({ type: 'message_ended', end });
  }

  async #finalize(job: Extract<Job, { type: 'finalize' }>, start: SessionStart): Promise<void> {
    // A loss arrives as `lost`, too.
    await this.#options.confirm().catch(() => undefined);
    if (this.#options.lost.aborted) return;
    this.#committing = true;
    try {
      const { input, receipt } = await finalize(this.#session, job, {
        ...this.#options,
        target: 'target' in start ? start.target : undefined,
        report: this.#report,
      });
      this.#receipt = receipt;
      // The next owner finds the file by its session, which therefore stays.
      if (!this.#isTurnLost()) this.#dispatch(input);
    } finally {
      this.#committing = false;
    }
    if (this.#isTurnLost()) this.#dispatch({ type: 'lease_lost', writing: false });
  }

  /** The directory goes; after a commit the receipt learns where text that was set aside has gone. */
  async #remove(): Promise<void> {
    await this.#saver.settled();
    const removed = await this.#options.handle.remove();
    if (this.#receipt !== null) this.#receipt = withRemoved(this.#receipt, removed);
  }

  /** The session goes on in the hands of another owner, who can only take it once this process has let go of it. */
  async #giveBack(): Promise<void> {
    await this.#saver.settled();
    try {
      await this.#options.handle.release();
    } catch {
      // Its lease runs out by itself.
    }
    this.#outcome ??= { kind: 'lost' };
  }

  /** Nobody reads on: what is written stays written, anything else is saved and given back. */
  async #leave(): Promise<void> {
    if (this.#receipt === null) {
      await this.#rescue.session(recordOf(this.#session));
      return;
    }
    try {
      await this.#remove();
    } catch {
      // The directory of a session that is done; a recovery finds it so.
      await this.#rescue.session(recordOf(this.#session));
    }
    this.#outcome = { kind: 'committed', receipt: this.#receipt };
  }
}

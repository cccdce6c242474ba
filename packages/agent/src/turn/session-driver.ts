import type {
  ErrorCode,
  ErrorInfo,
  LlmAdapter,
  ProtocolEvent,
  ProtocolOutcome,
  RunCorrections,
  RunEventBody,
  SaveResult,
  WriteReceipt,
} from '@orion/contracts';
import { OrionError, toErrorInfo } from '@orion/contracts';
import {
  MAX_CORRECTION_ROUNDS,
  advance,
  isOpen,
  receiptNotesOf,
  recordOf,
  stateNameOf,
} from '@orion/core';
import type {
  ControlState,
  FinalizeFacts,
  FinalizeOutcome,
  MessageEnd,
  PromptReason,
  SessionEffect,
  SessionInput,
  WriteSession,
} from '@orion/core';

import { contentMessages } from '../context/content-messages.ts';
import { askedLine } from './asked-line.ts';
import { Mailbox } from './mailbox.ts';
import { MessageStream } from './message-stream.ts';
import type { Arrival } from './message-stream.ts';
import { nextStep } from './next-step.ts';
import { summaryOfPart } from './recovery.ts';
import { describePaused } from './paused-session.ts';
import type { SessionDriverOptions, SessionOutcome, SessionStart } from './session-run.ts';
import { SessionSaver } from './session-saver.ts';
import { SessionTimers, sleep } from './session-timers.ts';

/** Waits before a request that brought no message is repeated, in milliseconds. */
const RESEND_WAITS: readonly number[] = [0, 500, 2000];
/** A progress event at most so often, and a `saved` trace, in milliseconds. */
const PROGRESS_MS = 1000;
const SAVED_TRACE_MS = 5000;
/** Commit failures that may pass by themselves. */
const PASSING: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'RESOURCE_BUSY',
  'DISK_FULL',
  'PERMISSION_DENIED',
]);

/** What a message that the provider refused is to a session: what came of it may be the refusal itself. */
const REFUSED: ErrorInfo = {
  code: 'MODEL_REFUSED',
  message: 'The model or its provider refused to go on; the end of the saved text may be its words',
  retryable: false,
};

/** The states in which the model's next message is of any use to the session. */
const LISTENING: ReadonlySet<ControlState['kind']> = new Set<ControlState['kind']>([
  'awaiting_content',
  'awaiting_more',
  'awaiting_answer',
  'needs_corrections',
]);
/** Prompts whose trace the session makes itself, or that the stream's own events explain. */
const UNTRACED: ReadonlySet<PromptReason> = new Set<PromptReason>([
  'continuation',
  'ask_again',
  'corrections',
]);

type Job = Extract<
  SessionEffect,
  {
    readonly type:
      | 'set_aside_held'
      | 'replay_held'
      | 'set_aside_range'
      | 'start_over'
      | 'send_prompt'
      | 'resend'
      | 'examine'
      | 'finalize'
      | 'pause'
      | 'release'
      | 'remove'
      | 'discard';
  }
>;

/**
 * Carries out what the session reducer asks for: the only place where a session's values meet the disk, the
 * model and the clock.
 *
 * Invariants
 * D1  The reducer is the only account of where the session stands; nothing here remembers a status.
 * D2  `#dispatch` is synchronous, so inputs never overlap: text is appended before anything else can happen.
 * D3  Effects that wait are jobs, carried out one after the other in the order in which they were asked for.
 * D4  Every save that was started is awaited before the session is given back or removed.
 * D5  No timer outlives `run`.
 */
export class SessionDriver {
  readonly #options: SessionDriverOptions;
  readonly #mailbox = new Mailbox<Arrival>();
  readonly #outbox: RunEventBody[] = [];
  readonly #jobs: Job[] = [];
  readonly #timers: SessionTimers;
  readonly #saver: SessionSaver;
  #session: WriteSession;
  #stopMessage = false;
  #committing = false;
  #durableBytes: number;
  #degradedTold = false;
  #lastProgress = Number.NEGATIVE_INFINITY;
  #lastSavedTrace = Number.NEGATIVE_INFINITY;
  #refusal: { readonly code: ErrorCode; readonly message: string } | null = null;
  #receipt: WriteReceipt | null = null;
  #outcome: SessionOutcome | null = null;
  #prompt: string | null = null;
  /** How the reply to it has to begin, if that is known. */
  #opening: string | null = null;
  #target: FinalizeFacts['target'];
  #toldState: string | null = null;
  #rescuedAt: string | null = null;

  constructor(options: SessionDriverOptions) {
    this.#options = options;
    this.#timers = new SessionTimers(options.clock);
    this.#durableBytes = options.session.summary.bytes;
    this.#saver = new SessionSaver(options.handle, this.#durableBytes, options.clock, {
      saved: (result) => this.#tellSaved(result),
      failed: (error) => this.#tellSaveFailed(error),
    });
    this.#session = options.session;
  }

  /**
   * Runs the session until it is committed, paused or gone. Yields what a person may see; the outcome is the
   * return value. Returning early saves the session and gives it back.
   */
  async *run(start: SessionStart): AsyncGenerator<RunEventBody, SessionOutcome> {
    const { signal, stopSignal, handle } = this.#options;
    const onCancel = (): void => this.#wakeUp();
    const onLost = (): void => {
      this.#dispatch({ type: 'lease_lost', writing: this.#committing });
      this.#wakeUp();
    };
    signal.addEventListener('abort', onCancel);
    stopSignal.addEventListener('abort', onCancel);
    handle.lost.addEventListener('abort', onLost);
    try {
      this.#begin(start);
      await this.#tellMemoryOnly();
      for (;;) {
        yield* this.#drain();
        if (this.#outcome !== null) return this.#outcome;
        this.#noticeCancel();
        const job = this.#jobs.shift();
        if (job !== undefined) {
          yield* this.#perform(job);
        } else if (this.#isOver()) {
          this.#outcome = await this.#conclude();
        } else {
          await this.#mailbox.take();
        }
      }
    } catch (error) {
      if (this.#refusal !== null) throw error;
      // R019: a defect never takes the text with it.
      await this.#rescue(error);
      const outcome = this.#pausedOutcome('INTERNAL_ERROR', toErrorInfo(error).message);
      yield* this.#drain();
      return outcome;
    } finally {
      signal.removeEventListener('abort', onCancel);
      stopSignal.removeEventListener('abort', onCancel);
      handle.lost.removeEventListener('abort', onLost);
      this.#timers.cancelAll();
      if (this.#outcome === null) await this.#leave();
    }
  }

  /** How the session left this turn, even if nobody stayed to be told. Null: it waits for a recovery. */
  get outcome(): SessionOutcome | null {
    return this.#outcome;
  }

  #begin(start: SessionStart): void {
    this.#trace(start.kind === 'content' ? 'started' : 'recovered', {
      target: this.#session.metadata.target_file,
      bytes: this.#session.summary.bytes,
      lines: this.#session.summary.lineFeeds,
    });
    switch (start.kind) {
      case 'content':
        this.#tellState();
        this.#jobs.push({ type: 'resend', attempt: 0 });
        return;
      case 'recover':
        this.#dispatch({ type: 'recover' });
        return;
      case 'finalize':
        this.#target = start.target;
        this.#dispatch({ type: 'finalize_command', answer: start.answer });
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

  #isOver(): boolean {
    return !isOpen(stateNameOf(this.#session.control)) || this.#refusal !== null;
  }

  #noticeCancel(): void {
    const { signal, stopSignal } = this.#options;
    if (!isOpen(stateNameOf(this.#session.control)) || this.#committing) return;
    if (this.#session.control.kind === 'finalizing') return;
    if (stopSignal.aborted || signal.aborted) this.#dispatch({ type: 'cancelled' });
  }

  #wakeUp(): void {
    this.#mailbox.push({ kind: 'wake' });
  }

  *#drain(): Generator<RunEventBody, void> {
    for (let event = this.#outbox.shift(); event !== undefined; event = this.#outbox.shift())
      yield event;
  }

  /** The one way in. Text and saves are carried out at once, everything that waits becomes a job. */
  #dispatch(input: SessionInput): void {
    const { session, effects } = advance(this.#session, input);
    this.#session = session;
    for (const effect of effects) this.#carryOut(effect);
    this.#tellState();
  }

  #carryOut(effect: SessionEffect): void {
    const { handle } = this.#options;
    switch (effect.type) {
      case 'append':
        handle.append(effect.text);
        if (effect.isThinking) return;
        this.#outbox.push({
          type: 'write_chunk',
          sessionId: handle.id,
          offset: effect.offset,
          length: effect.length,
          content: effect.text,
        });
        return;
      case 'hold':
        handle.appendPending(effect.text);
        return;
      case 'discard_held':
        handle.clearPending();
        return;
      case 'set_aside':
        handle.setAside(effect.text);
        return;
      case 'rewind':
        this.#outbox.push({
          type: 'write_rewind',
          sessionId: handle.id,
          toOffset: effect.toOffset,
        });
        return;
      case 'chat':
        this.#outbox.push({ type: 'chunk', content: effect.text, source: 'model' });
        return;
      case 'save':
        this.#saver.start(recordOf(this.#session));
        return;
      case 'start_timer': {
        const { timer } = effect;
        this.#timers.start(timer, effect.milliseconds, () => {
          this.#dispatch({ type: 'timer', timer });
          this.#wakeUp();
        });
        return;
      }
      case 'cancel_timer':
        this.#timers.cancel(effect.timer);
        return;
      case 'stop_message':
        this.#stopMessage = true;
        return;
      case 'warn':
        this.#notice(effect.message);
        return;
      case 'refuse':
        this.#refusal = { code: effect.code, message: effect.message };
        return;
      case 'trace':
        this.#trace(effect.event, effect.details);
        return;
      case 'set_aside_held':
      case 'replay_held':
      case 'set_aside_range':
      case 'start_over':
      case 'send_prompt':
      case 'resend':
      case 'examine':
      case 'finalize':
      case 'pause':
      case 'release':
      case 'remove':
      case 'discard':
        this.#jobs.push(effect);
        return;
      default:
        effect satisfies never;
    }
  }

  #tellSaved(result: SaveResult): void {
    this.#durableBytes = result.durableBytes;
    if (result.persistence === 'disk') this.#degradedTold = false;
    const now = this.#options.clock.monotonic();
    if (now - this.#lastSavedTrace >= SAVED_TRACE_MS) {
      this.#lastSavedTrace = now;
      this.#trace('saved', { bytes: result.durableBytes });
    }
    if (now - this.#lastProgress >= PROGRESS_MS && isOpen(stateNameOf(this.#session.control))) {
      this.#lastProgress = now;
      this.#outbox.push(this.#stateEvent());
      // A stream that stalls brings nothing that would carry this out.
      this.#wakeUp();
    }
  }

  #tellSaveFailed(error: unknown): void {
    const { code, message } = toErrorInfo(error);
    if (!this.#degradedTold) {
      this.#degradedTold = true;
      this.#notice(
        `The session cannot be saved (${code}: ${message}). It goes on in memory only, where its size is not limited; a crash would lose it.`,
      );
    }
    this.#trace('save_failed', { code });
    this.#dispatch({ type: 'save_failed', code, message });
    this.#wakeUp();
  }

  async *#perform(job: Job): AsyncGenerator<RunEventBody, void> {
    const { handle, clock, signal, stopSignal } = this.#options;
    switch (job.type) {
      case 'send_prompt':
        this.#prompt = job.prompt;
        this.#opening = job.opening ?? null;
        if (!UNTRACED.has(job.reason)) {
          this.#trace(
            job.reason === 'idle' || job.reason === 'question' ? 'idle_prompt' : 'prompt',
            {
              reason: job.reason,
            },
          );
        }
        this.#notice(askedLine(job.reason, this.#session));
        yield* this.#receive();
        return;
      case 'resend': {
        const wait =
          RESEND_WAITS[Math.min(Math.max(job.attempt - 1, 0), RESEND_WAITS.length - 1)] ?? 0;
        if (wait > 0) await sleep(clock, wait, [signal, stopSignal]);
        yield* this.#receive();
        return;
      }
      case 'set_aside_held':
        for await (const text of handle.readPending()) handle.setAside(text);
        handle.clearPending();
        return;
      case 'replay_held':
        for await (const text of handle.readPending()) {
          this.#dispatch({ type: 'held_text', text });
          yield* this.#drain();
        }
        this.#dispatch({ type: 'held_end' });
        return;
      case 'set_aside_range':
        await handle.setAsideRange(job.start, job.end);
        if (job.show) yield* this.#show(job.start, job.end);
        return;
      case 'start_over':
        await this.#saver.settled();
        await handle.startOver(recordOf(this.#session), job.start, job.end ?? undefined);
        this.#durableBytes = 0;
        this.#trace('started_over', {});
        return;
      case 'finalize':
        await this.#finalize(job);
        return;
      case 'examine':
        await this.#examine(job.start, job.end);
        return;
      case 'pause':
        this.#trace('paused', { code: job.code });
        await this.#saver.settled();
        return;
      case 'release':
        await this.#saver.settled();
        await this.#rescueText();
        await handle.release();
        return;
      case 'remove':
        await this.#remove();
        return;
      case 'discard': {
        await this.#saver.settled();
        const { attic } = await handle.discard();
        this.#trace('discarded', { attic });
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
  async *#receive(): AsyncGenerator<RunEventBody, void> {
    const { content, context, base, handle, contextLimit } = this.#options;
    if (context === null) throw new Error('a model was asked although none was given');
    if (!LISTENING.has(this.#session.control.kind)) return;
    const { summary } = this.#session;
    let prefill = prefillOf(this.#opening, context.adapter);
    const messages = await contentMessages({
      base,
      handle,
      prompt: this.#prompt,
      prefill,
      limit: contextLimit,
      lines: summary.lineFeeds + (summary.openLineLength > 0 ? 1 : 0),
    });
    this.#stopMessage = false;
    this.#dispatch({
      type: 'message_started',
      prefilled: prefill !== null,
      thinkTags: context.adapter.writesThinkTags ?? false,
    });
    const leave = new AbortController();
    const signal = AbortSignal.any([context.signal, leave.signal]);
    const stream = new MessageStream(
      content.executeStreaming({ ...context, messages, signal }),
      this.#mailbox,
      leave,
    );
    try {
      let outcome: ProtocolOutcome | null = null;
      while (outcome === null && !this.#stopMessage) {
        stream.request();
        const arrived = yield* this.#arrival(stream);
        if (arrived === null) return;
        if (arrived.done === true) break;
        const event = arrived.value;
        if (event.type === 'chunk') {
          // Only a model that answers has said the words that were given to it.
          this.#dispatch({ type: 'text', text: `${prefill ?? ''}${event.content}` });
          prefill = null;
        } else if (event.type === 'reasoning') this.#dispatch({ type: 'reasoning' });
        else if (event.type === 'usage') this.#outbox.push({ type: 'usage', ...event.usage });
        else if (event.type === 'outcome') outcome = event.outcome;
        yield* this.#drain();
        if (this.#saver.isBehind()) await this.#saver.catchUp(recordOf(this.#session));
      }
      if (outcome !== null) this.#endMessage(outcome);
    } finally {
      await stream.close();
    }
  }

  /** The next event of the stream; what timers do meanwhile is told at once. Null: the session has left it. */
  async *#arrival(
    stream: MessageStream,
  ): AsyncGenerator<RunEventBody, IteratorResult<ProtocolEvent> | null> {
    for (;;) {
      const item = await this.#mailbox.take();
      switch (item.kind) {
        case 'event':
          if (item.stream === stream) return item.result;
          break;
        case 'failed':
          if (item.stream === stream) throw item.error;
          break;
        case 'wake':
          yield* this.#drain();
          if (this.#stopMessage || !isOpen(stateNameOf(this.#session.control))) return null;
          break;
        default:
          item satisfies never;
      }
    }
  }

  #endMessage(outcome: ProtocolOutcome): void {
    switch (outcome.kind) {
      case 'message_end': {
        if (outcome.calls.length > 0) {
          this.#dispatch({ type: 'tool_called' });
          const names = outcome.calls.map((call) => call.name).join(', ');
          this.#refusal = null;
          this.#trace('tool_call_refused', { code: 'SESSION_BUSY', names: names.slice(0, 200) });
        }
        if (outcome.finish === 'refusal') {
          this.#endBroken(REFUSED);
          return;
        }
        const end: MessageEnd = outcome.finish === 'length' ? { kind: 'length' } : { kind: 'stop' };
        this.#dispatch({ type: 'message_ended', end });
        return;
      }
      case 'error':
        this.#endBroken(outcome.error);
        return;
      case 'aborted':
        this.#dispatch({ type: 'cancelled' });
        return;
      case 'complete':
      case 'incomplete':
      case 'stopped':
      case 'handover':
        throw new Error(`the content stage ended with ${outcome.kind}`);
      default:
        outcome satisfies never;
    }
  }

  #endBroken({ code, message, retryable }: ErrorInfo): void {
    this.#trace('stream_error', { code });
    this.#notice(`${message} (${code})`);
    this.#dispatch({ type: 'message_ended', end: { kind: 'error', code, message, retryable } });
  }

  async #examine(start: number, end: number): Promise<void> {
    try {
      const summary = await summaryOfPart(this.#options.handle, start, end);
      this.#dispatch({ type: 'examined', summary });
    } catch (error) {
      const { code, message } = toErrorInfo(error);
      this.#trace('failed', { code });
      this.#dispatch({ type: 'finalize_failed', code, message, retryable: false });
    }
  }

  async #finalize({ start, end, lineEnding }: Extract<Job, { type: 'finalize' }>): Promise<void> {
    await this.#saver.settled();
    const { innerDoneLines, seams, repair, omissionsAsked, decidedByHand } = this.#session;
    this.#trace('finalize_started', { bytes: (end ?? this.#session.summary.bytes) - start });
    this.#committing = true;
    let outcome: FinalizeOutcome;
    try {
      outcome = await this.#options.finalize({
        start,
        end,
        lineEnding,
        notes: receiptNotesOf(this.#session),
        innerDoneLines,
        seams,
        signal: AbortSignal.any([this.#options.signal, this.#options.stopSignal]),
        repair,
        askOmissions: this.#session.settings.askOmissions && !omissionsAsked && !decidedByHand,
        ...(this.#target === undefined ? {} : { target: this.#target }),
      });
    } catch (error) {
      if (!OrionError.isInstance(error)) throw error;
      this.#trace('failed', { code: error.code });
      this.#dispatch({
        type: 'finalize_failed',
        code: error.code,
        message: error.message,
        // A change that was made but could not be made durable is settled by a recovery, not by repeating it.
        retryable: PASSING.has(error.code) && error.details['changed'] !== true,
      });
      return;
    } finally {
      this.#committing = false;
    }
    if (outcome.kind === 'omissions_suspected') {
      const { omissions } = outcome;
      this.#trace('omission_suspected', { lines: omissions.map(({ line }) => line).join(', ') });
      this.#dispatch({ type: 'omissions_suspected', omissions });
      return;
    }
    if (outcome.kind === 'needs_corrections') {
      const { invalid_contexts, invalid_count } = outcome.corrections;
      this.#dispatch({
        type: 'corrections_needed',
        places: invalid_contexts,
        count: invalid_count,
      });
      return;
    }
    const { receipt } = outcome;
    this.#receipt = receipt;
    const { attempts, invalid_found, corrected, replaced } = receipt.validation_summary;
    this.#trace('finalized', {
      target: receipt.target_file,
      bytes: receipt.bytes,
      lines: receipt.lines,
      sha256: receipt.sha256,
      ...(invalid_found === 0 ? {} : { attempts, invalid_found, corrected, replaced }),
    });
    this.#dispatch({ type: 'finalized' });
  }

  /** The directory goes; after a commit the receipt learns where text that was set aside has gone. */
  async #remove(): Promise<void> {
    await this.#saver.settled();
    const { trailing, warnings } = await this.#options.handle.remove();
    if (this.#receipt === null) return;
    this.#receipt = {
      ...this.#receipt,
      ...(trailing === undefined ? {} : { trailing }),
      warnings: [...this.#receipt.warnings, ...warnings],
    };
  }

  async #conclude(): Promise<SessionOutcome> {
    const { control } = this.#session;
    if (this.#refusal !== null) {
      await this.#rescueText();
      const sessionId = this.#options.handle.id;
      const hint = nextStep(this.#refusal.code, { sessionId, rescuedText: this.#rescuedAt });
      throw new OrionError({ ...this.#refusal, hint });
    }
    switch (control.kind) {
      case 'done': {
        if (this.#receipt === null) throw new Error('a session is done without a receipt');
        const event = this.#stateEvent();
        this.#outbox.push({ ...event, receipt: this.#receipt });
        return { kind: 'committed', receipt: this.#receipt };
      }
      case 'paused':
        return this.#pausedOutcome(control.code, this.#session.message);
      case 'aborted':
        // Without this last word a reader of the events would take the session for open.
        this.#outbox.push({ ...this.#stateEvent(), code: control.code });
        return { kind: 'aborted', code: control.code };
      case 'idle':
        return { kind: 'lost' };
      case 'awaiting_content':
      case 'awaiting_more':
      case 'awaiting_answer':
      case 'finalizing':
      case 'needs_corrections':
        throw new Error(`a session ended in ${control.kind}`);
      default:
        return control satisfies never;
    }
  }

  #pausedOutcome(code: ErrorCode, message: string | null): SessionOutcome {
    const { handle } = this.#options;
    const paused = describePaused({
      directory: handle.directory,
      rescuedText: this.#rescuedAt,
      session: this.#session,
      code,
    });
    this.#outbox.push({ ...this.#stateEvent(), status: 'session_active.paused', code, paused });
    const outcome: SessionOutcome = { kind: 'paused', paused, message };
    this.#outcome = outcome;
    return outcome;
  }

  /** Nobody reads on: what is written stays written, anything else is saved and given back. */
  async #leave(): Promise<void> {
    if (this.#receipt === null) {
      await this.#rescue(null);
      return;
    }
    try {
      await this.#remove();
    } catch {
      // The directory of a session that is done; a recovery finds it so.
      await this.#rescue(null);
    }
    this.#outcome = { kind: 'committed', receipt: this.#receipt };
  }

  /** Saves what there is and gives the session back, whatever state it was in. */
  async #rescue(error: unknown): Promise<void> {
    const { handle } = this.#options;
    if (error !== null) this.#trace('failed', { error: toErrorInfo(error).message.slice(0, 300) });
    try {
      await this.#saver.settled();
      await handle.save(recordOf(this.#session));
    } catch {
      // The text could not be saved now; what was saved before stays.
    }
    if (handle.bytes() > 0) await this.#rescueText();
    try {
      await handle.release();
    } catch {
      // Its lease runs out by itself.
    }
  }

  /** What only memory holds would end with the process: it goes to another disk, and the person is told where. */
  async #rescueText(): Promise<void> {
    const { handle } = this.#options;
    if (handle.persistence() === 'disk' || handle.lost.aborted) return;
    if (this.#rescuedAt !== null) return;
    try {
      const path = await handle.rescue();
      this.#rescuedAt = path;
      this.#notice(
        `The session could not be saved in its own place; all of its text is in ${path}.`,
      );
      this.#trace('rescued', { path });
    } catch (error) {
      const { message } = toErrorInfo(error);
      this.#notice(`The text could not be saved anywhere and ends with this process: ${message}`);
    }
  }

  #stateEvent(): Extract<RunEventBody, { readonly type: 'write_session' }> {
    const { metadata, summary, control } = this.#session;
    return {
      type: 'write_session',
      sessionId: metadata.session_id,
      status: stateNameOf(control),
      targetFile: metadata.target_file,
      operation: metadata.operation,
      bytes: summary.bytes,
      lines: summary.lineFeeds + (summary.openLineLength > 0 ? 1 : 0),
      durableBytes: Math.min(this.#durableBytes, summary.bytes),
      ...(control.kind === 'needs_corrections'
        ? { corrections: correctionsOf(this.#session) }
        : {}),
    };
  }

  /** Tells a change of status once; the final ones carry more and are told when the session ends. */
  #tellState(): void {
    const name = stateNameOf(this.#session.control);
    if (name === this.#toldState) return;
    this.#toldState = name;
    if (isOpen(name)) this.#outbox.push(this.#stateEvent());
  }

  #notice(message: string): void {
    this.#outbox.push({ type: 'chunk', content: `${message}\n`, source: 'notice' });
  }

  #trace(
    type: string,
    details: { readonly [key: string]: string | number | boolean | null },
  ): void {
    const { trace, handle, projectId, requestId } = this.#options;
    trace.record({
      type: `write_session_${type}`,
      source: 'write-session',
      projectId,
      requestId,
      sessionId: handle.id,
      details,
    });
  }
}

/** What a round asks about, without the text around it. */
function correctionsOf(session: WriteSession): RunCorrections {
  const { invalidPlaces, repair } = session;
  return {
    attempt: (repair?.rounds.length ?? 0) + 1,
    max_attempts: MAX_CORRECTION_ROUNDS,
    invalid_found: repair?.found ?? 0,
    places: invalidPlaces.map(({ context: _context, ...place }) => place),
  };
}

/** What is put into the model's mouth: never white space at its end, which providers refuse. */
function prefillOf(opening: string | null, adapter: Pick<LlmAdapter, 'limits'>): string | null {
  if (adapter.limits?.prefill !== true) return null;
  const text = opening?.trimEnd() ?? '';
  return text === '' ? null : text;
}

import { DONE_MARKER, isBlankText } from '@orion/contracts';
import type { Seam } from '@orion/contracts';

import type { ControlEffect, ControlEvent, Transition } from './control.ts';
import { FINALIZE_RETRY_MS, stateNameOf } from './control.ts';
import { finalize } from './finishing.ts';
import { choicesOf, questionPrompt } from './questions/questions.ts';
import { isContent } from './session.ts';
import type {
  Expectation,
  PromptReason,
  SessionEffect,
  SessionStep,
  WriteSession,
} from './session.ts';
import { chooseAnchor } from './text/seams/anchor.ts';
import { appendToSummary, createSummary } from './text/content-summary.ts';
import { utf8Length } from './text/lines.ts';
import { innerDoneOf } from './text/markers/marker-reader.ts';
import { endQuestion, mergedEnds, mergedLines } from './text/markers/inner-done.ts';
import type { InnerDone } from './text/markers/inner-done.ts';
import {
  anewPrompt,
  askedAgainPrompt,
  bridgePrompt,
  continuationPrompt,
  correctionsPrompt,
  emptyPrompt,
  idlePrompt,
  nothingSavedPrompt,
  quotedText,
  reaskPrompt,
  recoveryPrompt,
} from './text/prompts.ts';
import { transition } from './transition.ts';
import { refusalText, tooLargeText } from './wording.ts';

/** How long a session without a usable disk waits before it tries the disk again, in milliseconds. */
const SAVE_RETRY_MS = 30_000;

/**
 * One call of `advance`: the session as it changes and the effects so far. Lives only within that call, so that
 * the readers of text and the state table can both add to it in order.
 */
export class Step {
  session: WriteSession;
  readonly effects: SessionEffect[] = [];

  constructor(session: WriteSession) {
    this.session = session;
  }

  result(): SessionStep {
    return { session: this.session, effects: this.effects };
  }

  update(change: Partial<WriteSession>): void {
    this.session = { ...this.session, ...change };
  }

  emit(...effects: readonly SessionEffect[]): void {
    this.effects.push(...effects);
  }

  /** Runs an event through the state table and turns what it asks for into effects with their data. */
  dispatch(event: ControlEvent): Transition {
    const { control, metadata, settings } = this.session;
    const outcome = transition(control, event, {
      operation: metadata.operation,
      idleMs: settings.idleMs,
      maxIdlePrompts: settings.maxIdlePrompts,
      unasked: endQuestion(this.session.unaskedEnds),
    });
    switch (outcome.kind) {
      case 'moved': {
        const before = stateNameOf(control);
        this.update({ control: outcome.state });
        // A person may have the text written before the model has ended it.
        const begins = outcome.state.kind === 'finalizing' && control.kind !== 'finalizing';
        if (begins && event.type !== 'finalize_command') this.update({ hasEnded: true });
        for (const effect of outcome.effects) this.#perform(effect, event);
        const after = stateNameOf(outcome.state);
        if (before !== after) {
          this.emit({
            type: 'trace',
            event: 'session_state',
            details: { from: before, to: after, on: event.type },
          });
        }
        break;
      }
      case 'ignored':
        this.emit({
          type: 'trace',
          event: 'ignored',
          details: { state: stateNameOf(control), on: event.type },
        });
        break;
      case 'refused':
        this.emit({
          type: 'refuse',
          code: outcome.code,
          message: refusalText(outcome.code, this.session),
        });
        break;
      case 'invalid':
        throw new Error(`InvalidTransition: ${event.type} in ${stateNameOf(control)}`);
      case 'ordinary':
      case 'queued':
        break;
      default:
        outcome satisfies never;
    }
    return outcome;
  }

  /** Appends content, within the size limit; returns false when the limit cut it. */
  append(text: string): boolean {
    if (text === '') return true;
    const { summary, settings, leadingBlanks } = this.session;
    if (
      !summary.hasNonBlankLine &&
      summary.bytes === 0 &&
      leadingBlanks === '' &&
      isBlankText(text)
    ) {
      this.update({ leadingBlanks: text });
      this.dispatch({ type: 'blank_text' });
      return true;
    }
    let content = text;
    if (leadingBlanks !== '') {
      if (isBlankText(text)) {
        this.update({ leadingBlanks: leadingBlanks + text });
        return true;
      }
      content = leadingBlanks + text;
      this.update({ leadingBlanks: '' });
    }
    const room = settings.maxBytes - summary.bytes;
    const fits = content.length * 3 <= room || utf8Length(content) <= room;
    if (!fits) content = longestPrefix(content, room);
    if (content !== '') this.#appendContent(content);
    if (!fits) {
      this.emit({ type: 'stop_message' });
      this.leaveMessage();
      this.update({ message: tooLargeText(this.session) });
      this.dispatch({ type: 'limit_exceeded' });
    }
    return fits;
  }

  #appendContent(content: string): void {
    const before = this.session.summary;
    const summary = appendToSummary(before, content);
    const length = summary.bytes - before.bytes;
    this.update({ summary });
    const { reading } = this.session;
    const isThinking = reading.kind === 'direct' && reading.thinking !== null;
    this.emit({ type: 'append', text: content, offset: before.bytes, length, isThinking });
    this.dispatch({ type: isBlankText(content) ? 'blank_text' : 'text' });
    const unsavedLines = this.session.unsavedLines + summary.lineFeeds - before.lineFeeds;
    this.update({ unsavedLines });
    if (unsavedLines >= this.session.settings.saveLines) {
      this.dispatch({ type: 'save_due' });
    } else if (!this.session.saveTimerRuns) {
      this.update({ saveTimerRuns: true });
      this.emit({ type: 'start_timer', timer: 'save', milliseconds: this.session.settings.saveMs });
    }
  }

  /** The message is left before its end: what it has made content stays, and what is known of its DONE lines. */
  leaveMessage(): void {
    const { reading } = this.session;
    if (reading.kind === 'direct') this.noteInnerDone(innerDoneOf(reading.marker));
    this.update({
      reading: { kind: 'none' },
      cutOff: this.session.cutOff || isContent(reading),
    });
  }

  noteInnerDone({ lines, chatEnds }: InnerDone): void {
    const { innerDoneLines, unaskedEnds } = this.session;
    this.update({
      innerDoneLines: mergedLines(innerDoneLines, lines),
      unaskedEnds: mergedEnds(chatEnds, unaskedEnds),
    });
  }

  /** Whether the file ends at one of the DONE lines so far is asked, answered, or answered by what came after. */
  settleEnds(): void {
    this.update({ unaskedEnds: [], endsSettled: this.session.summary.bytes });
  }

  send(reason: PromptReason, prompt: string, expecting: Expectation, opening?: string): void {
    this.update({ expecting });
    this.emit({
      type: 'send_prompt',
      prompt,
      reason,
      ...(opening === undefined ? {} : { opening }),
    });
  }

  #perform(effect: ControlEffect, event: ControlEvent): void {
    const { metadata, settings } = this.session;
    const target = metadata.target_file;
    const marker = markerOf(this.session);
    const joining = lazyJoining(this.session);
    switch (effect) {
      case 'save':
      case 'write_state':
        if (this.session.saveTimerRuns) this.emit({ type: 'cancel_timer', timer: 'save' });
        this.update({ unsavedLines: 0, saveTimerRuns: false });
        this.emit({ type: 'save' });
        return;
      case 'start_idle_timer':
        this.update({ idleTimerRuns: true });
        this.emit({ type: 'start_timer', timer: 'idle', milliseconds: settings.idleMs });
        return;
      case 'cancel_idle_timer':
        if (this.session.idleTimerRuns) {
          this.update({ idleTimerRuns: false });
          this.emit({ type: 'cancel_timer', timer: 'idle' });
        }
        return;
      case 'resend': {
        const { control } = this.session;
        this.emit({
          type: 'resend',
          attempt: control.kind === 'awaiting_content' ? control.retries : 1,
        });
        return;
      }
      case 'ask_idle':
        if (this.session.control.kind === 'awaiting_content') {
          this.send(
            'nothing_saved',
            nothingSavedPrompt({ target, operation: metadata.operation, marker }),
            {
              kind: 'content',
            },
          );
        } else {
          this.send('idle', idlePrompt(joining()), { kind: 'reply', recovery: false });
        }
        return;
      case 'ask_empty':
        this.send('empty', emptyPrompt({ target, operation: metadata.operation, marker }), {
          kind: 'content',
        });
        return;
      case 'ask_continuation':
        this.send(
          'continuation',
          continuationPrompt(joining()),
          { kind: 'continuation', asks: 0, recovery: false },
          quotedText(joining().anchor),
        );
        return;
      case 'ask_again': {
        const asks =
          this.session.expecting.kind === 'continuation' ? this.session.expecting.asks + 1 : 1;
        const recovery = isRecovery(this.session.expecting);
        this.send('ask_again', reaskPrompt(joining()), { kind: 'continuation', asks, recovery });
        return;
      }
      case 'ask_bridge': {
        const { expecting } = this.session;
        if (expecting.kind !== 'bridge')
          throw new Error('a bridge was asked for without a part two');
        this.send(
          'bridge',
          bridgePrompt({ ...joining(), headLines: expecting.headLines }),
          expecting,
        );
        return;
      }
      case 'ask_question':
        this.#ask();
        return;
      case 'ask_recovery':
        if (this.session.control.kind === 'awaiting_content') {
          this.send(
            'recovery',
            `The session for ${target} was interrupted.\n${nothingSavedPrompt({ target, operation: metadata.operation, marker })}`,
            { kind: 'content' },
          );
        } else {
          this.send('recovery', recoveryPrompt(joining()), { kind: 'reply', recovery: true });
        }
        return;
      case 'accept_unverified':
        this.emit({ type: 'replay_held' });
        return;
      case 'finalize':
        finalize(this, event.type === 'end_marker' && event.messageOpen);
        return;
      case 'retry_finalize':
        this.emit({
          type: 'start_timer',
          timer: 'finalize_retry',
          milliseconds: FINALIZE_RETRY_MS,
        });
        return;
      case 'pause': {
        const { control } = this.session;
        if (control.kind === 'paused') this.emit({ type: 'pause', code: control.code });
        return;
      }
      case 'release':
        this.emit({ type: 'release' });
        return;
      case 'remove_directory':
        this.emit({ type: 'remove' });
        return;
      case 'move_to_attic':
        this.emit({ type: 'discard' });
        return;
      case 'degrade':
        this.emit({ type: 'start_timer', timer: 'save_retry', milliseconds: SAVE_RETRY_MS });
        return;
      case 'warn_lost':
        this.emit({
          type: 'warn',
          message: `Another process has taken over the write session for ${target}; nothing more is written here.`,
        });
        return;
      // Carried out by the reader that dispatched the event, or by the driver around the session.
      case 'take_lease':
      case 'buffer':
      case 'hold':
      case 'chat':
      case 'parse_reply':
      case 'append_reply':
      case 'keep_all':
      case 'leave_out':
      case 'strip_fence':
      case 'end_before':
      case 'drop_lead':
      case 'start_over':
      case 'seam_reader':
      case 'receipt':
      case 'park':
      case 'exit':
        return;
      case 'ask_anew':
        this.send('anew', anewPrompt({ ...metadata, target, marker }), { kind: 'content' });
        return;
      case 'ask_corrections':
        this.#askCorrections();
        return;
      case 'safe_replacement': {
        const { repair } = this.session;
        if (repair === null) throw new Error('nothing invalid was found that could be replaced');
        this.update({ repair: { ...repair, replace: true } });
        return;
      }
      default:
        effect satisfies never;
    }
  }

  /** What was saved is none of the file; what outside of it was set aside before stays there. */
  startOver(): void {
    const { contentStart, contentEnd } = this.session;
    this.emit(
      { type: 'rewind', toOffset: 0 },
      { type: 'start_over', start: contentStart, end: contentEnd },
    );
    this.update({
      summary: createSummary(),
      leadingBlanks: '',
      thinking: 'none',
      blankLinesDropped: 0,
      seams: [],
      innerDoneLines: [],
      unaskedEnds: [],
      endsSettled: 0,
      contentStart: 0,
      contentEnd: null,
      fenceStripped: false,
      fenceAsked: false,
      leadAsked: false,
      leadDropped: false,
      unaskedNearMiss: null,
      fileSummary: null,
      cutOff: false,
      endedByDone: false,
      repair: null,
      invalidPlaces: [],
      hasEnded: false,
      unsavedLines: 0,
    });
  }

  #askCorrections(): void {
    const { control, metadata, invalidPlaces, repair } = this.session;
    if (control.kind !== 'needs_corrections')
      throw new Error('corrections were asked for outside their state');
    this.emit({
      type: 'trace',
      event: 'corrections_requested',
      details: {
        attempt: control.round + 1,
        places: invalidPlaces.length,
        invalid_found: repair?.found ?? 0,
      },
    });
    const prompt = correctionsPrompt({ target: metadata.target_file, places: invalidPlaces });
    this.send('corrections', prompt, { kind: 'corrections' });
  }

  #ask(): void {
    const { control } = this.session;
    if (control.kind !== 'awaiting_answer')
      throw new Error('a question was asked outside its state');
    const { metadata, summary } = this.session;
    const marker = markerOf(this.session);
    const prompt = questionPrompt(control.question, {
      target: metadata.target_file,
      operation: metadata.operation,
      anchor: () => chooseAnchor(summary),
      tag: metadata.session_id.slice(0, 4),
      marker,
    });
    const choices = choicesOf(control.question).map(({ reply }) =>
      reply === DONE_MARKER ? marker : reply,
    );
    this.send('question', control.again ? askedAgainPrompt(choices, prompt) : prompt, {
      kind: 'answer',
    });
  }

  addSeam(
    status: Seam['status'],
    via: Seam['via'],
    counts: { readonly linesDropped?: number; readonly textSetAside?: number } = {},
  ): void {
    const seam: Seam = {
      line: this.session.summary.lineFeeds + 1,
      status,
      via,
      lines_dropped: counts.linesDropped ?? 0,
      text_set_aside: counts.textSetAside ?? 0,
      conversion: 'none',
    };
    this.update({ seams: [...this.session.seams, seam] });
  }
}

/** The line that ends the text, as the model is told of it. */
function markerOf({ settings, metadata }: WriteSession): string {
  return settings.strict ? metadata.end_marker : DONE_MARKER;
}

/** Whether the file is being recovered, which its seam then says. */
export function isRecovery(expecting: Expectation): boolean {
  return 'recovery' in expecting && expecting.recovery;
}

/** What every prompt about a join quotes; the anchor is searched only when a prompt is made. */
function lazyJoining(session: WriteSession): () => {
  readonly target: string;
  readonly savedLines: number;
  readonly anchor: ReturnType<typeof chooseAnchor>;
  readonly tag: string;
  readonly marker: string;
} {
  return () => ({
    target: session.metadata.target_file,
    savedLines: session.summary.lineFeeds - session.summary.lineFeedsBefore,
    anchor: chooseAnchor(session.summary),
    tag: session.metadata.session_id.slice(0, 4),
    marker: markerOf(session),
  });
}

/** The longest beginning of `text` that has at most `bytes` bytes and does not cut a code point. */
function longestPrefix(text: string, bytes: number): string {
  let used = 0;
  let end = 0;
  for (const character of text) {
    const length = utf8Length(character);
    if (used + length > bytes) break;
    used += length;
    end += character.length;
  }
  return text.slice(0, end);
}

import { isBlankText } from '@orion/contracts';
import type { Seam } from '@orion/contracts';

import type { ControlEffect, ControlEvent, RefusalCode } from './control.ts';
import { stateNameOf } from './control.ts';
import { endingQuestion } from './questions/end.ts';
import { isContent, NOT_READING } from './session.ts';
import type { SessionEffect, SessionStep, WriteSession } from './session.ts';
import { appendToSummary } from './text/content-summary.ts';
import { innerDoneOf } from './text/markers/marker-reader.ts';
import { mergedEnds, mergedLines } from './text/markers/inner-done.ts';
import type { InnerDone } from './text/markers/inner-done.ts';
import { transition } from './transition.ts';
import { refusalText, tooLargeText } from './wording.ts';

/** One handler for each type; a missing one is a type error. */
export type Handlers<Each extends { readonly type: string }> = {
  readonly [Type in Each['type']]: (
    step: Step,
    each: Extract<Each, { readonly type: Type }>,
  ) => void;
};

/** For the effects of the state table. */
export type EffectHandlers = Handlers<ControlEffect>;

export function handle<Each extends { readonly type: string }>(
  handlers: Handlers<Each>,
  step: Step,
  each: Each,
): void {
  const type: Each['type'] = each.type;
  // The compiler cannot see that a value and the handler of its type belong together.
  const handler = handlers[type] as (step: Step, each: Each) => void;
  handler(step, each);
}

/**
 * One call of `advance`: the session as it changes, and the effects so far. It lives only during that call, so that
 * text readers and the state table can both add to it in order.
 */
export class Step {
  session: WriteSession;
  readonly effects: SessionEffect[] = [];
  readonly #handlers: EffectHandlers;

  constructor(session: WriteSession, handlers: EffectHandlers) {
    this.session = session;
    this.#handlers = handlers;
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

  /** Looks the event up in the state table and runs the handlers of the resulting effects. */
  dispatch(event: ControlEvent): void {
    const { control, metadata, settings } = this.session;
    const before = stateNameOf(control);
    const outcome = transition(control, event, {
      operation: metadata.operation,
      idleMs: settings.idleMs,
      maxIdlePrompts: settings.maxIdlePrompts,
      unasked: endingQuestion(this.session.unaskedEnds),
    });
    switch (outcome.kind) {
      case 'moved': {
        this.update({ control: outcome.state });
        // A person can have the text written before the model has ended it.
        const begins = outcome.state.kind === 'finalizing' && control.kind !== 'finalizing';
        if (begins && event.type !== 'finalize_command') this.update({ hasEnded: true });
        for (const effect of outcome.effects) this.perform(effect);
        const after = stateNameOf(outcome.state);
        if (before !== after)
          this.trace('session_state', { from: before, to: after, on: event.type });
        break;
      }
      case 'ignored':
        this.trace('ignored', { state: before, on: event.type });
        break;
      case 'refused':
        this.refuse(outcome.code);
        break;
      case 'invalid':
        throw new Error(`InvalidTransition: ${event.type} in ${before}`);
      case 'ordinary':
        if ('text' in event) this.emit({ type: 'chat', text: event.text });
        break;
      case 'queued':
        break;
      default:
        outcome satisfies never;
    }
  }

  refuse(code: RefusalCode): void {
    this.emit({ type: 'refuse', code, message: refusalText(code, this.session) });
  }

  perform(effect: ControlEffect): void {
    handle(this.#handlers, this, effect);
  }

  trace(
    event: string,
    details: Extract<SessionEffect, { readonly type: 'trace' }>['details'] = {},
  ): void {
    this.emit({ type: 'trace', event, details });
  }

  /** Keeps text beside the file that is not part of it. */
  setAside(text: string): void {
    if (!isBlankText(text)) this.emit({ type: 'set_aside', text });
  }

  /** Adds content within the size limit; returns false if the limit cut it. */
  append(text: string): boolean {
    if (text === '') return true;
    const { summary, leadingBlanks } = this.session;
    let content = leadingBlanks + text;
    if (summary.bytes === 0 && isBlankText(text)) {
      this.update({ leadingBlanks: content });
      return true;
    }
    if (leadingBlanks !== '') this.update({ leadingBlanks: '' });
    const fits = this.hasRoomFor(content);
    if (!fits) content = longestPrefix(content, this.session.settings.maxBytes - summary.bytes);
    if (content !== '') {
      this.dispatch({ type: isBlankText(content) ? 'blank_text' : 'text', text: content });
      this.#noteUnsaved(this.session.summary.lineFeeds - summary.lineFeeds);
    }
    if (!fits) this.exceedLimit();
    return fits;
  }

  hasRoomFor(text: string): boolean {
    const room = this.session.settings.maxBytes - this.session.summary.bytes;
    return text.length * 3 <= room || Buffer.byteLength(text) <= room;
  }

  exceedLimit(): void {
    this.emit({ type: 'stop_message' });
    this.leaveMessage();
    this.update({ message: tooLargeText(this.session) });
    this.dispatch({ type: 'limit_exceeded' });
  }

  /** Makes the text content. */
  take(text: string): void {
    const { summary: before, reading } = this.session;
    const summary = appendToSummary(before, text);
    this.update({ summary });
    this.emit({
      type: 'append',
      text,
      offset: before.bytes,
      length: summary.bytes - before.bytes,
      isThinking: reading.kind === 'direct' && reading.thinking !== null,
    });
  }

  #noteUnsaved(lines: number): void {
    const { settings, saveTimerRuns } = this.session;
    const unsavedLines = this.session.unsavedLines + lines;
    this.update({ unsavedLines });
    if (unsavedLines >= settings.saveLines) {
      this.dispatch({ type: 'save_due' });
    } else if (!saveTimerRuns) {
      this.update({ saveTimerRuns: true });
      this.emit({ type: 'start_timer', timer: 'save', milliseconds: settings.saveMs });
    }
  }

  /** Leaves the message before its end; its content stays, and so does what is known about its DONE lines. */
  leaveMessage(): void {
    const { reading } = this.session;
    if (reading.kind === 'direct') this.noteInnerDone(innerDoneOf(reading.marker));
    this.update({
      reading: NOT_READING,
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

  /** No DONE line so far needs a question any more: it was asked, or what followed has answered it. */
  settleEnds(): void {
    this.update({ unaskedEnds: [], endsSettled: this.session.summary.bytes });
  }

  /** Records that the next text is joined to the saved one. */
  addSeam({
    status,
    via,
    lines_dropped = 0,
    text_set_aside = 0,
    conversion = 'none',
  }: Pick<Seam, 'status' | 'via'> & Partial<Seam>): Seam {
    const line = this.session.summary.lineFeeds + 1;
    const seam: Seam = { line, status, via, lines_dropped, text_set_aside, conversion };
    this.update({ seams: [...this.session.seams, seam] });
    return seam;
  }
}

/** Returns false if it was not running. */
export function stopIdleTimer(step: Step): boolean {
  const { reading } = step.session;
  if (reading.kind !== 'none' || !reading.idleTimerRuns) return false;
  step.update({ reading: { ...reading, idleTimerRuns: false } });
  return true;
}

/** The longest prefix of `text` with at most `bytes` bytes that does not split a code point. */
function longestPrefix(text: string, bytes: number): string {
  const room = new Uint8Array(Math.min(bytes, 3 * text.length));
  return text.slice(0, new TextEncoder().encodeInto(text, room).read);
}

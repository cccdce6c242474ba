import type { SessionQuestion } from '@orion/contracts';

import type { AnswerEffect } from './questions/question-row.ts';
import { fileEndOf, fileSummaryOf, lineEndingOf, NOT_READING, textOf } from './session.ts';
import type { Step } from './step.ts';
import { createSummary } from './text/content-summary.ts';
import { decideFences } from './text/fence-decision.ts';
import { findLead } from './text/leads.ts';
import { endQuestion } from './text/markers/inner-done.ts';

/**
 * What is asked when the model has said that its text is complete, and which part of that text is the file.
 *
 * Invariants
 * Z1  The questions come in a fixed order, each once: where the file ends, its last words, its fences, its lead.
 *     Left-out text is asked about by the commit, which alone knows the old file.
 * Z2  Each is decided on exactly what would be written: where a start or an end was cut off, on what is left.
 * Z3  Nothing is asked where a person has what is saved written, and nothing of a text whose repair has begun: its
 *     offsets are those of the file as it was decided on then. A person's answer to one question answers no other.
 */
export function finalize(step: Step, messageOpen: boolean): void {
  const { summary, byHand, repair } = step.session;
  const isDecided = byHand === 'decided';
  if (summary.bytes > 0) {
    if (!isDecided && repair === null && (asksEnd(step) || asksLastWords(step))) return;
    if (fileSummaryOf(step.session) === null) {
      const { contentStart, contentEnd } = step.session;
      step.emit({ type: 'examine', start: contentStart, end: contentEnd ?? summary.bytes });
      return;
    }
    if (repair === null) {
      const decided = decideFence(step, messageOpen);
      if (decided === 'asked') return;
      if (decided === 'stripped') {
        finalize(step, messageOpen);
        return;
      }
      if (!isDecided && asksLead(step, messageOpen)) return;
    }
  }
  emitFinalize(step);
}

/** Nothing is written before it is answered: by the model, or by the person who has it written. */
export function ask(step: Step, question: SessionQuestion, messageOpen: boolean): void {
  const attended = step.session.byHand === 'no';
  step.dispatch({ type: 'question_due', question, messageOpen, attended });
}

export function emitFinalize(step: Step): void {
  const { session } = step;
  step.emit({
    type: 'finalize',
    start: session.contentStart,
    end: fileEndOf(session),
    lineEnding: lineEndingOf(session),
  });
}

function asksEnd(step: Step): boolean {
  const question = endQuestion(step.session.unaskedEnds);
  if (question === null || step.session.contentEnd !== null) return false;
  step.settleEnds();
  ask(step, question, false);
  return true;
}

function asksLastWords(step: Step): boolean {
  const { unaskedNearMiss } = step.session;
  if (unaskedNearMiss === null) return false;
  step.update({ unaskedNearMiss: null });
  ask(step, { kind: 'near_miss', ...unaskedNearMiss, heldBack: false }, false);
  return true;
}

function decideFence(step: Step, messageOpen: boolean): 'asked' | 'stripped' | 'kept' {
  const { session } = step;
  const summary = fileSummaryOf(session);
  if (summary === null || session.fenceStripped) return 'kept';
  const { kind, settings, metadata } = session;
  const decision = decideFences(summary, kind, settings.stripFence, metadata.target_file);
  switch (decision.kind) {
    case 'keep':
      return 'kept';
    case 'strip':
      stripFence(step, decision.contentStart, decision.contentEnd);
      // What the file is must be written down before it is written: a kill behind that leaves nothing else to tell.
      step.emit({ type: 'save' });
      return 'stripped';
    case 'question': {
      if (session.fenceAsked) return 'kept';
      step.update({ fenceAsked: true });
      ask(step, { ...decision, kind: 'fence' }, messageOpen);
      return 'asked';
    }
    default:
      return decision satisfies never;
  }
}

function asksLead(step: Step, messageOpen: boolean): boolean {
  const { kind, metadata, leadAsked } = step.session;
  const summary = fileSummaryOf(step.session);
  const isWholeFile = metadata.operation === 'create' || metadata.operation === 'overwrite';
  if (summary === null || leadAsked || !isWholeFile) return false;
  const lead = findLead(summary, { kind, target: metadata.target_file });
  if (lead === null) return false;
  step.update({ leadAsked: true });
  ask(step, { kind: 'lead', text: lead.text, contentStart: lead.contentStart }, messageOpen);
  return true;
}

/** Sets what of the content is the file, as the answer to a question says; moving on is the state table's. */
export function settle(step: Step, effect: AnswerEffect): void {
  switch (effect.type) {
    case 'keep_all':
      if (effect.doneLines.length > 0) {
        step.settleEnds();
        step.noteInnerDone({ lines: effect.doneLines, chatEnds: [] });
      }
      step.update({ unaskedNearMiss: effect.nearMiss });
      if (effect.heldText === null) return;
      // Only the answer says that this text follows what is saved.
      step.addSeam('unverified', 'tail');
      step.emit({ type: 'discard_held' });
      step.take(effect.heldText);
      return;
    case 'end_before':
      step.settleEnds();
      step.noteInnerDone({ lines: effect.doneLines, chatEnds: [] });
      endContentAt(step, effect.contentEnd, true);
      return;
    case 'leave_out':
      if (effect.heldText === null) endContentAt(step, effect.contentEnd, false);
      else step.emit({ type: 'discard_held' }, { type: 'set_aside', text: effect.heldText });
      return;
    case 'strip_fence':
      stripFence(step, effect.contentStart, effect.contentEnd);
      return;
    case 'drop_lead':
      step.update({ leadDropped: true });
      step.update({ contentStart: effect.contentStart, fileSummary: null });
      return;
    case 'start_over':
      startOver(step);
      return;
    default:
      effect satisfies never;
  }
}

function stripFence(step: Step, contentStart: number, contentEnd: number): void {
  step.update({ fenceStripped: true, contentStart, contentEnd, fileSummary: null });
}

/** Everything from `end` on turned out not to be the file; `show`: it is for the person. */
function endContentAt(step: Step, end: number, show: boolean): void {
  const { summary } = step.session;
  step.update({ contentEnd: end, fileSummary: null });
  if (end === summary.bytes) return;
  if (show) step.emit({ type: 'show', start: end, end: summary.bytes });
  step.emit({ type: 'rewind', toOffset: end });
}

/** What was saved is none of the file. */
function startOver(step: Step): void {
  step.emit({ type: 'rewind', toOffset: 0 }, { type: 'start_over' });
  step.update({ ...textOf(createSummary()), reading: NOT_READING });
}

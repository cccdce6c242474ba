import type { SessionQuestion } from '@orion/contracts';

import { endingQuestion } from './questions/end.ts';
import type { AnswerEffect, QuestionOf } from './questions/question-row.ts';
import {
  fileEndOf,
  fileSummaryOf,
  isWholeFile,
  lineEndingOf,
  NOT_READING,
  textOf,
} from './session.ts';
import type { EffectHandlers, Step } from './step.ts';
import { createSummary } from './text/content-summary.ts';
import type { ContentSummary } from './text/content-summary.ts';
import { decideFences } from './text/fence-decision.ts';
import type { FenceDecision } from './text/fence-decision.ts';
import { findLead } from './text/leads.ts';

/**
 * What the model is asked once it has ended its text, and which part of the text is the file.
 *
 * Invariants
 * Z1  The questions have a fixed order, and each is asked once: where the file ends, its last words, its fences, its
 *     lead. The commit asks about omitted text, as it alone knows the old file.
 * Z2  Each decision is made on exactly what would be written; if a start or an end was cut off, on the rest.
 * Z3  Nothing is asked if a person has the saved text written as it is, if a program has uploaded it, or once the repair has begun, whose offsets
 *     depend on which text is the file. A person's answer to one question answers no other.
 */
export function finalize(step: Step, messageOpen: boolean): void {
  const { summary, contentStart, contentEnd, byHand, repair } = step.session;
  const mayAsk = byHand !== 'decided' && byHand !== 'uploaded' && repair === null;
  const ending = mayAsk ? unaskedEnding(step) : null;
  if (ending !== null) {
    ask(step, ending, messageOpen);
    return;
  }
  const file = fileSummaryOf(step.session);
  if (file === null) {
    step.emit({ type: 'examine', start: contentStart, end: contentEnd ?? summary.bytes });
    return;
  }
  if (repair === null) {
    const fence = unsettledFence(step, file);
    if (fence.kind === 'strip') {
      stripFence(step, fence);
      // Saved before the file is written: after a kill, only the record shows which part of the text is the file.
      step.emit({ type: 'save' });
      finalize(step, messageOpen);
      return;
    }
    const lead = mayAsk && fence.kind === 'keep' ? unaskedLead(step, file) : null;
    const question = fence.kind === 'fence' ? fence : lead;
    if (question !== null) {
      ask(step, question, messageOpen);
      return;
    }
  }
  emitFinalize(step);
}

/** Nothing is written until the model answers, or the person who has the file written. */
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

function unaskedEnding(step: Step): SessionQuestion | null {
  const { unaskedEnds, unaskedNearMiss, contentEnd } = step.session;
  const question = endingQuestion(contentEnd === null ? unaskedEnds : [], unaskedNearMiss);
  if (question !== null) step.settleEnds();
  step.update({ unaskedNearMiss: null });
  return question;
}

function unsettledFence(
  step: Step,
  file: ContentSummary,
): Exclude<FenceDecision, { kind: 'question' }> | QuestionOf<'fence'> {
  const { kind, settings, metadata, fenceStripped, fenceAsked } = step.session;
  if (fenceStripped) return { kind: 'keep' };
  const decision = decideFences(file, kind, settings.stripFence, metadata.target_file);
  if (decision.kind !== 'question') return decision;
  if (fenceAsked) return { kind: 'keep' };
  step.update({ fenceAsked: true });
  return { ...decision, kind: 'fence' };
}

function unaskedLead(step: Step, file: ContentSummary): SessionQuestion | null {
  const { kind, metadata, leadAsked } = step.session;
  if (leadAsked || !isWholeFile(metadata)) return null;
  const lead =
    unopenedThinking(step, file) ?? findLead(file, { kind, target: metadata.target_file });
  if (lead === null) return null;
  step.update({ leadAsked: true });
  return { kind: 'lead', text: lead.text, contentStart: lead.contentStart };
}

/** Reasoning whose opening tag the template of the model contains, so that only the closing one is in the text. */
function unopenedThinking(
  { session }: Step,
  { fences }: ContentSummary,
): { readonly text: string; readonly contentStart: number } | null {
  const [{ text: first } = { text: '' }] = fences.firstLines;
  const { behindThinking: behind } = fences;
  if (!session.thinkTags || behind === null) return null;
  const text = first.startsWith(behind.text) ? behind.text : `${first}\n${behind.text}`;
  return { text, contentStart: behind.start };
}

/** Applies an answer to the text: which part of it is the file. The state table decides what follows. */
export const SETTLING: Pick<EffectHandlers, AnswerEffect['type']> = {
  keep_all: (step, { doneLines, nearMiss, heldText }) => {
    if (doneLines.length > 0) {
      step.settleEnds();
      step.noteInnerDone({ lines: doneLines, chatEnds: [] });
    }
    step.update({ unaskedNearMiss: nearMiss });
    if (heldText === null) return;
    // Only the answer proves that this text follows the saved one.
    step.addSeam({ status: 'unverified', via: 'tail' });
    step.emit({ type: 'discard_held' });
    step.take(heldText);
  },
  end_before: (step, { doneLines, contentEnd }) => {
    step.settleEnds();
    step.noteInnerDone({ lines: doneLines, chatEnds: [] });
    endContentAt(step, contentEnd, true);
  },
  leave_out: (step, { contentEnd, heldText }) => {
    if (heldText === null) endContentAt(step, contentEnd, false);
    else step.emit({ type: 'discard_held' }, { type: 'set_aside', text: heldText });
  },
  strip_fence: stripFence,
  drop_lead: (step, { contentStart }) =>
    step.update({ leadDropped: true, contentStart, fileSummary: null }),
  /** Nothing that was saved is part of the file. */
  start_over: (step) => {
    step.emit({ type: 'rewind', toOffset: 0 }, { type: 'start_over' });
    step.update({ ...textOf(createSummary()), reading: NOT_READING });
  },
};

type FilePart = { readonly contentStart: number; readonly contentEnd: number };

function stripFence(step: Step, { contentStart, contentEnd }: FilePart): void {
  step.update({ fenceStripped: true, contentStart, contentEnd, fileSummary: null });
}

/** Nothing from `end` on is part of the file; `show`: it is shown to the person. */
function endContentAt(step: Step, end: number, show: boolean): void {
  const { summary } = step.session;
  step.update({ contentEnd: end, fileSummary: null });
  if (end === summary.bytes) return;
  if (show) step.emit({ type: 'show', start: end, end: summary.bytes });
  step.emit({ type: 'rewind', toOffset: end });
}

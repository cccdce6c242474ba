import { emptyReply } from '../validation/correction-reply.ts';
import { isWaiting } from './control.ts';
import type { MessageEnd } from './control.ts';
import { NOT_READING } from './session.ts';
import type { Reading } from './session.ts';
import { stopIdleTimer } from './step.ts';
import type { Step } from './step.ts';
import { endBridgeReply } from './reading/bridge-reading.ts';
import { endConfirmation, readConfirmation } from './reading/confirmation-reading.ts';
import { endWithoutText } from './reading/cut-off.ts';
import { directReading, endDirect, readDirect } from './reading/direct-reading.ts';
import { answerReader } from './reading/offered.ts';
import { againReader } from './reading/starting-over.ts';
import { endUndecided, readUndecided, undecidedReading } from './reading/undecided-reading.ts';
import { chooseAnchor } from './text/seams/anchor.ts';
import { createBridgeReader, readBridge } from './text/seams/bridge.ts';
import { quotedText } from './text/prompts.ts';
import { createThinkReader, endThink, readThink } from './text/think-block.ts';

/** A message begins: how it is read depends on what it is a reply to and on what is saved. */
export function startMessage(step: Step, prefilled = false): void {
  if (stopIdleTimer(step)) step.emit({ type: 'cancel_timer', timer: 'idle' });
  step.update({ reading: readingOf(step, prefilled) });
  step.update({ skipping: mayThinkAloud(step, prefilled) ? createThinkReader() : null });
}

/** Reasoning before a reply is no part of it (R275); before the file itself it is saved with it. */
function mayThinkAloud(step: Step, prefilled: boolean): boolean {
  const { thinkTags, reading } = step.session;
  if (!thinkTags || prefilled) return false;
  if (reading.kind === 'seam') return !quotedText(reading.anchor).trimStart().startsWith('<think>');
  return reading.kind !== 'direct' && reading.kind !== 'none';
}

function readingOf(step: Step, prefilled: boolean): Reading {
  const { control, summary, kind, metadata } = step.session;
  switch (control.kind) {
    case 'awaiting_content':
      return control.emptyAsked
        ? { kind: 'confirmation', answer: answerReader(step, null) }
        : directReading(step, null, 'none');
    case 'awaiting_more': {
      const { expecting } = control;
      if (expecting.kind === 'continuation') {
        return summary.hasNonBlankLine
          ? undecidedReading(step, { expecting, prefilled, takesDone: !prefilled })
          : directReading(step, null, 'none');
      }
      const { headLines, end } = expecting;
      const anchor = chooseAnchor(summary);
      const endMarker = metadata.end_marker;
      const bridge = createBridgeReader({ kind, endMarker, summary, anchor, headLines });
      return { kind: 'bridge', bridge, end };
    }
    case 'awaiting_answer': {
      const answer = answerReader(step, control.question);
      return control.asked ? { kind: 'answer', answer, again: againReader(step) } : NOT_READING;
    }
    case 'needs_corrections':
      return { kind: 'corrections', reply: emptyReply };
    case 'idle':
    case 'finalizing':
    case 'paused':
    case 'done':
    case 'aborted':
      return NOT_READING;
    default:
      return control satisfies never;
  }
}

export function readText(step: Step, text: string): void {
  const { skipping } = step.session;
  if (skipping === null) {
    readReplyText(step, text);
    return;
  }
  const { reader, block, text: behind } = readThink(skipping, text);
  step.update({ skipping: reader });
  setAsideThinking(step, block);
  readReplyText(step, behind);
}

/** What stands before the file's first line is kept, as everything else there is. */
function setAsideThinking(step: Step, block: string): void {
  if (step.session.reading.kind !== 'confirmation' || block === '') return;
  step.emit({ type: 'set_aside', text: block });
  step.update({ thinking: 'set_aside' });
}

function readReplyText(step: Step, text: string): void {
  if (text === '') return;
  const { reading } = step.session;
  switch (reading.kind) {
    case 'direct':
      readDirect(step, reading, text);
      return;
    case 'seam':
      readUndecided(step, reading, text);
      return;
    case 'bridge':
      step.update({ reading: { ...reading, bridge: readBridge(reading.bridge, text) } });
      return;
    case 'confirmation':
      readConfirmation(step, reading, text);
      return;
    case 'answer':
    case 'again':
    case 'corrections':
      step.dispatch({ type: 'text', text });
      return;
    case 'none':
      step.emit({ type: 'chat', text });
      return;
    default:
      reading satisfies never;
  }
}

export function endMessage(step: Step, end: MessageEnd): void {
  const { skipping } = step.session;
  if (skipping !== null) {
    // What a block was not closed before holds no answer.
    const { block, text } = endThink(skipping);
    step.update({ skipping: null });
    setAsideThinking(step, block);
    readReplyText(step, text);
  }
  const { control, reading } = step.session;
  switch (reading.kind) {
    case 'direct':
      endDirect(step, reading, end, 'message');
      return;
    case 'seam':
      endUndecided(step, reading, end);
      return;
    case 'bridge':
      endBridgeReply(step, reading, end);
      return;
    case 'confirmation':
      endConfirmation(step, reading, end);
      return;
    case 'answer':
    case 'again':
    case 'corrections':
      endStateReply(step, end);
      return;
    case 'none':
      if (isWaiting(control)) endWithoutText(step, end);
      return;
    default:
      reading satisfies never;
  }
}

/** A reply that the state reads, when it has all of it. */
function endStateReply(step: Step, end: MessageEnd): void {
  switch (end.kind) {
    case 'stop':
      step.dispatch({ type: 'message_end_open' });
      return;
    case 'length':
      step.dispatch({ type: 'message_end_length', progress: false });
      return;
    case 'error':
      if (step.session.reading.kind === 'again') step.emit({ type: 'discard_held' });
      endWithoutText(step, end);
      return;
    default:
      end satisfies never;
  }
}

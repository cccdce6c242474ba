import { emptyReply } from '../validation/correction-reply.ts';
import type { MessageEnd } from './session.ts';
import type { Step } from './step.ts';
import { endAgainReply, endReply, readAgainReply, readReply } from './reading/answer-reading.ts';
import { endBridgeReply } from './reading/bridge-reading.ts';
import { endCorrectionReply, readCorrectionText } from './reading/correction-reading.ts';
import { endWithoutText } from './reading/cut-off.ts';
import { directReading, endDirect, readDirect } from './reading/direct-reading.ts';
import { answerReader } from './reading/offered.ts';
import { againReader } from './reading/starting-over.ts';
import { endUndecided, readUndecided, undecidedReading } from './reading/undecided-reading.ts';
import { chooseAnchor } from './text/seams/anchor.ts';
import { createBridgeReader, readBridge } from './text/seams/bridge.ts';
import { quotedText } from './text/prompts.ts';
import { createThinkReader, endThink, readThink } from './text/think-block.ts';

/** A message begins: decides how it is read from what it is a reply to and what is saved. */
export function startMessage(step: Step, prefilled = false): void {
  startReading(step, prefilled);
  step.update({ skipping: mayThinkAloud(step, prefilled) ? createThinkReader() : null });
}

/** Reasoning before a reply is no part of it (R275); before the file itself it is saved with it. */
function mayThinkAloud(step: Step, prefilled: boolean): boolean {
  const { thinkTags, reading } = step.session;
  if (!thinkTags || prefilled) return false;
  if (reading.kind === 'seam') return !quotedText(reading.anchor).trimStart().startsWith('<think>');
  return reading.kind !== 'direct' && reading.kind !== 'none';
}

function startReading(step: Step, prefilled: boolean): void {
  const { control, expecting, summary, kind, metadata } = step.session;
  if (step.session.idleTimerRuns) {
    step.update({ idleTimerRuns: false });
    step.emit({ type: 'cancel_timer', timer: 'idle' });
  }
  switch (control.kind) {
    case 'awaiting_answer':
      step.update({
        reading: control.asked
          ? {
              kind: 'answer',
              answer: answerReader(step, control.question),
              again: againReader(step),
            }
          : { kind: 'none' },
      });
      return;
    case 'needs_corrections':
      step.update({ reading: { kind: 'corrections', reply: emptyReply } });
      return;
    case 'awaiting_content':
      if (!control.emptyAsked) break;
      step.update({ reading: { kind: 'answer', answer: answerReader(step, null), again: null } });
      return;
    case 'awaiting_more':
      break;
    default:
      step.update({ reading: { kind: 'none' } });
      return;
  }
  if (expecting.kind === 'bridge') {
    step.update({
      reading: {
        kind: 'bridge',
        bridge: createBridgeReader({
          kind,
          endMarker: metadata.end_marker,
          summary,
          anchor: chooseAnchor(summary),
          headLines: expecting.headLines,
        }),
      },
    });
    return;
  }
  step.update({
    reading: summary.hasNonBlankLine
      ? undecidedReading(step, { prefilled, takesDone: !prefilled })
      : directReading(step, null, 'none'),
  });
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
  if (step.session.control.kind !== 'awaiting_content' || block === '') return;
  step.emit({ type: 'set_aside', text: block });
  step.update({ thinking: 'set_aside' });
}

function readReplyText(step: Step, text: string): void {
  if (text === '') return;
  const { control, reading } = step.session;
  switch (control.kind) {
    case 'awaiting_answer':
      if (reading.kind === 'answer') readReply(step, reading, text);
      else if (reading.kind === 'again') readAgainReply(step, reading.again, text);
      else step.emit({ type: 'chat', text });
      return;
    case 'needs_corrections':
      readCorrectionText(step, text);
      return;
    case 'awaiting_content':
    case 'awaiting_more':
      break;
    default:
      step.emit({ type: 'chat', text });
      return;
  }
  switch (reading.kind) {
    case 'direct':
      readDirect(step, reading, text);
      return;
    case 'seam':
      readUndecided(step, reading, text);
      return;
    case 'bridge':
      step.update({ reading: { kind: 'bridge', bridge: readBridge(reading.bridge, text) } });
      return;
    case 'answer':
      readReply(step, reading, text);
      return;
    case 'again':
    case 'corrections':
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
  if (step.session.settleTimerRuns) {
    step.update({ settleTimerRuns: false });
    step.emit({ type: 'cancel_timer', timer: 'settle' });
  }
  switch (control.kind) {
    case 'awaiting_answer':
      if (reading.kind === 'answer') endReply(step, reading, end);
      else if (reading.kind === 'again') endAgainReply(step, reading.again, end);
      else step.dispatch({ type: 'message_end_open' });
      return;
    case 'needs_corrections':
      endCorrectionReply(step, end);
      return;
    case 'awaiting_content':
    case 'awaiting_more':
      break;
    default:
      return;
  }
  switch (reading.kind) {
    case 'direct':
      endDirect(step, reading, end, 'message');
      return;
    case 'seam':
      endUndecided(step, reading, end);
      return;
    case 'bridge':
      endBridgeReply(step, end);
      return;
    case 'answer':
      endReply(step, reading, end);
      return;
    case 'none':
    case 'again':
    case 'corrections':
      endWithoutText(step, end);
      return;
    default:
      reading satisfies never;
  }
}

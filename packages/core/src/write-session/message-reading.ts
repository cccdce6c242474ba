import { emptyReply } from '../validation/correction-reply.ts';
import type { MessageEnd } from './session.ts';
import type { Step } from './step.ts';
import { endAnswer, leaveQuestion, readAnswerText } from './reading/answer-reading.ts';
import { endBridgeReply } from './reading/bridge-reading.ts';
import { endCorrectionReply, readCorrectionText } from './reading/correction-reading.ts';
import { endWithoutText } from './reading/cut-off.ts';
import { directReading, endDirect, readDirect } from './reading/direct-reading.ts';
import { endUndecided, readUndecided, undecidedReading } from './reading/undecided-reading.ts';
import { chooseAnchor } from './text/seams/anchor.ts';
import { createBridgeReader, readBridge } from './text/seams/bridge.ts';

/** A message begins: decides how it is read from what it is a reply to and what is saved. */
export function startMessage(step: Step, prefilled = false): void {
  const { control, expecting, summary, kind, metadata } = step.session;
  if (step.session.idleTimerRuns) {
    step.update({ idleTimerRuns: false });
    step.emit({ type: 'cancel_timer', timer: 'idle' });
  }
  switch (control.kind) {
    case 'awaiting_answer':
      step.update({ reading: control.asked ? { kind: 'answer', held: '' } : { kind: 'none' } });
      return;
    case 'needs_corrections':
      step.update({ reading: { kind: 'corrections', reply: emptyReply } });
      return;
    case 'awaiting_content':
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
      ? undecidedReading(step, prefilled)
      : directReading(step, null, 'none'),
  });
}

export function readText(step: Step, text: string): void {
  if (text === '') return;
  const { control, reading } = step.session;
  switch (control.kind) {
    case 'awaiting_answer':
      if (!control.asked || reading.kind !== 'answer') step.emit({ type: 'chat', text });
      else {
        const held = reading.held + text;
        if (readAnswerText(step, held)) return;
        leaveQuestion(step);
        startMessage(step);
        readText(step, held);
      }
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
    case 'corrections':
    case 'none':
      step.emit({ type: 'chat', text });
      return;
    default:
      reading satisfies never;
  }
}

export function endMessage(step: Step, end: MessageEnd): void {
  const { control, reading } = step.session;
  if (step.session.settleTimerRuns) {
    step.update({ settleTimerRuns: false });
    step.emit({ type: 'cancel_timer', timer: 'settle' });
  }
  switch (control.kind) {
    case 'awaiting_answer':
      endQuestion(step, end);
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
    case 'none':
    case 'answer':
    case 'corrections':
      endWithoutText(step, end);
      return;
    default:
      reading satisfies never;
  }
}

function endQuestion(step: Step, end: MessageEnd): void {
  const { reading } = step.session;
  const held = reading.kind === 'answer' ? reading.held : '';
  if (endAnswer(step, held, end)) return;
  leaveQuestion(step);
  startMessage(step);
  readText(step, held);
  endMessage(step, end);
}

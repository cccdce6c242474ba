import { emptyReply } from '../validation/correction-reply.ts';
import { isWaiting } from './control.ts';
import type { MessageEnd } from './control.ts';
import { NOT_READING } from './session.ts';
import type { Reading, ReadingOf } from './session.ts';
import { stopIdleTimer } from './step.ts';
import type { Step } from './step.ts';
import { endBridgeReply, readBridgeReply } from './reading/bridge-reading.ts';
import { endConfirmation, readConfirmation } from './reading/confirmation-reading.ts';
import { endOpen, endWithoutText } from './reading/cut-off.ts';
import { directReading, endDirect, readDirect } from './reading/direct-reading.ts';
import { againReader, answerReader } from './reading/reply-readers.ts';
import { endUndecided, readUndecided, undecidedReading } from './reading/undecided-reading.ts';
import { chooseAnchor } from './text/seams/anchor.ts';
import { createBridgeReader } from './text/seams/bridge.ts';
import { quotedText } from './text/prompts.ts';
import {
  createThinkReader,
  endThink,
  holdsThinkEnd,
  opensThinkBlock,
  readThink,
} from './text/think-block.ts';
import type { ThinkPart } from './text/think-block.ts';

/** A message starts. How it is read depends on what it replies to and on what is saved. */
export function startMessage(step: Step, prefilled = false): void {
  if (stopIdleTimer(step)) step.emit({ type: 'cancel_timer', timer: 'idle' });
  step.update({ reading: readingOf(step, prefilled) });
  step.update({
    skipping: mayThinkAloud(step, prefilled)
      ? createThinkReader(mayBeOpened(step) ? 'template_reply' : 'reply')
      : null,
  });
}

/**
 * A model whose reasoning had an end and no beginning before the file begins each of its messages so. If it has to
 * repeat the closing tag as a saved line, the tag may as well be that line.
 */
function mayBeOpened({ session: { summary, reading } }: Step): boolean {
  if (reading.kind === 'seam' && holdsThinkEnd(quotedText(reading.anchor))) return false;
  return summary.fences.behindThinking !== null;
}

/** Reasoning before a reply is not part of it (R275); before the file itself it is saved with it. */
function mayThinkAloud(step: Step, prefilled: boolean): boolean {
  const { thinkTags, reading } = step.session;
  if (!thinkTags || prefilled) return false;
  if (reading.kind === 'seam') return !opensThinkBlock(quotedText(reading.anchor));
  return reading.kind !== 'direct' && reading.kind !== 'none';
}

function readingOf(step: Step, prefilled: boolean): Reading {
  const { control, summary, kind, metadata } = step.session;
  switch (control.kind) {
    case 'awaiting_content':
      return control.emptyAsked
        ? { kind: 'confirmation', answer: answerReader(step, null) }
        : directReading(step);
    case 'awaiting_more': {
      const { expecting } = control;
      if (expecting.kind === 'continuation') {
        return summary.hasNonBlankLine
          ? undecidedReading(step, { expecting, prefilled, takesDone: !prefilled })
          : directReading(step);
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
  const part = skipping === null ? null : readThink(skipping, text);
  if (part !== null) step.update({ skipping: part.reader });
  readBehindThinking(step, part ?? { block: '', text });
}

function readBehindThinking(step: Step, { block, text }: Pick<ThinkPart, 'block' | 'text'>): void {
  // Text before the file's first line is kept, as everything else is.
  if (step.session.reading.kind === 'confirmation' && block !== '') {
    step.emit({ type: 'set_aside', text: block });
    step.update({ thinking: 'set_aside' });
  }
  readReplyText(step, text);
}

function readReplyText(step: Step, text: string): void {
  const { reading } = step.session;
  if (text !== '') readerOf(reading).read(step, reading, text);
}

export function endMessage(step: Step, end: MessageEnd): void {
  const { skipping } = step.session;
  if (skipping !== null) {
    step.update({ skipping: null });
    // Text before which a block was not closed is not an answer.
    readBehindThinking(step, endThink(skipping));
  }
  const { reading } = step.session;
  readerOf(reading).end(step, reading, end);
}

type Reader<R extends Reading> = {
  readonly read: (step: Step, reading: R, text: string) => void;
  readonly end: (step: Step, reading: R, end: MessageEnd) => void;
};

/** For replies that the state interprets. */
const replyReader: Reader<ReadingOf<'answer' | 'again' | 'corrections'>> = {
  read: (step, _reading, text) => step.dispatch({ type: 'text', text }),
  end: (step, { kind }, end) => {
    if (end.kind === 'error') {
      if (kind === 'again') step.emit({ type: 'discard_held' });
      step.update({ reading: NOT_READING });
    }
    endOpen(step, end);
  },
};

const READERS: { readonly [Kind in Reading['kind']]: Reader<ReadingOf<Kind>> } = {
  none: {
    read: (step, _reading, text) => step.emit({ type: 'chat', text }),
    end: (step, _reading, end) => {
      if (isWaiting(step.session.control)) endWithoutText(step, end);
    },
  },
  direct: { read: readDirect, end: endDirect },
  seam: { read: readUndecided, end: endUndecided },
  bridge: { read: readBridgeReply, end: endBridgeReply },
  confirmation: { read: readConfirmation, end: endConfirmation },
  answer: replyReader,
  again: replyReader,
  corrections: replyReader,
};

function readerOf({ kind }: Reading): Reader<Reading> {
  // The compiler cannot see that a reading and the reader of its kind belong together.
  return READERS[kind] as Reader<Reading>;
}

import type { Seam, SessionQuestion } from '@orion/contracts';

import type { SeamRemedy } from '../control.ts';
import type { MessageEnd, Reading } from '../session.ts';
import type { Step } from '../step.ts';
import { isBlank, isRecovery } from '../step.ts';
import { chooseAnchor } from '../text/seams/anchor.ts';
import { createReplyCensus, endReplyCensus, readReplyCensus } from '../text/seams/reply-census.ts';
import type { ReplyFacts } from '../text/seams/reply-census.ts';
import { createSeamReader, endSeam, readSeam } from '../text/seams/seam-reader.ts';
import type { SeamVerdict } from '../text/seams/seam-reader.ts';
import { cutOff, endWithoutText } from './cut-off.ts';
import { directReading, endDirect, readDirect } from './direct-reading.ts';

/** A reply that does not join is asked again so often before a bridge is tried. */
const MAX_ASKS = 2;

/** A reply with at most this many lines that are not blank is too little to be the rest of a file. */
const FEW_LINES = 3;

export type SeamReading = Extract<Reading, { kind: 'seam' }>;

/** A message that starts while something is saved: where it belongs is undecided. */
export function undecidedReading(step: Step, prefilled: boolean): Reading {
  const { expecting, summary, settings, kind, metadata } = step.session;
  const asks = expecting.kind === 'continuation' ? expecting.asks : 0;
  const reply = expecting.kind === 'reply';
  const anchor = chooseAnchor(summary);
  const readToEnd = reply || asks === MAX_ASKS || settings.seam === 'accept';
  return {
    kind: 'seam',
    seam: createSeamReader({ summary, anchor, kind, readToEnd, endMarker: metadata.end_marker }),
    census: createReplyCensus({ anchor, endMarker: metadata.end_marker, summary }),
    anchor,
    asks,
    reply,
    recovery: isRecovery(expecting),
    prefilled,
    hopeless: null,
  };
}

/** Undecided text is held for a crash, and read for what it may become. */
export function readUndecided(step: Step, reading: SeamReading, text: string): void {
  step.emit({ type: 'hold', text });
  const census = readReplyCensus(reading.census, text);
  if (reading.hopeless !== null) {
    step.update({ reading: { ...reading, census } });
    return;
  }
  const { reader, verdict } = readSeam(reading.seam, text);
  const next: SeamReading = { ...reading, census, seam: reader };
  if (verdict === null) {
    step.update({ reading: next });
    return;
  }
  decideSeam(step, next, verdict);
}

function decideSeam(step: Step, reading: SeamReading, verdict: SeamVerdict): void {
  switch (verdict.kind) {
    case 'verified':
      join(step, reading, verdict);
      return;
    case 'hopeless': {
      step.emit({ type: 'trace', event: 'seam_hopeless', details: { reason: verdict.reason } });
      const readToEnd =
        reading.reply || reading.asks === MAX_ASKS || step.session.settings.seam === 'accept';
      if (readToEnd) {
        step.update({ reading: { ...reading, hopeless: verdict.reason } });
        return;
      }
      step.update({ reading: { kind: 'none' } });
      step.emit({ type: 'stop_message' }, { type: 'discard_held' });
      step.dispatch({ type: 'seam_hopeless', remedy: 'ask_again' });
      return;
    }
    case 'marker_only':
    case 'blank':
      throw new Error(`a seam cannot be ${verdict.kind} before the message ends`);
    default:
      verdict satisfies never;
  }
}

type VerifiedSeam = Extract<SeamVerdict, { kind: 'verified' }>;

/** The reply goes on exactly behind the saved text: from here on it is content. */
function join(step: Step, reading: SeamReading, verdict: VerifiedSeam): void {
  const seam: Seam = {
    line: step.session.summary.lineFeeds + 1,
    status: 'verified',
    via: reading.recovery ? 'recovery' : reading.prefilled ? 'prefill' : verdict.via,
    lines_dropped: verdict.linesDropped,
    text_set_aside: verdict.setAside.length,
    conversion: verdict.conversion,
  };
  step.update({ seams: [...step.session.seams, seam] });
  step.emit({ type: 'discard_held' });
  if (!isBlank(verdict.setAside)) step.emit({ type: 'set_aside', text: verdict.setAside });
  step.emit({
    type: 'trace',
    event: 'seam_verified',
    details: { line: seam.line, via: seam.via, lines_dropped: seam.lines_dropped },
  });
  step.dispatch({ type: 'seam_verified' });
  const direct = directReading(step, verdict.wrappingFence, verdict.conversion);
  step.update({ reading: direct });
  if (direct.kind === 'direct' && verdict.rest !== '') readDirect(step, direct, verdict.rest);
}

export function endUndecided(step: Step, reading: SeamReading, end: MessageEnd): void {
  if (reading.hopeless === null) {
    const verdict = endSeam(reading.seam);
    switch (verdict.kind) {
      case 'verified': {
        join(step, reading, verdict);
        const next = step.session.reading;
        if (next.kind === 'direct') endDirect(step, next, end, 'message');
        return;
      }
      case 'marker_only':
        step.update({ reading: { kind: 'none' } });
        step.emit({ type: 'discard_held' });
        if (end.kind === 'stop') step.dispatch({ type: 'message_end_terminal' });
        else cutOff(step, end, false, true);
        return;
      case 'blank':
        step.emit({ type: 'discard_held' });
        endWithoutText(step, end);
        return;
      case 'hopeless':
        step.emit({ type: 'trace', event: 'seam_hopeless', details: { reason: verdict.reason } });
        if (end.kind !== 'stop') {
          // Cut off before it could join: that says nothing about what the model meant to send.
          step.update({ reading: { kind: 'none' } });
          step.emit({ type: 'discard_held' });
          cutOff(step, end, false, false);
          return;
        }
        break;
      default:
        verdict satisfies never;
    }
  }
  endUnjoined(step, reading, end);
}

/** The whole reply is known, and it does not join. */
function endUnjoined(step: Step, reading: SeamReading, end: MessageEnd): void {
  step.update({ reading: { kind: 'none' } });
  const facts = endReplyCensus(reading.census);
  if (facts.nonBlankLines === 0) {
    step.emit({ type: 'discard_held' });
    endWithoutText(step, end);
    return;
  }
  if (
    reading.reply &&
    end.kind === 'stop' &&
    facts.nonBlankLines <= FEW_LINES &&
    facts.text !== null
  ) {
    // Few lines without the anchor: more likely a remark than the rest of the file, so the model is asked.
    const question: SessionQuestion = {
      kind: 'near_miss',
      text: facts.text,
      contentEnd: step.session.summary.bytes,
      heldBack: true,
    };
    step.dispatch({ type: 'message_end_question', question });
    return;
  }
  if (end.kind === 'error' && !end.retryable) {
    step.emit({ type: 'set_aside_held' });
    cutOff(step, end, false, false);
    return;
  }
  const remedy = decideRemedy(step, reading, facts);
  applyRemedy(step, reading, facts, remedy, end);
}

/** What becomes of a reply that does not join (requirement R047, rule 9). */
function decideRemedy(step: Step, reading: SeamReading, facts: ReplyFacts): SeamRemedy {
  const { settings, summary } = step.session;
  const unasked = reading.reply || settings.seam === 'accept';
  if (
    settings.seam !== 'strict' &&
    unasked &&
    facts.clean &&
    facts.nonBlankLines > FEW_LINES &&
    summary.openLineLength === 0
  ) {
    return 'accept';
  }
  if (reading.asks < MAX_ASKS) return 'ask_again';
  return facts.headLines.length > 0 ? 'ask_bridge' : 'pause';
}

function applyRemedy(
  step: Step,
  reading: SeamReading,
  facts: ReplyFacts,
  remedy: SeamRemedy,
  end: MessageEnd,
): void {
  const { recovery } = reading;
  switch (remedy) {
    case 'ask_again':
      step.emit({ type: 'discard_held' });
      break;
    case 'ask_bridge':
      step.update({
        expecting: { kind: 'bridge', headLines: facts.headLines, end, recovery },
      });
      break;
    case 'accept':
      step.addSeam('unverified', recovery ? 'recovery' : 'tail');
      step.update({ reading: directReading(step, null, 'none', end) });
      break;
    case 'pause':
      step.emit({ type: 'set_aside_held' });
      break;
    default:
      remedy satisfies never;
  }
  step.dispatch({ type: 'seam_hopeless', remedy });
}

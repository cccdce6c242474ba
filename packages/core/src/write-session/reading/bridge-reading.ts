import type { MessageEnd } from '../control.ts';
import { NOT_READING } from '../session.ts';
import type { ReadingOf } from '../session.ts';
import type { Step } from '../step.ts';
import { endBridge, readBridge } from '../text/seams/bridge.ts';
import { endDirect, readDirect, replayHeld } from './direct-reading.ts';

type BridgeReading = ReadingOf<'bridge'>;

export function readBridgeReply(step: Step, reading: BridgeReading, text: string): void {
  step.update({ reading: { ...reading, bridge: readBridge(reading.bridge, text) } });
}

export function endBridgeReply(step: Step, reading: BridgeReading, end: MessageEnd): void {
  step.update({ reading: NOT_READING });
  const joined = end.kind === 'error' ? null : endBridge(reading.bridge);
  if (joined === null || joined.kind === 'failed') {
    step.trace('bridge_failed', { reason: joined?.reason ?? 'stream_error' });
    step.emit({ type: 'set_aside_held' });
    step.dispatch({ type: 'seam_hopeless', remedy: 'pause' });
    return;
  }
  step.addSeam({ status: 'verified', via: 'bridge', lines_dropped: joined.linesDropped });
  step.dispatch({ type: 'seam_verified' });
  if (!step.append(joined.content)) return;
  replayHeld(step, reading.end);
}

/** The held text is content after all, and is read like a message that arrives now. */
export function readHeldText(step: Step, text: string): void {
  const { reading } = step.session;
  if (reading.kind === 'direct') readDirect(step, reading, text);
}

export function endHeldText(step: Step): void {
  const { reading, control } = step.session;
  step.emit({ type: 'discard_held' });
  if (reading.kind === 'direct' && reading.replayed !== null) {
    endDirect(step, reading, reading.replayed);
  } else if (control.kind === 'awaiting_answer' && !control.asked) {
    // An end marker in the text left a question open, which waits for the end of the message.
    step.dispatch({ type: 'message_end_open' });
  }
}

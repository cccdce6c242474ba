import type { MessageEnd } from '../session.ts';
import type { Step } from '../step.ts';
import { endBridge } from '../text/seams/bridge.ts';
import { directReading, endDirect, readDirect } from './direct-reading.ts';

export function endBridgeReply(step: Step, end: MessageEnd): void {
  const { reading, expecting } = step.session;
  if (reading.kind !== 'bridge' || expecting.kind !== 'bridge') return;
  step.update({ reading: { kind: 'none' } });
  const joined = end.kind === 'error' ? null : endBridge(reading.bridge);
  if (joined === null || joined.kind === 'failed') {
    step.emit(
      {
        type: 'trace',
        event: 'bridge_failed',
        details: { reason: joined?.reason ?? 'stream_error' },
      },
      { type: 'set_aside_held' },
    );
    step.dispatch({ type: 'seam_hopeless', remedy: 'pause' });
    return;
  }
  step.addSeam('verified', 'bridge', { linesDropped: joined.linesDropped });
  step.dispatch({ type: 'seam_verified' });
  if (!step.append(joined.content)) return;
  step.update({ reading: directReading(step, null, 'none', expecting.end) });
  step.emit({ type: 'replay_held' });
}

/** The held text is content after all: it is read like a message that arrives now. */
export function readHeldText(step: Step, text: string): void {
  const { reading } = step.session;
  if (reading.kind === 'direct') readDirect(step, reading, text);
}

export function endHeldText(step: Step): void {
  const { reading } = step.session;
  step.emit({ type: 'discard_held' });
  if (reading.kind === 'direct' && reading.replayed !== null) {
    endDirect(step, reading, reading.replayed, 'message');
  }
}

import type { MessageEnd } from '../control.ts';
import type { Step } from '../step.ts';
import { createAgainReader } from '../text/document-again.ts';
import type { AgainReader } from '../text/document-again.ts';
import { replayHeld } from './direct-reading.ts';

/** For a reply to a question or an idle prompt; null where it could not start the document over. */
export function againReader({ session }: Step): AgainReader | null {
  const { startedOver, summary, kind, metadata } = session;
  if (startedOver || !summary.hasNonBlankLine) return null;
  return createAgainReader(summary, { kind, target: metadata.target_file });
}

/** What was saved goes aside, and the held reply is read as a first message (R297). */
export function startOverWithHeld(step: Step, end: MessageEnd): void {
  step.update({ startedOver: true });
  step.dispatch({ type: 'document_again' });
  step.emit({ type: 'trace', event: 'document_again', details: {} });
  replayHeld(step, end);
}

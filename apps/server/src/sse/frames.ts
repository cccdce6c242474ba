/**
 * The text of a stream of server-sent events.
 *
 * 1. A frame is one `id`, one `event` and one `data` line, whatever the event holds: data is JSON in one line, and id and
 *    type are cleaned of line breaks (B14).
 * 2. What some clients take for the end of a line, although it is none here, is escaped: text arrives byte-equal.
 */
import { formatEventId } from '@orion/contracts';
import type { RunEvent, TurnReset } from '@orion/contracts';

/** Nothing, to show that the stream is alive. */
export const COMMENT_FRAME = ':\n\n';

/** Asks the client to connect again soon, since this process is about to end. */
export const RETRY_FRAME = 'retry: 100\n\n';

export const RESET: TurnReset = { type: 'reset', toSeq: 0 };

/** Without an id: a client that is cut off right behind it asks from where it was, and is told again. */
export const RESET_FRAME: string = `event: reset\ndata: ${JSON.stringify(RESET)}\n\n`;

export function eventFrame(event: RunEvent, epoch: number): string {
  const id = formatEventId({ seq: event.seq, epoch });
  return `id: ${id}\nevent: ${event.type.replace(BREAKS, '')}\ndata: ${oneLine(event)}\n\n`;
}

const BREAKS = /[\r\n]/gu;
/** NEL and the separators of lines and paragraphs; JSON escapes the control characters below U+0020 anyway. */
const OTHER_BREAKS = /[\u0085\u2028\u2029]/gu;

function oneLine(event: RunEvent): string {
  return JSON.stringify(event).replace(
    OTHER_BREAKS,
    (found) => `\\u${found.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

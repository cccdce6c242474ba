import { countLineFeeds, type RunEvent } from '@orion/contracts';

import { formatBytes, formatCount, formatElapsed } from '../terminal/format.ts';

/** How far the file that is being streamed has come. */
export type Progress = {
  readonly file: string;
  readonly lines: number;
  readonly bytes: number;
  readonly durableBytes: number;
  readonly startedAt: number;
  readonly startBytes: number;
};

/** Follows the events of a write session; null while no content is expected. `now` grows in milliseconds. */
export function followProgress(
  progress: Progress | null,
  event: RunEvent,
  now: number,
): Progress | null {
  switch (event.type) {
    case 'write_session': {
      const { status, targetFile: file, lines, bytes, durableBytes } = event;
      if (
        status !== 'session_active.awaiting_content' &&
        status !== 'session_active.awaiting_done_or_more_content'
      ) {
        return null;
      }
      const base = progress ?? { startedAt: now, startBytes: bytes };
      return { ...base, file, lines, bytes, durableBytes };
    }
    case 'write_chunk':
      if (progress === null) return null;
      return {
        ...progress,
        lines: progress.lines + countLineFeeds(event.content ?? ''),
        bytes: event.offset + event.length,
        durableBytes: event.durableBytes ?? progress.durableBytes,
      };
    case 'write_progress':
      return progress === null ? null : { ...progress, durableBytes: event.durableBytes };
    case 'write_rewind':
      return progress === null ? null : { ...progress, bytes: event.toOffset };
    default:
      return progress;
  }
}

/** A file that is being written, in one line: how much of it there is, and how much of that no crash can take. */
export function progressLine(progress: Progress, now: number): string {
  const { file, lines, bytes, startBytes, startedAt } = progress;
  const seconds = (now - startedAt) / 1000;
  const rate = seconds > 0 ? Math.max(0, (bytes - startBytes) / seconds) : 0;
  return [
    file,
    `${formatCount(lines)} lines`,
    formatBytes(bytes),
    `${formatBytes(Math.round(rate))}/s`,
    savedText(progress, rate),
    formatElapsed(now - startedAt),
  ].join('  ');
}

function savedText({ bytes, durableBytes }: Progress, rate: number): string {
  const unsaved = bytes - durableBytes;
  if (unsaved <= 0) return 'all saved';
  return rate === 0
    ? `all but ${formatBytes(unsaved)} saved`
    : `all but ${(unsaved / rate).toFixed(1)} s saved`;
}

/** How far a tool has come, in its own words. */
export function toolProgressLine({
  toolName,
  message,
  done,
  total,
}: Extract<RunEvent, { type: 'tool_progress' }>): string {
  const part = done === undefined ? [] : [total === undefined ? `${done}` : `${done} of ${total}`];
  return `${toolName}: ${[...part, message].filter((text) => text !== '').join(', ')}`;
}

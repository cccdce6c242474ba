import { BEGIN_TOOL_NAME, type RunEvent } from '@orion/contracts';

import type { OutputStream } from '../process/output-stream.ts';
import type { Screen } from '../terminal/screen.ts';
import { jsonLine } from '../terminal/sanitize.ts';
import { plural } from '../terminal/format.ts';
import { errorLines, failedCallLines } from './error-lines.ts';
import { followProgress, progressLine, toolProgressLine, type Progress } from './progress.ts';
import type { Wording } from './wording.ts';
import { needsAttention, pausedLine, receiptLine, unprovedParts } from './write-lines.ts';

/** Shows the events of a turn as they come. */
export type TurnView = {
  /** The promise, if any, is to be awaited before the next event is shown. */
  show(event: RunEvent): Promise<void> | undefined;
  /** After the last event, or when no more will come. */
  end(): void;
};

export type TerminalViewOptions = {
  readonly screen: TurnScreen;
  /** Only what a person must know: errors, warnings, receipts and pauses. */
  readonly quiet: boolean;
  /** File content too. */
  readonly showContent: boolean;
  readonly wording: Wording;
  /** Milliseconds that only grow. */
  readonly now: () => number;
};

/** Where a turn is shown. */
export type TurnScreen = Omit<Screen, 'rendered' | 'ask' | 'answered' | 'flush'> & {
  /** Text of a file that is being written, where it is shown at all. */
  content(text: string): Promise<void> | undefined;
};

type Stage = 'begun' | 'ended';
type SessionEvent = Extract<RunEvent, { type: 'write_session' }>;

const PROGRESS_INTERVAL_MS = 100;

export function createTerminalView(options: TerminalViewOptions): TurnView {
  const { screen, quiet, showContent, wording, now } = options;
  const { place } = wording;
  const showsProgress = screen.showsProgress && !quiet && !(showContent && screen.stdoutIsTerminal);
  /** The stage that was last shown of each session, by id. */
  const stages = new Map<string, Stage>();
  /** Repeated at the end: other lines may come between a receipt and the end of the turn. */
  const unproved: string[] = [];
  const updateProgress = progressUpdates(screen, now);

  function showSession(event: SessionEvent): void {
    if (event.receipt !== undefined) {
      unproved.push(...unprovedParts(event.receipt));
      screen.line(
        receiptLine(event.receipt, wording.undo),
        needsAttention(event.receipt) ? 'warning' : 'success',
      );
      return;
    }
    if (event.paused !== undefined) {
      screen.line(pausedLine(event.paused), 'warning');
      for (const line of wording.next(event.paused)) screen.line(line, 'warning');
      return;
    }
    if (event.status === 'aborted') {
      screen.line(`${event.targetFile} was not written (${event.code ?? 'cancelled'}).`, 'warning');
      return;
    }
    const stage = event.status === 'session_active.finalizing' ? 'ended' : 'begun';
    if (quiet || stages.get(event.sessionId) === stage) return;
    // Several statuses make one stage, and a stage is shown once: a repair may lead back to the first.
    if (stage === 'begun' && stages.has(event.sessionId)) return;
    stages.set(event.sessionId, stage);
    screen.line(stageLine(event, stage), 'faint');
  }

  return {
    show(event) {
      switch (event.type) {
        case 'chunk':
          if (event.source === 'model') return screen.text(event.content);
          if (!quiet) screen.block(event.content, 'faint');
          return undefined;
        case 'write_chunk':
          if (showsProgress) updateProgress(event);
          return showContent && event.content !== null ? screen.content(event.content) : undefined;
        case 'write_rewind':
          if (showsProgress) updateProgress(event);
          if (showContent) {
            screen.line(`The text after byte ${event.toOffset} is not part of the file.`, 'faint');
          }
          return undefined;
        case 'write_session':
          showSession(event);
          if (showsProgress) updateProgress(event);
          return undefined;
        case 'tool_progress':
          if (showsProgress) screen.progress(toolProgressLine(event));
          return undefined;
        case 'tool_result':
          if (showsProgress) screen.clearProgress();
          if (quiet) return undefined;
          if (event.error !== undefined) {
            for (const line of failedCallLines(event.toolName, event.error, place)) {
              screen.line(line, 'warning');
            }
          } else if (event.toolName !== BEGIN_TOOL_NAME) {
            screen.line(`${event.toolName}: ${event.summary}`, 'faint');
          }
          return undefined;
        case 'error':
          for (const line of errorLines(event.error, place)) screen.line(line, 'error');
          return undefined;
        case 'done':
          if (event.status === 'stopped' || event.status === 'incomplete') {
            screen.line(
              event.stopReason === undefined
                ? 'The turn ended before it was complete.'
                : `The turn was stopped (${event.stopReason}).`,
              'warning',
            );
          }
          for (const line of unproved) screen.line(line, 'warning');
          return undefined;
        case 'phase':
          // What the model says next is another message of it.
          if (event.phase === 'action') screen.endText();
          return undefined;
        case 'tool_calls':
        case 'usage':
          return undefined;
        default:
          return event satisfies never;
      }
    },
    end() {
      screen.clearProgress();
      screen.endText();
    },
  };
}

/** Shows how far the file has come, as often as a person can read it. */
function progressUpdates(screen: TurnScreen, now: () => number): (event: RunEvent) => void {
  let progress: Progress | null = null;
  let shownAt = Number.NEGATIVE_INFINITY;
  return (event) => {
    const time = now();
    const wasShown = progress !== null;
    progress = followProgress(progress, event, time);
    if (progress === null) {
      if (wasShown) screen.clearProgress();
      shownAt = Number.NEGATIVE_INFINITY;
    } else if (time - shownAt >= PROGRESS_INTERVAL_MS) {
      screen.progress(progressLine(progress, time));
      shownAt = time;
    }
  };
}

/** Tells when capture begins and when it ends. */
function stageLine(event: SessionEvent, stage: Stage): string {
  const { targetFile, operation, bytes, lines } = event;
  // How much of it becomes the file is said by the receipt, and whether it does.
  if (stage === 'ended') return `The content has ended; writing ${targetFile}.`;
  if (bytes === 0)
    return `Writing ${targetFile} (${operation}): what the model writes now is the file.`;
  return `Continuing ${targetFile} (${operation}) after ${plural(lines, 'line')}.`;
}

export type JsonViewOptions = {
  readonly stdout: OutputStream;
  readonly showContent: boolean;
  /** What a person reads on stderr. */
  readonly beside: TurnView;
};

/** Every event as one line of JSON on stdout; file content only when asked for. */
export function createJsonView({ stdout, showContent, beside }: JsonViewOptions): TurnView {
  return {
    show(event) {
      if (event.type === 'write_chunk' && !showContent) return undefined;
      if (event.type !== 'chunk' && event.type !== 'write_chunk') void beside.show(event);
      return stdout.offer(jsonLine(JSON.stringify(event)));
    },
    end() {
      beside.end();
    },
  };
}

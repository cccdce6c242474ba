import { BEGIN_TOOL_NAME, type RunEvent } from '@orion/contracts';

import type { OutputStream } from '../process/output-stream.ts';
import type { Screen } from '../terminal/screen.ts';
import { jsonLine } from '../terminal/sanitize.ts';
import { errorLines, failedCallLines, inPlace } from './error-lines.ts';
import { followProgress, progressLine, toolProgressLine, type Progress } from './progress.ts';
import { createSessionView } from './session-view.ts';
import type { Wording } from './wording.ts';

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

const PROGRESS_INTERVAL_MS = 100;
/** What was printed cannot be taken back. */
const VOID_TEXT =
  'The turn was continued by another process: the model is asked again, and what it said last is void.';

export function createTerminalView(options: TerminalViewOptions): TurnView {
  const { screen, quiet, showContent, wording, now } = options;
  const { place } = wording;
  const showsProgress = screen.showsProgress && !quiet && !(showContent && screen.stdoutIsTerminal);
  const sessions = createSessionView({ screen, quiet, wording });
  const updateProgress = progressUpdates(screen, now);

  return {
    show(event) {
      switch (event.type) {
        case 'chunk':
          if (event.source === 'model') return screen.text(event.content);
          if (!quiet) screen.block(inPlace(event.content, place), 'faint');
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
        case 'write_progress':
          if (showsProgress) updateProgress(event);
          return undefined;
        case 'write_session':
          sessions.show(event);
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
          for (const line of sessions.unproved()) screen.line(line, 'warning');
          return undefined;
        case 'phase':
          // What the model says next is another message of it.
          if (event.phase === 'action') screen.endText();
          return undefined;
        case 'rewind':
          screen.endText();
          screen.line(VOID_TEXT, 'warning');
          return undefined;
        case 'tool_calls':
        case 'usage':
        case 'approval_requested':
        case 'approval_decided':
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

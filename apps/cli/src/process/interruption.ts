import { setImmediate as turnOfTheLoop } from 'node:timers/promises';

/** What Ctrl-C and a request to stop mean for a command that runs a turn. */
export type Interruption = {
  /** Aborted by the first Ctrl-C or by a request to stop. */
  readonly signal: AbortSignal;
  /** Says how to stop in order: called at most once, by a second Ctrl-C, SIGTERM or SIGHUP. */
  onStop(stop: () => Promise<void>): void;
  /**
   * Back to what signals do without us, once those are heard that came while this process had no time for them: they
   * would be lost. A stop that was asked for keeps its limit: what follows is part of it.
   */
  dispose(): Promise<void>;
};

export type InterruptionOptions = {
  /** Tells the person that the first Ctrl-C was understood. */
  readonly onInterrupt: () => void;
  /** Ends the process at once, with the exit code that fits. */
  readonly exit: () => void;
  /** Ends the process by a signal that nothing can delay: the stop took too long. What has arrived was saved when it began. */
  readonly kill: () => void;
  /** Whether a file is being changed now, which a stop lets come to its end. */
  readonly isCommitting: () => boolean;
  /** Where signals come from. */
  readonly source?: Pick<NodeJS.Process, 'on' | 'off'>;
};

const STOP_LIMIT_MS = 2000;
const COMMIT_LIMIT_MS = 5000;

export function watchSignals(options: InterruptionOptions): Interruption {
  const source = options.source ?? process;
  const controller = new AbortController();
  let stop: () => Promise<void> = () => Promise.resolve();
  let limit: NodeJS.Timeout | undefined;

  function beginStop(): void {
    // A closing terminal sends several signals at once; they are one request.
    if (limit !== undefined) return;
    controller.abort();
    // The turn ends by itself when its parts are closed, and the process after it.
    limit = setTimeout(endCommit, STOP_LIMIT_MS);
    stop().catch(options.exit);
  }

  function endCommit(): void {
    if (options.isCommitting()) limit = setTimeout(options.kill, COMMIT_LIMIT_MS - STOP_LIMIT_MS);
    else options.kill();
  }

  function interrupt(): void {
    if (limit !== undefined) {
      options.exit();
    } else if (controller.signal.aborted) {
      beginStop();
    } else {
      options.onInterrupt();
      controller.abort();
    }
  }

  const handlers = { SIGINT: interrupt, SIGTERM: beginStop, SIGHUP: beginStop };
  for (const [name, handler] of Object.entries(handlers)) source.on(name, handler);
  return {
    signal: controller.signal,
    onStop(next) {
      stop = next;
    },
    async dispose() {
      // One whole turn of the event loop, wherever in it this is called.
      await turnOfTheLoop();
      await turnOfTheLoop();
      for (const [name, handler] of Object.entries(handlers)) source.off(name, handler);
    },
  };
}

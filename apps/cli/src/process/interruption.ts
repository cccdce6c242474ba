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

/** From now on a stop in order has two seconds, five while a file is being changed; then the process is killed. */
export function limitStop({
  isCommitting,
  kill,
}: Pick<InterruptionOptions, 'isCommitting' | 'kill'>): void {
  setTimeout(() => {
    if (isCommitting()) setTimeout(kill, COMMIT_LIMIT_MS - STOP_LIMIT_MS);
    else kill();
  }, STOP_LIMIT_MS);
}

export function watchSignals(options: InterruptionOptions): Interruption {
  const source = options.source ?? process;
  const controller = new AbortController();
  let stop: () => Promise<void> = () => Promise.resolve();
  let isStopping = false;

  function beginStop(): void {
    // A closing terminal sends several signals at once; they are one request.
    if (isStopping) return;
    isStopping = true;
    controller.abort();
    // The turn ends by itself when its parts are closed, and the process after it.
    limitStop(options);
    stop().catch(options.exit);
  }

  function interrupt(): void {
    if (isStopping) {
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

import { STOP_SIGNALS } from './leave-process.ts';

/** What signals mean for a command that runs until it is stopped. */
export type StopRequest = {
  /** Resolves with the first signal, to its name. */
  readonly asked: Promise<NodeJS.Signals>;
  /** The next further signal calls `cut`, in place of `leave`. Null: it does not. */
  cutNext(cut: (() => void) | null): void;
  dispose(): void;
};

export type StopRequestOptions = {
  /** Called for each further signal, unless there is something to be cut short. */
  readonly leave: () => void;
  /** Milliseconds. */
  readonly now?: () => number;
  /** Where signals come from. */
  readonly source?: Pick<NodeJS.Process, 'on' | 'off'>;
};

/** A terminal that closes sends several signals, and a process that starts others repeats the one that it gets. */
const ONE_REQUEST_MS = 500;

export function watchStop({
  leave,
  now = () => performance.now(),
  source = process,
}: StopRequestOptions): StopRequest {
  const { promise, resolve } = Promise.withResolvers<NodeJS.Signals>();
  let latest: number | null = null;
  let next = leave;
  const hear = (signal: NodeJS.Signals): void => {
    if (latest !== null && now() - latest < ONE_REQUEST_MS) return;
    const isFirst = latest === null;
    latest = now();
    if (isFirst) {
      resolve(signal);
      return;
    }
    const act = next;
    next = leave;
    act();
  };
  for (const signal of STOP_SIGNALS) source.on(signal, hear);
  return {
    asked: promise,
    cutNext(cut) {
      next = cut ?? leave;
    },
    dispose() {
      for (const signal of STOP_SIGNALS) source.off(signal, hear);
    },
  };
}

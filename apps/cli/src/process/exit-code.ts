import type { ErrorCode, StopReason, TurnStatus } from '@orion/contracts';

/** What the command returns to the shell. Scripts depend on these numbers. */
export const EXIT = {
  done: 0,
  failure: 1,
  usage: 2,
  /** A write session is incomplete and can be recovered. */
  recoverable: 3,
  /** The session is live in another process. */
  busy: 4,
  /** A budget or a stop policy ended the turn. */
  stopped: 5,
  /** Interrupted, with no session left open. */
  interrupted: 130,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** Strongest first: what the next step depends on most. */
const PRECEDENCE: readonly ExitCode[] = [
  EXIT.usage,
  EXIT.busy,
  EXIT.recoverable,
  EXIT.interrupted,
  EXIT.stopped,
  EXIT.failure,
];

/** Of errors that end a command; every other one is a failure. */
const ERROR_EXITS: Readonly<Partial<Record<ErrorCode, ExitCode>>> = {
  CONFIG_INVALID: EXIT.usage,
  USAGE: EXIT.usage,
  PROVIDER_UNKNOWN: EXIT.usage,
  MODEL_MISSING: EXIT.usage,
  API_KEY_MISSING: EXIT.usage,
  SCRIPT_INVALID: EXIT.usage,
  NODE_TOO_OLD: EXIT.usage,
  PROTOCOL_UNSUPPORTED: EXIT.usage,
  INVALID_PLAN: EXIT.usage,
  INVALID_TOOL_ARGUMENTS: EXIT.usage,
  INVALID_OUTPUT_ID: EXIT.usage,
  OUTPUT_QUERY_INVALID: EXIT.usage,
  SESSION_BUSY: EXIT.busy,
  STORE_IN_USE: EXIT.busy,
  BUDGET_EXHAUSTED: EXIT.stopped,
  ABORTED: EXIT.interrupted,
};

/** Of an error that ends a command. */
export function exitCodeOfError(code: ErrorCode): ExitCode {
  return ERROR_EXITS[code] ?? EXIT.failure;
}

/** How a command ended. */
export type Ending = {
  /** Null when no turn began, or when its end was never seen. */
  readonly status: TurnStatus | null;
  /** The limit that ended the turn, if one did. */
  readonly stopReason: StopReason | null;
  /** What ended the command or the turn; errors that were overcome do not count. */
  readonly errorCode: ErrorCode | null;
  /** Whether a write session was left open or paused. */
  readonly sessionOpen: boolean;
  readonly interrupted: boolean;
};

export function exitCodeOf(ending: Ending): ExitCode {
  const causes = new Set<ExitCode>();
  const { status, errorCode } = ending;
  if (errorCode !== null) causes.add(exitCodeOfError(errorCode));
  if (ending.sessionOpen || status === 'paused') causes.add(EXIT.recoverable);
  if (ending.interrupted || status === 'aborted') causes.add(EXIT.interrupted);
  if (status === 'stopped' || isLimit(ending.stopReason)) causes.add(EXIT.stopped);
  if (status === 'error' || status === 'incomplete') causes.add(EXIT.failure);
  return PRECEDENCE.find((code) => causes.has(code)) ?? EXIT.done;
}

/** The others name what went wrong, not a limit. */
function isLimit(stopReason: StopReason | null): boolean {
  if (stopReason === null) return false;
  return !['cancelled', 'provider_error', 'invalid_output'].includes(stopReason);
}

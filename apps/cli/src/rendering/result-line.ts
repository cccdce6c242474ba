import type { NotStored } from '@orion/agent';
import { defined } from '@orion/contracts';
import type { PausedSession, StopReason, TurnStatus, Usage, WriteReceipt } from '@orion/contracts';

import type { ExitCode } from '../process/exit-code.ts';
import type { TurnSummary } from './turn-summary.ts';

/** The last line of `--json`: what a script reads when it reads nothing else. */
export type ResultLine = {
  readonly type: 'result';
  readonly version: 1;
  readonly status: TurnStatus;
  /** What stopped the turn, if something did. */
  readonly stopReason?: StopReason;
  readonly exitCode: ExitCode;
  /** Null when no turn began. */
  readonly requestId: string | null;
  readonly receipts: readonly WriteReceipt[];
  readonly paused: readonly PausedSession[];
  readonly usage: Usage;
  /** What conversations, turn log and traces lack because the store was away or full; left out when it is nothing. */
  readonly notStored?: NotStored;
};

export function resultLine(
  summary: TurnSummary,
  exitCode: ExitCode,
  notStored?: NotStored,
): ResultLine {
  return {
    type: 'result',
    version: 1,
    status: summary.status ?? statusOf(exitCode),
    ...defined({ stopReason: summary.stopReason ?? undefined }),
    exitCode,
    requestId: summary.requestId,
    receipts: summary.receipts,
    paused: summary.paused,
    usage: summary.usage,
    ...defined({ notStored }),
  };
}

/** What to call the end of a command that saw no end of a turn. */
function statusOf(exitCode: ExitCode): TurnStatus {
  if (exitCode === 0) return 'complete';
  if (exitCode === 3) return 'paused';
  return exitCode === 130 ? 'aborted' : 'error';
}

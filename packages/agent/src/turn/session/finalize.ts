import type { ErrorCode, SessionHandle, WriteReceipt } from '@orion/contracts';
import { defined, OrionError, toErrorInfo } from '@orion/contracts';
import { receiptNotesOf } from '@orion/core';
import type {
  FinalizeFacts,
  FinalizeOutcome,
  SessionEffect,
  SessionInput,
  WriteSession,
} from '@orion/core';

import { summaryOfPart } from '../recovery.ts';
import type { SessionReport } from './session-report.ts';
import type { SessionDriverOptions } from './session-run.ts';

/** Commit failures that may pass by themselves. */
const PASSING: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'RESOURCE_BUSY',
  'DISK_FULL',
  'PERMISSION_DENIED',
]);

/** What came of it for the session; a receipt once the file is written. */
export type Finalized = { readonly input: SessionInput; readonly receipt: WriteReceipt | null };

/** Makes the file of what a session has saved, or finds out why not. Rejects for defects only. */
export async function finalize(
  session: WriteSession,
  { start, end, lineEnding }: Extract<SessionEffect, { type: 'finalize' }>,
  options: Pick<SessionDriverOptions, 'finalize' | 'signal'> & {
    readonly target: FinalizeFacts['target'];
    readonly report: SessionReport;
  },
): Promise<Finalized> {
  const { report, target } = options;
  const { innerDoneLines, seams, repair, omissionsAsked, byHand, settings } = session;
  report.trace('finalize_started', { bytes: (end ?? session.summary.bytes) - start });
  let outcome: FinalizeOutcome;
  try {
    outcome = await options.finalize({
      start,
      end,
      lineEnding,
      notes: receiptNotesOf(session),
      innerDoneLines,
      seams,
      signal: options.signal,
      repair,
      askOmissions: settings.askOmissions && !omissionsAsked && mayBeAsked(byHand),
      ...defined({ target }),
    });
  } catch (error) {
    if (!OrionError.isInstance(error)) throw error;
    const { code, message } = error;
    report.trace('failed', { code });
    // A change that was made but could not be made durable is settled by a recovery, not by repeating it.
    const retryable = PASSING.has(code) && error.details['changed'] !== true;
    return { input: { type: 'finalize_failed', code, message, retryable }, receipt: null };
  }
  switch (outcome.kind) {
    case 'omissions_suspected': {
      const { omissions } = outcome;
      report.trace('omission_suspected', { lines: omissions.map(({ line }) => line).join(', ') });
      return { input: { type: 'omissions_suspected', omissions }, receipt: null };
    }
    case 'needs_corrections': {
      const { invalid_contexts: places, invalid_count: count } = outcome.corrections;
      return { input: { type: 'corrections_needed', places, count }, receipt: null };
    }
    case 'written': {
      const { receipt } = outcome;
      const { attempts, invalid_found, corrected, replaced } = receipt.validation_summary;
      report.trace('finalized', {
        target: receipt.target_file,
        bytes: receipt.bytes,
        lines: receipt.lines,
        sha256: receipt.sha256,
        ...(invalid_found === 0 ? {} : { attempts, invalid_found, corrected, replaced }),
      });
      return { input: { type: 'finalize_ok' }, receipt };
    }
    default:
      return outcome satisfies never;
  }
}

/** Whoever has the text written as it is has seen it, or made it. */
function mayBeAsked(byHand: WriteSession['byHand']): boolean {
  return byHand === 'no' || byHand === 'answered';
}

/** What the part of the text is that is to become the file. */
export async function examine(
  { start, end }: Extract<SessionEffect, { type: 'examine' }>,
  handle: SessionHandle,
  report: SessionReport,
): Promise<SessionInput> {
  try {
    return { type: 'examined', summary: await summaryOfPart(handle, start, end) };
  } catch (error) {
    const { code, message } = toErrorInfo(error);
    report.trace('failed', { code });
    return { type: 'finalize_failed', code, message, retryable: false };
  }
}

import { randomUUID } from 'node:crypto';

import { defined, OrionError } from '@orion/contracts';
import type {
  Approval,
  ApprovalAction,
  Approvals,
  FileDiff,
  Redact,
  RunEventBody,
  ToolAction,
} from '@orion/contracts';
import type { ChangeProposal, ReviewAnswer, ReviewRequest } from '@orion/core';
import type { Approval as CallApproval } from '@orion/tool-runner';

import { readDiffs } from '../read-diffs.ts';
import type { LoggedApprovals } from '../turn/continued/logged-turn.ts';
import type { OwnedTurn } from '../store/owned-turn.ts';
import type { ChangedFileDiff } from '../orion.ts';
import type { ApprovalDesk } from './approval-desk.ts';
import { hashOf, writeAction } from './shown-change.ts';

/** Nobody has to be awake. */
const WAIT_MS = 24 * 60 * 60 * 1000;
/** Of an action as JSON; nobody would read a longer one to its end. */
const MAX_CHARACTERS = 64 * 1024;

export type TurnApprovalsOptions = {
  readonly turn: Pick<OwnedTurn, 'fence' | 'confirm' | 'untilStored' | 'lost'>;
  readonly ids: { readonly projectId: string; readonly conversationId: string };
  readonly approvals: Approvals;
  readonly desk: ApprovalDesk;
  readonly redact: Redact;
  /** What earlier owners have reported. */
  readonly logged: LoggedApprovals;
  /** Aborted when another owner is to continue the turn. */
  readonly handOff: AbortSignal;
  /** Reports an event while the effect waits. */
  readonly say: (event: RunEventBody) => void;
  /** See `OwnedTurnRequest`. */
  readonly onRest: (isResting: boolean) => void;
};

type Subject = Pick<Approval, 'callId' | 'sessionId'>;

/**
 * What one turn asks people, and waits for.
 *
 * 1. The question is stored before it is reported, and each is reported once, whoever owns the turn then.
 * 2. A turn that is given up leaves its question to the next owner; one that is cancelled withdraws it.
 * 3. After a yes the turn has to be this process's still.
 * 4. A question that a store has lost, which went back to an earlier state, is asked again if the turn goes on here.
 */
export class TurnApprovals {
  readonly #options: TurnApprovalsOptions;
  /** Reported as requested, and not as decided. */
  readonly #open: Set<string>;
  readonly #requested: Set<string>;
  /** Questions of this owner that wait, also those that an earlier one has reported. */
  #waiting = 0;

  constructor(options: TurnApprovalsOptions) {
    this.#options = options;
    const { requested, decided } = options.logged;
    this.#requested = new Set(requested);
    this.#open = new Set([...requested].filter((id) => !decided.has(id)));
  }

  /** About a write. `stale`: it is to be asked about anew. */
  async review({ id, intent, changes }: ReviewRequest, signal: AbortSignal): Promise<ReviewAnswer> {
    if (!changes.some((change) => change.protected) && (await this.#isCovered())) {
      return { approved: true };
    }
    const action = writeAction(intent, changes);
    const subject = { callId: null, sessionId: id };
    let diffs: readonly FileDiff[];
    try {
      diffs = await readDiffs(changes.map(redactedDiff(this.#options.redact)), signal);
    } catch (error) {
      if (!OrionError.isInstance(error)) throw error;
      return { approved: false, stale: true, reason: error.message };
    }
    const { state, reason } = await this.#ask(action, subject, diffs, signal);
    switch (state) {
      case 'yes':
      case 'turn':
        return { approved: true };
      case 'withdrawn':
        return { approved: false, stale: true, ...defined({ reason: reason ?? undefined }) };
      default:
        return { approved: false, ...defined({ reason: reason ?? undefined }) };
    }
  }

  /** About the call of a command or a tool. */
  async reviewCall(action: ToolAction, callId: string, signal: AbortSignal): Promise<CallApproval> {
    if (JSON.stringify(action).length > MAX_CHARACTERS) {
      return { approved: false, reason: 'it is too long to review' };
    }
    const subject = { callId, sessionId: null };
    const { state, reason } = await this.#ask(action, subject, [], signal);
    if (state === 'yes' || state === 'turn') return { approved: true };
    return { approved: false, reason: reason ?? 'it was refused' };
  }

  /** Whether an earlier owner, or this one, has asked about the text of this session. */
  async hasAsked(sessionId: string): Promise<boolean> {
    const { turn, approvals } = this.#options;
    const { turnId } = turn.fence;
    const filter = { turnId, sessionId, limit: 1 };
    return (await turn.untilStored(() => approvals.list(filter))).length > 0;
  }

  /** A yes to everything that the turn writes. */
  async #isCovered(): Promise<boolean> {
    const { turn, approvals } = this.#options;
    const { turnId } = turn.fence;
    const found = await turn.untilStored(() => approvals.list({ turnId, state: 'turn', limit: 1 }));
    return found.length > 0;
  }

  async #ask(
    action: ApprovalAction,
    subject: Subject,
    diffs: readonly FileDiff[],
    signal: AbortSignal,
  ): Promise<Approval> {
    const { turn, ids, approvals, desk, redact } = this.#options;
    // That somebody has cancelled the turn, which an earlier owner may have heard, is heard before anybody is asked.
    await turn.confirm();
    signal.throwIfAborted();
    const approvalId = randomUUID();
    const asked = await turn.untilStored(() =>
      approvals.request(turn.fence, {
        approvalId,
        turnId: turn.fence.turnId,
        ...ids,
        ...subject,
        action: JSON.parse(redact(JSON.stringify(action))) as ApprovalAction,
        diffs,
        hash: hashOf(action),
        waitMs: WAIT_MS,
      }),
    );
    await this.#closeOthers(asked);
    this.#report(asked);
    let decided: Approval | null = asked;
    if (asked.state === 'pending') {
      try {
        decided = await this.#rest(() => desk.decided(asked.approvalId, signal));
      } catch (error) {
        await this.#withdraw(asked);
        throw error;
      }
    }
    if (decided !== null) this.#close(decided);
    await turn.confirm();
    return decided ?? this.#ask(action, subject, diffs, signal);
  }

  async #rest<Result>(wait: () => Promise<Result>): Promise<Result> {
    const { onRest } = this.#options;
    this.#waiting += 1;
    if (this.#waiting === 1) onRest(true);
    try {
      return await wait();
    } finally {
      this.#waiting -= 1;
      if (this.#waiting === 0) onRest(false);
    }
  }

  #report({ approvalId, callId, sessionId, action, hash, expiresAt }: Approval): void {
    if (this.#requested.has(approvalId)) return;
    this.#requested.add(approvalId);
    this.#open.add(approvalId);
    const waits = defined({ callId: callId ?? undefined, sessionId: sessionId ?? undefined });
    const event = { type: 'approval_requested', approvalId, ...waits } as const;
    this.#options.say({ ...event, action, hash, expiresAt });
  }

  #close({ approvalId, state, reason }: Approval): void {
    if (state === 'pending' || !this.#open.delete(approvalId)) return;
    const event = { type: 'approval_decided', approvalId, decision: state } as const;
    this.#options.say({ ...event, ...defined({ reason: reason ?? undefined }) });
  }

  /** What an earlier owner has asked and this one does not any more. */
  async #closeOthers({ approvalId }: Approval): Promise<void> {
    const { turn, approvals } = this.#options;
    const others = [...this.#open].filter((id) => id !== approvalId);
    if (others.length === 0) return;
    const { closed } = await turn.untilStored(() => approvals.news(others));
    for (const other of closed) this.#close(other);
  }

  /** The turn is cancelled. What is left here is closed with the turn. */
  async #withdraw({ approvalId, hash }: Approval): Promise<void> {
    const { approvals, handOff, turn } = this.#options;
    if (handOff.aborted || turn.lost.aborted) return;
    const verdict = { outcome: 'withdrawn', reason: 'The turn was cancelled.' } as const;
    const outcome = await approvals.decide(approvalId, hash, verdict).catch(() => null);
    if (outcome !== null && outcome.kind !== 'unknown') this.#close(outcome.approval);
  }
}

function redactedDiff(redact: Redact): (change: ChangeProposal) => ChangedFileDiff {
  async function* redacted(lines: AsyncIterable<string>): AsyncGenerator<string, void> {
    for await (const line of lines) yield redact(line);
  }
  return (change) => ({ target_file: change.target_file, diff: redacted(change.diff()) });
}

import { OrionError } from '@orion/contracts';
import type {
  Approval,
  Approvals,
  Clock,
  DecideRequest,
  ProposedChange,
  Workspace,
} from '@orion/contracts';

import type { ApprovalCalls } from '../orion.ts';

/** How often the store is asked for what was decided in another process. */
const LOOK_MS = 500;

/**
 * Where turns wait for what people decide.
 *
 * 1. The store decides; this object only learns of it, at once for what was decided here and within half a second for
 *    anything else. One statement asks for all that wait, and none is sent while nothing does.
 * 2. A store that is away delays a decision and loses none.
 */
export class ApprovalDesk implements ApprovalCalls {
  readonly #approvals: Approvals;
  readonly #workspace: Pick<Workspace, 'checkTarget'>;
  readonly #clock: Clock;
  readonly #waiting = new Map<string, (approval: Approval | null) => void>();
  #cancelLook: (() => void) | null = null;

  constructor(approvals: Approvals, workspace: Pick<Workspace, 'checkTarget'>, clock: Clock) {
    this.#approvals = approvals;
    this.#workspace = workspace;
    this.#clock = clock;
  }

  /**
   * How it was decided; null if the store does not have the question any more. Rejects when `signal` is aborted; the
   * question then stays as it is.
   */
  async decided(approvalId: string, signal: AbortSignal): Promise<Approval | null> {
    signal.throwIfAborted();
    const { promise, resolve, reject } = Promise.withResolvers<Approval | null>();
    const stop = (): void => reject(signal.reason);
    signal.addEventListener('abort', stop);
    this.#waiting.set(approvalId, resolve);
    this.#lookLater();
    try {
      return await promise;
    } finally {
      signal.removeEventListener('abort', stop);
      this.#waiting.delete(approvalId);
      if (this.#waiting.size === 0) this.#stopLooking();
    }
  }

  async decide(approvalId: string, request: DecideRequest): Promise<Approval> {
    const { decision, hash, reason = null } = request;
    const found = await this.#approvals.find(approvalId);
    if (found === null) throw approvalNotFound(approvalId);
    const { state, action, hash: asked } = found;
    if (state === 'pending' && hash === asked && decision !== 'no' && action.kind === 'write') {
      const changed = await this.#changedSince(action.changes);
      if (changed !== null) {
        await this.#approvals.decide(approvalId, hash, { outcome: 'withdrawn', reason: changed });
        await this.#look();
        throw stale(changed, 'Look at the approvals again: the turn asks anew.');
      }
    }
    const outcome = await this.#approvals.decide(approvalId, hash, { outcome: decision, reason });
    void this.#look();
    switch (outcome.kind) {
      case 'decided':
        return outcome.approval;
      case 'closed':
        throw closed(outcome.approval);
      case 'stale':
        throw stale(
          'The hash is not that of the action.',
          'Read the approval again, and decide about what it shows now.',
        );
      case 'unknown':
        throw approvalNotFound(approvalId);
      default:
        return outcome satisfies never;
    }
  }

  /** What is not any more as it was shown; null if all of it is. */
  async #changedSince(changes: readonly ProposedChange[]): Promise<string | null> {
    for (const { target_file, operation, before } of changes) {
      const now = await this.#workspace.checkTarget(target_file, operation).catch(() => null);
      if (now === null || now.sha256 !== (before?.sha256 ?? null)) {
        return `${target_file} was changed after it was shown.`;
      }
    }
    return null;
  }

  /** Never rejects. */
  async #look(): Promise<void> {
    this.#stopLooking();
    try {
      const { closed, unknown } = await this.#approvals.news([...this.#waiting.keys()]);
      for (const approval of closed) this.#waiting.get(approval.approvalId)?.(approval);
      for (const approvalId of unknown) this.#waiting.get(approvalId)?.(null);
    } catch {
      // The store is away: the next look finds it.
    }
    this.#lookLater();
  }

  #stopLooking(): void {
    this.#cancelLook?.();
    this.#cancelLook = null;
  }

  #lookLater(): void {
    if (this.#waiting.size === 0) return;
    this.#cancelLook ??= this.#clock.schedule(LOOK_MS, () => {
      this.#cancelLook = null;
      void this.#look();
    });
  }
}

export function approvalNotFound(approvalId: string): OrionError {
  const message = `There is no approval ${JSON.stringify(approvalId)}.`;
  return new OrionError({ code: 'APPROVAL_NOT_FOUND', message });
}

function stale(message: string, hint: string): OrionError {
  return new OrionError({ code: 'APPROVAL_STALE', message, hint });
}

function closed({ state, reason }: Approval): OrionError {
  const how = { yes: 'approved', turn: 'approved', no: 'refused' } as const;
  const what = state in how ? how[state as keyof typeof how] : state;
  const why = reason === null ? '' : `: ${reason}`;
  return new OrionError({
    code: 'APPROVAL_DECIDED',
    message: `It was ${what} before${why}`.replace(/[^.!?]$/u, '$&.'),
    details: { state, ...(reason === null ? {} : { reason }) },
  });
}

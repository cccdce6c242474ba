import { randomUUID } from 'node:crypto';

import { defined } from '@orion/contracts';
import type { ApprovalAction, Redact, RunEventBody, ToolAction } from '@orion/contracts';
import type { ChangeReviewer } from '@orion/core';
import type { Approval } from '@orion/tool-runner';

import type { OrionOptions } from '../orion.ts';
import { hashOf, writeAction } from './shown-change.ts';

type Answer = { readonly approved: boolean; readonly reason?: string; readonly forTurn?: true };
type Subject = { readonly callId: string } | { readonly sessionId: string };

/**
 * Reports what one turn asks a person in this process, on a terminal for example. Nothing is stored: whoever is asked
 * answers here, or nobody does.
 */
export class AskedHere {
  readonly #say: (event: RunEventBody) => void;
  readonly #redact: Redact;
  /** The change with which the person has said yes to all others of the turn. */
  #coveredBy: string | null = null;

  constructor(say: (event: RunEventBody) => void, redact: Redact) {
    this.#say = say;
    this.#redact = redact;
  }

  reviewer(review: ChangeReviewer): ChangeReviewer {
    return async (request, signal) => {
      const { id, intent, changes } = request;
      const isProtected = changes.some((change) => change.protected);
      if (this.#coveredBy !== null && this.#coveredBy !== id && !isProtected) {
        return review(request, signal);
      }
      const answer = await this.#reported(writeAction(intent, changes), { sessionId: id }, () =>
        review(request, signal),
      );
      if (answer.forTurn === true) this.#coveredBy = id;
      return answer;
    };
  }

  reviewCall(
    review: NonNullable<OrionOptions['reviewAction']>,
    action: ToolAction,
    callId: string,
    signal: AbortSignal,
  ): Promise<Approval> {
    return this.#reported(action, { callId }, () => review(action, signal));
  }

  /** A question that fails, as when the turn is cancelled, is withdrawn. */
  async #reported<Given extends Answer>(
    action: ApprovalAction,
    subject: Subject,
    ask: () => Promise<Given>,
  ): Promise<Given> {
    const approvalId = randomUUID();
    const shown = JSON.parse(this.#redact(JSON.stringify(action))) as ApprovalAction;
    const asked = { type: 'approval_requested', approvalId, ...subject } as const;
    this.#say({ ...asked, action: shown, hash: hashOf(action) });
    const decided = { type: 'approval_decided', approvalId } as const;
    try {
      const answer = await ask();
      const decision = answer.approved ? (answer.forTurn === true ? 'turn' : 'yes') : 'no';
      const reason = answer.reason === undefined ? undefined : this.#redact(answer.reason);
      this.#say({ ...decided, decision, ...defined({ reason }) });
      return answer;
    } catch (error) {
      this.#say({ ...decided, decision: 'withdrawn' });
      throw error;
    }
  }
}

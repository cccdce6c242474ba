import { defined, OrionError } from '@orion/contracts';
import type {
  Clock,
  PatternMatcher,
  PlanReport,
  SessionHandle,
  Tool,
  TurnFence,
  TurnRecord,
  Workspace,
  WritePlan,
} from '@orion/contracts';

import { applyPlan } from './write-plan/apply-plan.ts';
import type { PlanOptions } from './write-plan/apply-plan.ts';
import type { BeginRequest, BegunSession } from './write-plan/begin-request.ts';
import { beginSession } from './write-plan/begin-session.ts';
import { createBeginTool } from './write-plan/begin-tool.ts';
import { finalizeSession } from './write-plan/finalize-session.ts';
import type { FinalizeFacts, FinalizeOutcome } from './write-plan/finalize-session.ts';
import { sessionDiff } from './write-plan/session-diff.ts';
import type { DiffedText } from './write-plan/session-diff.ts';
import { neverApproved } from './write-plan/review.ts';
import type { ApprovalPolicy } from './write-plan/review.ts';

export interface WritePlanTool {
  /** The tool for the model; `open` opens the session. */
  tool(open: (request: BeginRequest, toolCallId: string) => Promise<BegunSession>): Tool;
  /**
   * Checks the request, creates the session on disk, and words the result for the model. `turn` is what a recovery
   * needs to know; it is stored together with the session. `policy` is used instead of `approval` of the options;
   * `fence` is the turn that owns the session.
   */
  begin(
    request: BeginRequest,
    turn?: TurnRecord,
    policy?: ApprovalPolicy,
    fence?: TurnFence,
  ): Promise<BegunSession>;
  /**
   * Runs a write plan, given in its JSON form or as `{plan}`. Rejects with INVALID_PLAN. A failed operation is reported;
   * nothing has changed then, unless the plan says `atomic: false`.
   */
  execute(plan: unknown, options?: PlanOptions): Promise<PlanReport>;
  /**
   * Writes the saved text of a session to its target. Internal: no model can call it.
   *
   * `diskFilePath` must be the session's own content file (INVALID_CONTENT_PATH). Rejects with SESSION_NOT_FOUND, with
   * VALIDATION_FAILED if the text cannot be validated, and with the errors of the commit; then nothing is written and
   * the session stays. Invalid text is an outcome, not an error.
   */
  finalizeSession(
    sessionId: string,
    diskFilePath: string,
    facts: FinalizeFacts,
  ): Promise<FinalizeOutcome>;
  /**
   * The change that a session would make now, as the lines of a unified diff; text that is not valid is shown as it would
   * be replaced. Rejects like `finalizeSession` for a target or a place in it that has changed.
   */
  diffSession(sessionId: string, text: DiffedText): Promise<AsyncIterable<string>>;
  /** Registers a session that a recovery opened. */
  adopt(handle: SessionHandle): void;
  forget(sessionId: string): void;
}

export type WritePlanToolOptions = {
  readonly workspace: Workspace;
  readonly clock: Clock;
  /** A new lower-case UUID v4 each time, for a session of this turn, or for a plan. */
  readonly createId: (turn?: TurnRecord) => string;
  readonly patterns: PatternMatcher;
  /** Who approves the changes of sessions and plans; by default no approval is needed. */
  readonly approval?: ApprovalPolicy;
  /**
   * Yields to the rest of the process while a plan is checked. By default it yields to microtasks only, so a running
   * check cannot be cancelled.
   */
  readonly nextTurn?: () => Promise<void>;
  /** Whether new text takes the line endings of its file; `match` by default. */
  readonly eol?: WritePlan['eol'];
  /** Whether only a session's own end marker ends its text; false by default. */
  readonly strict?: boolean;
};

export function createWritePlanTool({
  workspace,
  clock,
  createId,
  patterns,
  approval = { kind: 'auto' },
  nextTurn = () => Promise.resolve(),
  eol = 'match',
  strict = false,
}: WritePlanToolOptions): WritePlanTool {
  const sessions = new Map<string, SessionHandle>();
  const ports = { workspace, clock, createId, patterns, approval, nextTurn, eol, strict };
  const registered = (sessionId: string): SessionHandle => {
    const handle = sessions.get(sessionId);
    if (handle !== undefined) return handle;
    throw new OrionError({
      code: 'SESSION_NOT_FOUND',
      message: 'Session not found or expired. Please start a new write session.',
    });
  };
  return {
    tool: (open) => createBeginTool(open, strict),
    async begin(request, turn, policy = approval, fence) {
      if (policy.kind === 'never') throw neverApproved();
      const begun = await beginSession(request, { turn, fence }, ports);
      sessions.set(begun.handle.id, begun.handle);
      return begun;
    },
    execute: (plan, options = {}) => applyPlan(plan, { approval, ...options }, createId(), ports),
    async finalizeSession(sessionId, diskFilePath, facts) {
      const handle = registered(sessionId);
      if (diskFilePath !== handle.contentPath()) {
        throw new OrionError({
          code: 'INVALID_CONTENT_PATH',
          message: `${diskFilePath} is not the content file of session ${sessionId}.`,
        });
      }
      return finalizeSession(handle, facts, { ...ports, ...defined({ approval: facts.approval }) });
    },
    diffSession: async (sessionId, text) =>
      sessionDiff(registered(sessionId), text, { ...ports, eol }),
    adopt: (handle) => void sessions.set(handle.id, handle),
    forget: (sessionId) => void sessions.delete(sessionId),
  };
}

import { OrionError } from '@orion/contracts';
import type {
  Clock,
  PatternMatcher,
  PlanReport,
  SessionHandle,
  Tool,
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
import { neverApproved } from './write-plan/review.ts';
import type { ApprovalPolicy } from './write-plan/review.ts';

export interface WritePlanTool {
  /** The definition that a model sees, bound to what opens the session. */
  tool(open: (request: BeginRequest, toolCallId: string) => Promise<BegunSession>): Tool;
  /**
   * Checks the request, makes the session on disk, and words the result for the model. `turn` is what a recovery
   * needs to know; it is on disk as soon as the session is.
   */
  begin(request: BeginRequest, turn?: TurnRecord): Promise<BegunSession>;
  /**
   * Runs a write plan: its JSON form, or `{plan}` around it. Rejects with INVALID_PLAN; an operation that fails is
   * reported, and then nothing has changed unless the plan says `atomic: false`.
   */
  execute(plan: unknown, options?: PlanOptions): Promise<PlanReport>;
  /**
   * Writes what a session has saved to its target. Internal: no model reaches it.
   *
   * `diskFilePath` must be the session's own content file (INVALID_CONTENT_PATH). Rejects with SESSION_NOT_FOUND,
   * with VALIDATION_FAILED when the text cannot be validated, and with what the commit rejects with; nothing is
   * written then, and the session stays. Text that is not valid is an outcome, not a failure.
   */
  finalizeSession(
    sessionId: string,
    diskFilePath: string,
    facts: FinalizeFacts,
  ): Promise<FinalizeOutcome>;
  /** Makes a session known that was opened by a recovery. */
  adopt(handle: SessionHandle): void;
  forget(sessionId: string): void;
}

export type WritePlanToolOptions = {
  readonly workspace: Workspace;
  readonly clock: Clock;
  /** A new lower-case UUID v4 each time. */
  readonly createId: () => string;
  readonly patterns: PatternMatcher;
  /** Who agrees to what a session or a plan is about to change; nobody has to when left out. */
  readonly approval?: ApprovalPolicy;
  /**
   * Lets the rest of the process have its turn while a plan is judged; the microtasks alone when left out, so that
   * nothing can be called off.
   */
  readonly nextTurn?: () => Promise<void>;
  /** Whether new text takes the line endings of the file it goes into; `match` when left out. */
  readonly eol?: WritePlan['eol'];
  /** Whether only a session's own end marker ends its text. */
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
  return {
    tool: (open) => createBeginTool(open, strict),
    async begin(request, turn) {
      if (approval.kind === 'never') throw neverApproved();
      const begun = await beginSession(request, turn, ports);
      sessions.set(begun.handle.id, begun.handle);
      return begun;
    },
    execute: (plan, options = {}) => applyPlan(plan, { approval, ...options }, createId(), ports),
    async finalizeSession(sessionId, diskFilePath, facts) {
      const handle = sessions.get(sessionId);
      if (handle === undefined) {
        throw new OrionError({
          code: 'SESSION_NOT_FOUND',
          message: 'Session not found or expired. Please start a new write session.',
        });
      }
      if (diskFilePath !== handle.contentPath()) {
        throw new OrionError({
          code: 'INVALID_CONTENT_PATH',
          message: `${diskFilePath} is not the content file of session ${sessionId}.`,
        });
      }
      return finalizeSession(handle, facts, ports);
    },
    adopt: (handle) => void sessions.set(handle.id, handle),
    forget: (sessionId) => void sessions.delete(sessionId),
  };
}

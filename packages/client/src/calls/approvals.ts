import type {
  Approval,
  ApprovalAnswer,
  ApprovalsAnswer,
  ApprovalsQuery,
  DecideRequest,
} from '@orion/contracts';

import type { CallOptions, Connection } from '../connection.ts';
import { get, path, post } from './call.ts';

export type ApprovalCalls = {
  /** What turns wait for, and what was decided; newest first. */
  list(which?: ApprovalsQuery, options?: CallOptions): Promise<ApprovalsAnswer>;
  /** One of them, with the diff of each file that it would change. */
  get(approvalId: string, options?: CallOptions): Promise<ApprovalAnswer>;
  /**
   * Decides. When the answer is lost the same decision may be sent again: it rejects with APPROVAL_DECIDED, and `get`
   * says what stands.
   */
  decide(approvalId: string, decision: DecideRequest, options?: CallOptions): Promise<Approval>;
};

export function approvalCalls(connection: Connection): ApprovalCalls {
  return {
    list: (query = {}, call = {}) => get(connection, '/api/approvals', { ...call, query }),
    get: (approvalId, call) => get(connection, path`/api/approvals/${approvalId}`, call),
    decide: (approvalId, body, call = {}) =>
      post(connection, path`/api/approvals/${approvalId}`, { ...call, body }),
  };
}

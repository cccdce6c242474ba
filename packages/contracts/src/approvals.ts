import type { TurnFence } from './conversation-store.ts';
import type { ToolAction } from './tools.ts';
import type { WriteOperation } from './write-session.ts';

/** What a person decides about before it happens. It is shown whole: a yes is given to exactly this. */
export type ApprovalAction = WriteAction | ToolAction;

/** Changes of files whose new bytes are ready. */
export type WriteAction = {
  readonly kind: 'write';
  /** What the model says it is for. */
  readonly intent: string;
  readonly changes: readonly ProposedChange[];
};

/** One file that is about to change. */
export type ProposedChange = {
  /** Relative to the workspace root. */
  readonly target_file: string;
  /** Absolute, with links resolved: the file that changes. */
  readonly real_path: string;
  readonly operation: WriteOperation;
  /** Null if there is no file yet. */
  readonly before: { readonly bytes: number; readonly sha256: string } | null;
  readonly after: { readonly bytes: number; readonly sha256: string };
  /** All lines end in CRLF, before and after: a reader of the diff need not check each line. */
  readonly crlf: boolean;
  /** A protected path. A yes to all writes of a turn does not cover it. */
  readonly protected: boolean;
  /** The file has other names (hard links): under those, it stays as it is. */
  readonly hard_link: boolean;
};

/** What is shown of one file that changes. */
export type FileDiff = {
  readonly target_file: string;
  /** Lines of a unified diff; null if there is none. */
  readonly diff: string | null;
  /** Not all of it is here: of a long one, and of a line in it that is long, only the beginning. */
  readonly cut: boolean;
};

/** `turn`: yes, and to every later write of the turn that is not to a protected path. */
export type ApprovalDecision = 'yes' | 'no' | 'turn';

/** `expired`: nobody decided in time. `withdrawn`: the turn ended, or what was shown is not what would happen any more. */
export type ApprovalOutcome = ApprovalDecision | 'expired' | 'withdrawn';

export type ApprovalState = 'pending' | ApprovalOutcome;

/** What a turn that asks for an approval stores. */
export type NewApproval = {
  /** A new id, used if the turn has not asked for the same before. */
  readonly approvalId: string;
  readonly turnId: string;
  readonly projectId: string;
  readonly conversationId: string;
  /** The call that waits, of a command or a tool; null for a write. */
  readonly callId: string | null;
  /** The session that waits; null for anything but a write. */
  readonly sessionId: string | null;
  /** Without the keys in use. */
  readonly action: ApprovalAction;
  /** Of the changes of a write, without the keys in use. Kept while the question waits. */
  readonly diffs: readonly FileDiff[];
  /** SHA-256 of the action, in hexadecimal: what a decision names. */
  readonly hash: string;
  /** How long it may wait, in milliseconds. */
  readonly waitMs: number;
};

/** Times are milliseconds since the epoch, by the clock of the store. */
export type Approval = Omit<NewApproval, 'diffs' | 'waitMs'> & {
  readonly state: ApprovalState;
  /** What the person, or the runtime, gave as the reason. */
  readonly reason: string | null;
  readonly createdAt: number;
  /** When it counts as a no if nobody has decided. */
  readonly expiresAt: number;
  readonly decidedAt: number | null;
};

export type ApprovalFilter = {
  readonly state?: ApprovalState;
  readonly projectId?: string;
  readonly turnId?: string;
  readonly sessionId?: string;
  readonly limit: number;
  /** The id of an approval: those that were asked for before it. */
  readonly before?: string;
};

export type ApprovalVerdict = {
  readonly outcome: ApprovalOutcome;
  readonly reason: string | null;
};

export type DecideOutcome =
  | { readonly kind: 'decided'; readonly approval: Approval }
  /** It was decided before, has expired or was withdrawn: this is what stands. */
  | { readonly kind: 'closed'; readonly approval: Approval }
  /** The hash is another. */
  | { readonly kind: 'stale'; readonly approval: Approval }
  | { readonly kind: 'unknown' };

export type ApprovalNews = {
  /** Those that are not pending, in any order. */
  readonly closed: readonly Approval[];
  /** Those that the store does not have, or not any more: it went back to what it was before them. */
  readonly unknown: readonly string[];
};

/**
 * What served turns ask people. An approval is decided once; whoever is second learns what stands. It belongs to its
 * turn, whoever runs that: a later owner finds it as it is. One whose time is over counts as expired, and one whose turn
 * is over as withdrawn, from the next call on. Rejects with STORE_UNAVAILABLE.
 */
export interface Approvals {
  /**
   * Stores a question, or finds the one that the turn asked before: of the same call or session, with the same hash and
   * not withdrawn. What else the turn has asked about it is withdrawn. A turn that comes to wait for a person has made
   * progress: the attempts before do not count. Rejects with FENCED if the turn is another owner's or over.
   */
  request(owner: TurnFence, request: NewApproval): Promise<Approval>;
  /** Whether `hash` is right and the question is open is decided together with the verdict. */
  decide(approvalId: string, hash: string, verdict: ApprovalVerdict): Promise<DecideOutcome>;
  find(approvalId: string): Promise<Approval | null>;
  /** Those of a question that waits, whoever asked it; none of anything else. */
  findDiffs(approvalId: string): Promise<readonly FileDiff[]>;
  /** What has become of these. */
  news(approvalIds: readonly string[]): Promise<ApprovalNews>;
  /** Newest first; an unknown `before` finds nothing. */
  list(filter: ApprovalFilter): Promise<readonly Approval[]>;
  /** How many wait for a decision. */
  countPending(): Promise<number>;
}

/** What the routes of a server answer about a project whose names are longer than any screen. */
import type {
  Approval,
  ApprovalAction,
  ApprovalAnswer,
  ConversationSummary,
  OpenUpload,
  RecordedChange,
  ServedTurn,
  StatusAnswer,
  TracedTurn,
  WriteReceipt,
} from '@orion/contracts';

const HOUR_MS = 3_600_000;

/** Of words that may be divided, and of one that may not. */
export const LONG_NAME = `docs/${'a-very-long-name-'.repeat(6)}.md`;
export const LONG_WORD = 'oneWordWithoutAnyPlaceToDivideIt'.repeat(6);
export const LONG_LINE = `${'words that go on and on '.repeat(12)}${LONG_WORD}`;
export const HASH = '0123456789abcdef'.repeat(4);

export const STATUS: StatusAnswer = {
  projects: null,
  folder: `/home/somebody/${LONG_WORD}/project`,
  page: null,
  pendingApprovals: 0,
  turns: { queued: 0, running: 0 },
  writeSessions: { live: 0, unfinished: 0 },
};

export function upload(more: Partial<OpenUpload> = {}): OpenUpload {
  return {
    session_id: 's',
    status: 'paused',
    uploaded: false,
    target_file: LONG_NAME,
    operation: 'create',
    intent: 'to test',
    bytes: 512_004,
    saved_bytes: 511_980,
    lines: 9870,
    seams: [],
    age_ms: 90_000,
    ...more,
  };
}

export function servedTurn(more: Partial<ServedTurn> = {}): ServedTurn {
  return {
    turnId: 't',
    projectId: 'p',
    conversationId: 'c',
    mode: 'act',
    protocol: null,
    state: 'running',
    status: null,
    lastSeq: 1,
    cancelRequested: false,
    createdAt: Date.now() - HOUR_MS,
    finishedAt: null,
    ...more,
  };
}

export function conversation(more: Partial<ConversationSummary> = {}): ConversationSummary {
  return {
    conversationId: 'c',
    projectId: 'p',
    title: LONG_LINE,
    messages: 3,
    createdAt: Date.now() - HOUR_MS,
    updatedAt: Date.now(),
    openSessionId: null,
    revision: 1,
    ...more,
  };
}

export function change(more: Partial<RecordedChange> = {}): RecordedChange {
  return {
    change_id: 'change',
    created_at: new Date(Date.now() - HOUR_MS).toISOString(),
    status: 'in_effect',
    undoes: [],
    foreign: false,
    files: [
      {
        backup_id: 'backup',
        target_file: LONG_NAME,
        operation: 'overwrite',
        undone: false,
        before: { sha256: HASH, bytes: 4, mode: '0644' },
        after: { sha256: HASH },
      },
    ],
    ...more,
  };
}

export function tracedTurn(more: Partial<TracedTurn> = {}): TracedTurn {
  return {
    requestId: 't',
    projectId: 'p',
    task: LONG_LINE,
    startedAt: Date.now() - HOUR_MS,
    status: 'complete',
    durationMs: 90_000,
    ...more,
  };
}

export const WRITE_ACTION: ApprovalAction = {
  kind: 'write',
  intent: LONG_LINE,
  changes: [
    {
      target_file: LONG_NAME,
      real_path: `/home/somebody/${LONG_WORD}/${LONG_NAME}`,
      operation: 'overwrite',
      before: { bytes: 400, sha256: HASH },
      after: { bytes: 512_004, sha256: HASH },
      crlf: false,
      protected: true,
      hard_link: true,
    },
  ],
};

export const COMMAND_ACTION: ApprovalAction = {
  kind: 'command',
  command: `make${' '.repeat(40)}${LONG_WORD}`,
  folder: LONG_NAME,
};

export const MCP_ACTION: ApprovalAction = {
  kind: 'mcp',
  server: LONG_WORD,
  place: `npx ${LONG_LINE}`,
  tool: LONG_WORD,
  name: 'mcp_tool',
  arguments: { path: LONG_WORD, text: `${LONG_LINE}\u202e` },
  definition: { description: HASH, schema: HASH, command: HASH },
  changed: ['description', 'schema', 'command'],
};

export const DIFF = `@@ -1,2 +1,2 @@\n-old ${LONG_LINE}\n+new\u200b ${LONG_LINE}\n same\n`;

export function approval(more: Partial<Approval> = {}): Approval {
  return {
    approvalId: 'a',
    turnId: 't',
    projectId: 'p',
    conversationId: 'c',
    callId: null,
    sessionId: 's',
    action: WRITE_ACTION,
    hash: HASH,
    state: 'pending',
    reason: null,
    createdAt: Date.now() - HOUR_MS,
    expiresAt: Date.now() + HOUR_MS,
    decidedAt: null,
    ...more,
  };
}

export function approvalAnswer(more: Partial<ApprovalAnswer> = {}): ApprovalAnswer {
  const diffs = [{ target_file: LONG_NAME, diff: DIFF, cut: false }];
  return { ...approval(), diffs, ...more };
}

export function receipt(more: Partial<WriteReceipt> = {}): WriteReceipt {
  return {
    session_id: 's',
    target_file: LONG_NAME,
    operation: 'create',
    bytes: 512_004,
    lines: 9870,
    sha256: HASH,
    eol: 'lf',
    bom: false,
    mode: '0644',
    backup_id: 'change',
    warnings: [`The folder ${LONG_WORD} could not be synced.`],
    not_kept: ['its access control list'],
    persistence: 'memory',
    fence_stripped: true,
    inner_done_lines: [],
    trailing: `.orion/${LONG_WORD}.txt`,
    seams: [
      {
        line: 6411,
        status: 'verified',
        via: 'tail',
        lines_dropped: 2,
        text_set_aside: 0,
        conversion: 'none',
      },
    ],
    validation_summary: {
      attempts: 0,
      invalid_found: 1,
      corrected: 0,
      replaced: 1,
      used_safe_replacement: true,
      omission_suspected: [3, 90],
      hidden_characters: 2,
      original_length: 1,
      final_length: 1,
    },
    ...more,
  };
}

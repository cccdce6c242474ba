import { BEGIN_TOOL_NAME, OrionError, WRITE_OPERATIONS } from '@orion/contracts';
import type {
  ByteSource,
  Clock,
  JsonObject,
  Seam,
  SessionHandle,
  SessionMetadata,
  TargetSnapshot,
  TextRepair,
  Tool,
  ToolOutput,
  TurnRecord,
  Workspace,
  WriteOperation,
  WriteReceipt,
} from '@orion/contracts';

import { repairedText } from './validation/repaired-text.ts';
import {
  describeInvalid,
  replacedPlaces,
  summarizeValidation,
} from './validation/validate-session-text.ts';
import type { NeedsCorrections } from './validation/validate-session-text.ts';
import { executeWritePlan } from './write-plan/execute.ts';
import type { PlanExecution } from './write-plan/execute.ts';
import { beginInstructions } from './write-session/text/prompts.ts';

/** Arguments of begin are metadata: more than this is content in the wrong place. */
export const MAX_BEGIN_ARGUMENT_BYTES: number = 16 * 1024;

export type BeginRequest = {
  readonly intent: string;
  readonly target_file: string;
  readonly operation: WriteOperation;
  readonly final_newline: boolean;
};

export type BegunSession = { readonly handle: SessionHandle; readonly result: JsonObject };

/** What the reducer knows of the session that the commit alone does not. */
export type FinalizeFacts = {
  readonly start: number;
  /** Null: to the end. */
  readonly end: number | null;
  readonly fenceStripped: boolean;
  readonly innerDoneLines: readonly number[];
  readonly seams: readonly Seam[];
  readonly repair: TextRepair | null;
  /** Another target than the session's own, when a person resolves a conflict. */
  readonly target?: { readonly operation: WriteOperation; readonly expected: TargetSnapshot };
};

export type FinalizeOutcome =
  | { readonly kind: 'written'; readonly receipt: WriteReceipt }
  /** Nothing is written: the text is no valid UTF-8 as it stands. */
  | { readonly kind: 'needs_corrections'; readonly corrections: NeedsCorrections };

export interface WritePlanTool {
  /** The definition that a model sees, bound to what opens the session. */
  tool(open: (request: BeginRequest, toolCallId: string) => Promise<BegunSession>): Tool;
  /**
   * Checks the request, makes the session on disk, and words the result for the model. `turn` is what a recovery
   * needs to know; it is on disk as soon as the session is.
   */
  begin(request: BeginRequest, turn?: TurnRecord): Promise<BegunSession>;
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
  /** Whether new text takes the line endings of the file it goes into; `match` when left out. */
  readonly eol?: 'match' | 'as-is';
};

export function createWritePlanTool(options: WritePlanToolOptions): WritePlanTool {
  const { workspace, clock, createId } = options;
  const sessions = new Map<string, SessionHandle>();

  async function begin(request: BeginRequest, turn?: TurnRecord): Promise<BegunSession> {
    const target = await workspace.checkTarget(request.target_file, request.operation);
    const sessionId = createId();
    const endMarker = `DONE ${sessionId.slice(0, 4)}`;
    const metadata: SessionMetadata = {
      version: 1,
      session_id: sessionId,
      intent: request.intent,
      target_file: target.path,
      operation: request.operation,
      created_at: new Date(clock.now()).toISOString(),
      end_marker: endMarker,
      final_newline: request.final_newline,
      target,
    };
    const handle = await workspace.sessions.begin(metadata, turn);
    sessions.set(sessionId, handle);
    return {
      handle,
      result: {
        session_id: sessionId,
        stage: 'awaiting_content',
        session_dir: handle.directory,
        target_file: target.path,
        operation: request.operation,
        instructions: beginInstructions({
          target: target.path,
          operation: request.operation,
          endMarker,
        }),
        end_marker: endMarker,
        next: 'content',
      },
    };
  }

  async function finalizeSession(
    sessionId: string,
    diskFilePath: string,
    facts: FinalizeFacts,
  ): Promise<FinalizeOutcome> {
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
    const { metadata } = handle;
    const operation = facts.target?.operation ?? metadata.operation;
    const expected = facts.target?.expected ?? metadata.target;
    const { repair } = facts;
    const saved: ByteSource = () => handle.readContent(facts.start, facts.end ?? undefined);
    const text = repairedText(saved, repair);
    const replaced = await replacedPlaces(saved, repair, expected.path);
    let execution: PlanExecution;
    try {
      execution = await executeWritePlan(
        {
          intent: metadata.intent,
          operations: [
            {
              type: operation,
              target_file: expected.path,
              content: { kind: 'bytes', source: text },
            },
          ],
          expected,
          changeId: sessionId,
          eol: options.eol ?? 'match',
        },
        workspace,
        (writing) => handle.recordWriting(writing),
      );
    } catch (error) {
      if (!OrionError.isInstance(error) || error.code !== 'INVALID_CONTENT') throw error;
      const corrections = await describeInvalid({ sessionId, target: expected.path, text, repair });
      return { kind: 'needs_corrections', corrections };
    }
    const { commit, checkedBytes } = execution;
    const receipt: WriteReceipt = {
      session_id: sessionId,
      target_file: commit.path,
      operation,
      bytes: commit.bytes,
      lines: commit.lines,
      sha256: commit.sha256,
      eol: commit.eol,
      bom: commit.bom,
      mode: commit.mode,
      persistence: handle.persistence(),
      fence_stripped: facts.fenceStripped,
      inner_done_lines: facts.innerDoneLines,
      seams: facts.seams,
      validation_summary: summarizeValidation({
        textBytes: repair === null ? checkedBytes : (facts.end ?? handle.bytes()) - facts.start,
        repair,
        replaced,
        writtenBytes: commit.bytes,
      }),
      ...(commit.backup_id === undefined ? {} : { backup_id: commit.backup_id }),
      ...(commit.backup_path === undefined ? {} : { backup_path: commit.backup_path }),
      warnings: commit.warnings,
      not_kept: commit.not_kept,
    };
    return { kind: 'written', receipt };
  }

  return {
    begin,
    finalizeSession,
    adopt: (handle) => void sessions.set(handle.id, handle),
    forget: (sessionId) => void sessions.delete(sessionId),
    tool: (open) => createBeginTool(open),
  };
}

function createBeginTool(
  open: (request: BeginRequest, toolCallId: string) => Promise<BegunSession>,
): Tool {
  return {
    effect: 'write',
    checksArguments: true,
    maxArgumentBytes: MAX_BEGIN_ARGUMENT_BYTES,
    definition: {
      name: BEGIN_TOOL_NAME,
      description:
        'Opens a write session for one file. The arguments say only which file and how; the file itself is ' +
        'your next message, as plain text, ended by a line DONE. Use it for every file you create or change.',
      parameters: {
        type: 'object',
        properties: {
          intent: { type: 'string', description: 'What this change is for, in a few words.' },
          target_file: { type: 'string', description: 'The file, relative to the workspace root.' },
          operation: {
            type: 'string',
            enum: [...WRITE_OPERATIONS],
            description:
              'create: a new file. overwrite: replace the whole file. append: add to its end.',
          },
          final_newline: {
            type: 'boolean',
            description:
              'False only for a file that must not end with a line ending. Default true.',
          },
        },
        required: ['intent', 'target_file', 'operation'],
      },
    },
    async execute(args, context): Promise<ToolOutput> {
      const begun = await open(readBeginRequest(args), context.toolCallId);
      return { result: begun.result, next: 'content' };
    },
    summarize: () => 'The write session is open.',
    normalize: (args) => ({
      target_file: args['target_file'],
      operation: args['operation'],
      // The same text may rightly be appended twice; what for tells two appends apart.
      ...(args['operation'] === 'append' ? { intent: args['intent'] } : {}),
    }),
  };
}

const CONTENT_LIKE = new Set([
  'content',
  'raw_content',
  'content_block',
  'text',
  'file_content',
  'body',
  'data',
]);

/** Reads begin's arguments; what is wrong is said in words that a model can act on. */
export function readBeginRequest(args: JsonObject): BeginRequest {
  for (const key of Object.keys(args)) {
    if (CONTENT_LIKE.has(key)) {
      throw new OrionError({
        code: 'CONTENT_IN_ARGUMENTS',
        message: `Leave out "${key}": call ${BEGIN_TOOL_NAME} with intent, target_file and operation only, then write the content as your next message and end it with DONE on its own line.`,
      });
    }
  }
  const operation = args['operation'];
  if (!isOperation(operation)) {
    throw new OrionError({
      code: 'INVALID_OPERATION',
      message: `Invalid operation type. Must be ${listed(WRITE_OPERATIONS)}.`,
    });
  }
  const finalNewline = args['final_newline'];
  if (finalNewline !== undefined && typeof finalNewline !== 'boolean') {
    throw new OrionError({
      code: 'INVALID_TOOL_ARGUMENTS',
      message: 'final_newline must be true or false',
    });
  }
  return {
    intent: requiredText(args, 'intent'),
    target_file: requiredText(args, 'target_file'),
    operation,
    final_newline: finalNewline ?? true,
  };
}

function isOperation(value: unknown): value is WriteOperation {
  return WRITE_OPERATIONS.some((operation) => operation === value);
}

function listed(values: readonly string[]): string {
  const quoted = values.map((value) => `'${value}'`);
  return `${quoted.slice(0, -1).join(', ')}, or ${quoted.at(-1) ?? ''}`;
}

function requiredText(args: JsonObject, key: string): string {
  const value = args[key];
  if (typeof value === 'string' && value.trim() !== '') return value;
  throw new OrionError({ code: 'INVALID_TOOL_ARGUMENTS', message: `${key} is required` });
}

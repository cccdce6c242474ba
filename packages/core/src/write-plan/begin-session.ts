import type {
  Clock,
  JsonObject,
  SessionMetadata,
  TargetSnapshot,
  TurnFence,
  TurnRecord,
  Workspace,
  WriteOperation,
} from '@orion/contracts';

import { beginInstructions } from '../write-session/text/prompts.ts';
import type { BeginRequest, BegunSession } from './begin-request.ts';
import type { PlanPorts } from './execute.ts';
import { encodingNote, requireTakesText } from './fitting-text.ts';
import { requirePlace } from './session-change.ts';

export type BeginPorts = PlanPorts & {
  readonly workspace: Pick<Workspace, 'sessions'>;
  readonly clock: Clock;
  /** A new lower-case UUID v4 each time, for a session of this turn. */
  readonly createId: (turn?: TurnRecord) => string;
  /** Only the session's own end marker ends its text. */
  readonly strict: boolean;
};

/** Checks the request, creates the session on disk, and builds the result for the model. */
export async function beginSession(
  request: BeginRequest,
  owner: { readonly turn: TurnRecord | undefined; readonly fence: TurnFence | undefined },
  ports: BeginPorts,
): Promise<BegunSession> {
  const { workspace, clock, createId, strict } = ports;
  const { operation, location, intent } = request;
  const target = await workspace.checkTarget(request.target_file, operation);
  if (keepsText(operation)) requireTakesText(target);
  // Otherwise a wrong place would be found only after the whole text was streamed.
  if (location !== undefined) await requirePlace(request, target, ports);
  const sessionId = request.upload?.sessionId ?? createId(owner.turn);
  const endMarker = `DONE ${sessionId.slice(0, 4)}`;
  const metadata: SessionMetadata = {
    version: 1,
    session_id: sessionId,
    intent,
    target_file: target.path,
    operation,
    ...(location === undefined ? {} : { location }),
    created_at: new Date(clock.now()).toISOString(),
    end_marker: endMarker,
    final_newline: request.final_newline,
    ...(request.start_on_new_line === true ? { start_on_new_line: true } : {}),
    ...(keepsLeadingBlankLines(request, target) ? { keep_leading_blank_lines: true } : {}),
    ...(request.upload === undefined ? {} : { uploaded: true }),
    target,
  };
  const handle = await workspace.sessions.begin(metadata, owner.turn, owner.fence);
  return {
    handle,
    result: {
      session_id: sessionId,
      stage: 'awaiting_content',
      session_dir: handle.directory,
      target_file: target.path,
      operation,
      ...factsOf(target, operation),
      instructions: beginInstructions({
        target: target.path,
        operation,
        location,
        endMarker,
        strict,
      }),
      end_marker: endMarker,
      next: 'content',
    },
  };
}

function keepsText(operation: WriteOperation): boolean {
  return operation !== 'create' && operation !== 'overwrite';
}

/** R272: if the replaced file begins with a blank line, the new one may, too. */
function keepsLeadingBlankLines(request: BeginRequest, target: TargetSnapshot): boolean {
  if (keepsText(request.operation)) return false;
  return request.keep_leading_blank_lines === true || target.beginsBlank === true;
}

/** R298: facts about the file that the model cannot see and that affect what it should write. */
function factsOf(target: TargetSnapshot, operation: WriteOperation): JsonObject {
  const { encoding, unterminated } = target;
  return {
    ...(operation === 'append' && unterminated === true ? { ends_without_newline: true } : {}),
    ...(encoding === undefined
      ? {}
      : { encoding, encoding_note: encodingNote(encoding, !keepsText(operation)) }),
  };
}

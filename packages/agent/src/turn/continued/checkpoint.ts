import { createTurnState, OrionError } from '@orion/contracts';
import type {
  AssistantMessage,
  CallProgress,
  JsonObject,
  JsonValue,
  Message,
  PendingCalls,
  Redact,
  ToolFailure,
  ToolMessage,
  ToolResult,
  TurnState,
  WriteReceipt,
} from '@orion/contracts';

import type { ProviderIdentity } from '../../orion.ts';
import type { TurnPlace } from '../../store/conversation-keeper.ts';

const VERSION = 1;

/**
 * Where another owner continues a turn.
 *
 * 1. The messages of the turn are in its conversation; a checkpoint only counts them. So it does not grow with them,
 *    but by some hundred bytes for each call that has run.
 * 2. It has no key: what a provider said is redacted, and a provider is known by its name.
 */
export type Checkpoint = {
  readonly version: typeof VERSION;
  /** The event that it belongs to. */
  readonly seq: number;
  /** Since the first owner began, without the time in which the turn had none. */
  readonly elapsedMs: number;
  readonly protocol: string;
  readonly protocolReason: string;
  readonly provider: ProviderIdentity;
  readonly conversation: TurnPlace & { readonly messages: number };
  readonly state: StoredTurnState;
  /** Of the last message; null between two messages. */
  readonly calls: StoredCalls | null;
};

/** Results of calls are in the answers to them. */
type StoredResult =
  | Omit<Extract<ToolResult, { success: true }>, 'result' | 'details'>
  | StoredFailure;
type StoredFailure = Omit<ToolFailure, 'details'>;

type StoredTurnState = Omit<TurnState, 'executed' | 'progress'> & {
  readonly executed: readonly (readonly [key: string, result: StoredResult])[];
  readonly progress: Omit<TurnState['progress'], 'seen'> & { readonly seen: readonly string[] };
};

export type StoredCalls = {
  readonly toolPhase: number | null;
  readonly progress: readonly StoredProgress[];
  /** The write sessions that calls have opened, by the ids of the calls. */
  readonly sessions: { readonly [callId: string]: string };
  /** Of a file that is written and whose session may be gone. */
  readonly receipt?: { readonly callId: string; readonly receipt: WriteReceipt };
};

type StoredProgress = { readonly id: string } & (
  | Extract<CallProgress, { kind: 'announced' | 'begun' }>
  | {
      readonly kind: 'answered';
      readonly result: StoredResult;
      /** Of a begin, whose answer in the conversation says what became of its session. */
      readonly opened?: JsonValue;
      readonly isDuplicate: boolean;
    }
);

/** Throws TURN_INTERRUPTED for what this version did not write. */
export function readCheckpoint(stored: JsonValue): Checkpoint | null {
  if (stored === null) return null;
  const checkpoint = stored as unknown as Checkpoint;
  if (checkpoint.version === VERSION) return checkpoint;
  throw new OrionError({
    code: 'TURN_INTERRUPTED',
    message: 'The turn was begun by another version, whose checkpoint cannot be read.',
  });
}

export function storeState(state: TurnState, redact: Redact): StoredTurnState {
  const { executed, progress, ...rest } = structuredClone(state);
  const stored = {
    ...rest,
    executed: Object.entries(executed).map(([key, result]) => [key, storeResult(result)] as const),
    progress: { ...progress, seen: Object.keys(progress.seen) },
  };
  return redacted(stored as unknown as JsonValue, redact) as unknown as StoredTurnState;
}

/** `own`: the messages of the turn so far. */
export function restoreState(
  { executed, progress, ...rest }: StoredTurnState,
  own: readonly Message[],
): TurnState {
  const answers = new Map(
    own.flatMap((message) => (message.role === 'tool' ? [[message.toolCallId, message]] : [])),
  );
  const results = executed.map(
    ([key, result]) => [key, restoreResult(result, answers.get(result.toolCallId))] as const,
  );
  return {
    ...createTurnState(),
    ...rest,
    executed: Object.fromEntries(results),
    progress: {
      ...progress,
      seen: Object.fromEntries(progress.seen.map((key) => [key, true] as const)),
    },
  };
}

export function storeCalls(
  { toolPhase, calls, progress }: PendingCalls,
  sessions: StoredCalls['sessions'],
  redact: Redact,
): StoredCalls {
  const stored = calls.map(({ id, arguments: text }, index): StoredProgress => {
    const one = progress[index] ?? { kind: 'announced' };
    if (one.kind !== 'answered') {
      // Nobody else could run it as it was meant: its key is not stored.
      return { id, kind: redact(text) === text ? one.kind : 'begun' };
    }
    const { kind, result, isDuplicate } = one;
    const clean = redacted(storeResult(result) as unknown as JsonValue, redact);
    const answered = { id, kind, result: clean as unknown as StoredResult, isDuplicate };
    const isOpened = result.success && result.next === 'content';
    return isOpened ? { ...answered, opened: result.result } : answered;
  });
  return { toolPhase, progress: stored, sessions };
}

/** The message, its answers, and what was done of it: of the messages that `messagesOf` made. */
export function restoreCalls(
  { toolPhase, progress }: StoredCalls,
  said: AssistantMessage,
  answers: readonly ToolMessage[],
): PendingCalls {
  const calls = said.toolCalls ?? [];
  return {
    said,
    calls,
    toolPhase,
    progress: progress.map((one, index): CallProgress => {
      const stored = answers[index];
      if (one.kind !== 'answered' || stored === undefined) {
        return { kind: one.kind === 'announced' ? 'announced' : 'begun' };
      }
      const { result, opened, isDuplicate } = one;
      const answer = opened === undefined ? stored : { ...stored, content: JSON.stringify(opened) };
      return { kind: 'answered', result: restoreResult(result, answer), answer, isDuplicate };
    }),
  };
}

/** The message as a conversation has it: an answer to every call, whatever has happened to it. */
export function messagesOf({ said, calls, progress }: PendingCalls): readonly Message[] {
  const answers = calls.map((call, index): ToolMessage => {
    const one = progress[index];
    if (one?.kind === 'answered') return one.answer;
    const toolName = said.toolCalls?.[index]?.name ?? call.name;
    return { role: 'tool', toolCallId: call.id, toolName, content: UNANSWERED };
  });
  return [said, ...answers];
}

const UNANSWERED = JSON.stringify({
  status: 'interrupted',
  note: 'The turn was interrupted before this call was answered; whether it ran is not known.',
});

function storeResult(result: ToolResult): StoredResult {
  if (!result.success) {
    const { details: _details, ...rest } = result;
    return rest;
  }
  const { result: _result, details: _details, ...rest } = result;
  return rest;
}

function restoreResult(stored: StoredResult, answer: ToolMessage | undefined): ToolResult {
  if (!stored.success) return { ...stored, details: {} };
  return { ...stored, result: valueOf(answer), details: {} };
}

function valueOf(answer: ToolMessage | undefined): JsonValue {
  if (answer === undefined) return null;
  try {
    return JSON.parse(answer.content) as JsonValue;
  } catch {
    return answer.content;
  }
}

/** Every text in it without keys. */
function redacted(value: JsonValue, redact: Redact): JsonValue {
  if (typeof value === 'string') return redact(value);
  if (Array.isArray(value)) {
    return (value as readonly JsonValue[]).map((item) => redacted(item, redact));
  }
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value as JsonObject).flatMap(([name, item]) =>
    item === undefined ? [] : [[name, redacted(item, redact)] as const],
  );
  return Object.fromEntries(entries);
}

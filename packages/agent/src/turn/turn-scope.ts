import type {
  Clock,
  KeptArgument,
  KeysInUse,
  Message,
  Mode,
  PatternMatcher,
  ProtocolConfig,
  ProtocolStrategy,
  RunEventBody,
  SessionHandle,
  StopReason,
  Tool,
  ToolAction,
  TraceRecorder,
  TurnState,
  TurnStatus,
  Workspace,
} from '@orion/contracts';
import { createTurnState, defined, OrionError } from '@orion/contracts';
import type {
  ApprovalPolicy,
  CorrectionAnswer,
  FinalizeFacts,
  FinalizeOutcome,
  WritePlanTool,
  WriteSession,
} from '@orion/core';
import type { Approval, OutputKeeper } from '@orion/tool-runner';

import type { CallApprover } from '../commands/action-approval.ts';
import type { Settings } from '../config/settings.ts';
import { contextLimit } from '../context/content-messages.ts';
import type { AllInstructions } from '../context/instructions.ts';
import { lastTurns } from '../context/last-turns.ts';
import type { FinalizeRequest, ProviderIdentity } from '../orion.ts';
import type { ProviderConnection } from '../provider-connection.ts';
import type { ConversationKeeper, KeptConversation } from '../store/conversation-keeper.ts';
import { startsWith } from '../store/conversation-thread.ts';
import type { ConversationThread } from '../store/conversation-thread.ts';
import type { Ownership } from '../store/turn-writer.ts';
import type { LeftTurn } from './continued/left-turn.ts';
import type { TurnApprovals } from '../approvals/turn-approvals.ts';
import type { TurnCheckpoints } from './continued/turn-checkpoints.ts';
import {
  abortedMessage,
  interruptedMessage,
  pausedMessage,
  receiptMessage,
} from './receipt-message.ts';
import type { Asides } from './asides.ts';
import { KeptTexts } from './kept-texts.ts';
import { TurnClock } from './turn-clock.ts';
import { targetNow } from './session/target-now.ts';
import { SessionDriver } from './session/session-driver.ts';
import type { SessionOutcome, SessionStart, TurnContext } from './session/session-run.ts';

/** How often one write is asked about while its target changes again and again. */
const MAX_QUESTIONS = 20;

/** What a turn works with; made once by the composition root. */
export type TurnDependencies = {
  readonly workspace: Workspace;
  /** What the system prompt tells the model to follow. */
  readonly readInstructions: () => Promise<AllInstructions>;
  /** The provider; `defaults` are what an earlier turn of a recovered session used. */
  readonly connect: ProviderConnection['connect'];
  readonly protocol: ProtocolStrategy;
  readonly protocolReason: string;
  readonly protocolConfig: ProtocolConfig;
  /** The content stage, in the form in which a protocol's models read their history. */
  readonly content: (protocolName: string) => ProtocolStrategy;
  readonly writePlanTool: WritePlanTool;
  /** Who approves changes in this turn. */
  readonly approval: ApprovalPolicy;
  /** Offered beside those of every turn. */
  readonly tools: readonly Tool[];
  /** A sentence about each tool that would be offered and cannot be. */
  readonly missingTools: readonly string[];
  readonly approveCall: CallApprover;
  /** Whom it asks; null where nobody can be asked. */
  readonly reviewCall:
    | ((action: ToolAction, callId: string, signal: AbortSignal) => Promise<Approval>)
    | null;
  /** What is reported while the turn waits. */
  readonly asides: Asides;
  /** Where results go that are too large for the model. */
  readonly outputs: OutputKeeper;
  /** For the expressions in schemas of tools. */
  readonly patterns: PatternMatcher;
  readonly settings: Settings;
  readonly clock: Clock;
  readonly trace: TraceRecorder;
  readonly conversations: ConversationKeeper;
  readonly keys: KeysInUse;
  /** Whose turn it is. */
  readonly ownership: Ownership;
  /** A notice about the store for the person, given once; null if there is none. */
  readonly takeStoreNotice: () => string | null;
};

/** What a person, or the program that uploaded its text, decides about a session that is written without a model. */
export type Decision = Pick<FinalizeRequest, 'answer' | 'endAt' | 'onConflict'> & {
  readonly upload?: UploadEnd;
};

/** `answers`: to the places that were reported as not valid; null where none are given. */
export type UploadEnd = {
  readonly answers: readonly CorrectionAnswer[] | null;
  /** A new file may be empty. */
  readonly allowEmpty: boolean;
};

export type TurnTask =
  | {
      readonly kind: 'message';
      readonly content: string;
      readonly mode: Mode;
      readonly recover: string | null;
    }
  /** With its model, or as a person decided. */
  | {
      readonly kind: 'recover' | 'finalize';
      readonly sessionId: string;
      readonly decision: Decision | null;
    };

export type OwnedParts = {
  /** What it asks people in the store; null where nobody is asked there. */
  readonly approvals: TurnApprovals | null;
  readonly checkpoints: TurnCheckpoints;
  /** What earlier owners have done of it; null for the first one. */
  readonly left: LeftTurn | null;
  /** Aborted when the turn is to be given up without an end. */
  readonly handOff: AbortSignal;
  /** Gives it up, since this owner cannot continue it now. */
  readonly giveBack: (reason: OrionError) => void;
  /** Takes what has to end although the turn was given up. */
  readonly linger: (work: Promise<unknown>) => void;
};

export type TurnIds = {
  readonly requestId: string;
  readonly projectId: string;
  readonly conversationId: string;
};

/** How a turn ends; the driver makes the one public `done` of it. */
export type TurnEnd = { readonly status: TurnStatus; readonly stopReason?: StopReason };

/** What the parts of one turn share: its dependencies, its ids, and the history as it grows. */
export class TurnScope {
  readonly dependencies: TurnDependencies;
  readonly ids: TurnIds;
  /** Aborted when the turn is cancelled or the process stops. */
  readonly signal: AbortSignal;
  readonly state: TurnState = createTurnState();
  /** Stands still while the turn waits for a person, for the store, or to repeat a request. */
  readonly clock: TurnClock;
  /** When the first context of this turn was made, by `clock`. */
  startedAt: number | null = null;
  /** What a provider is sent, the system prompt first; valid at every moment. */
  messages: readonly Message[] = [];
  /** The write session that this conversation would leave open if the process ended now. */
  openSessionId: string | null;
  /** The conversation as it was before this turn. */
  readonly earlier: readonly Message[];
  /** What only a turn has that other processes may continue; null for the turn of a command. */
  readonly owned: OwnedParts | null;
  /** What its models sent in calls. */
  readonly kept: KeptTexts;
  readonly #thread: ConversationThread;
  /** Earlier messages for which the model has no room: they stay in the conversation and are not sent. */
  #unsent: readonly Message[] = [];
  /** The begin whose session has no outcome yet. */
  #open: { readonly handle: SessionHandle; readonly callId: string } | null = null;
  #isWriting = false;
  /** The session that this turn recovers, the call that began it, and the provider that it was begun with. */
  recovered: {
    readonly sessionId: string;
    readonly callId: string;
    readonly identity: ProviderIdentity;
  } | null = null;

  constructor(
    dependencies: TurnDependencies,
    ids: TurnIds,
    signal: AbortSignal,
    { history, openSessionId, thread }: KeptConversation,
    owned: OwnedParts | null = null,
  ) {
    this.dependencies = dependencies;
    this.kept = new KeptTexts(dependencies.workspace);
    this.ids = ids;
    this.signal = signal;
    this.clock = new TurnClock(dependencies.clock);
    this.earlier = history;
    this.openSessionId = openSessionId;
    this.#thread = thread;
    this.owned = owned;
  }

  /** In milliseconds, since the first context of this turn was made, without the time that `clock` stood still. */
  elapsed(): number {
    return this.clock.monotonic() - (this.startedAt ??= this.clock.monotonic());
  }

  /** Another process began it so long ago, in milliseconds. */
  begunBefore(elapsedMs: number): void {
    this.startedAt = this.clock.monotonic() - elapsedMs;
  }

  /** What a provider is sent first: the system prompt, as much of the history as it has room for, and the message. */
  compose(prompt: Message, history: readonly Message[], message: Message, limit: number): void {
    const sent = lastTurns(history, limit);
    this.#unsent = history.slice(0, history.length - sent.length);
    this.messages = [prompt, ...sent, message];
  }

  /** The result of a begin whose session is gone. */
  answerClosed(callId: string, content: string): void {
    this.messages = answered(this.messages, callId, content);
    this.openSessionId = null;
  }

  /** A session is open from here on, begun by this call; empty if the call is unknown. */
  begin(handle: SessionHandle, callId: string): void {
    this.openSessionId = handle.id;
    this.#open = { handle, callId };
  }

  /** Runs the session that was begun to its outcome, and answers its begin, which must be in `messages`. */
  async *drive(
    session: WriteSession,
    context: TurnContext | null,
    start: SessionStart,
    protocolName: string = this.dependencies.protocol.getName(),
  ): AsyncGenerator<RunEventBody, SessionOutcome> {
    if (this.#open === null) throw new Error('a session is driven that was not begun');
    const { handle, callId } = this.#open;
    const { writePlanTool, content, clock, trace, settings, ownership } = this.dependencies;
    const driver = new SessionDriver({
      session,
      handle,
      base: this.messages,
      content: content(protocolName),
      context,
      clock,
      trace,
      projectId: this.ids.projectId,
      requestId: this.ids.requestId,
      contextLimit: contextLimit(settings, context?.adapter ?? null),
      finalize: async (facts) => {
        this.#isWriting = true;
        const outcome = await this.#finalize(handle, facts).finally(() => {
          this.#isWriting = false;
        });
        if (outcome.kind === 'written') {
          // A loss arrives as `lost`, too.
          await this.owned?.checkpoints.written(callId, outcome.receipt).catch(() => undefined);
        }
        return outcome;
      },
      confirm: () => ownership.confirm(),
      lost: ownership.fence === null ? handle.lost : AbortSignal.any([handle.lost, ownership.lost]),
      kept: this.kept,
      signal: this.signal,
    });
    try {
      return yield* driver.run(start);
    } finally {
      writePlanTool.forget(handle.id);
      // Here, not in the reader of the outcome: it may have left with the last event.
      this.#settle(driver.outcome, driver.kept);
    }
  }

  /** Who is shown the whole change is asked again when the file is not any more what the change was made for. */
  async #finalize(handle: SessionHandle, facts: FinalizeFacts): Promise<FinalizeOutcome> {
    const { writePlanTool, workspace } = this.dependencies;
    const approval = withoutTime(this.dependencies.approval, this.clock);
    const isAsked = (this.owned?.approvals ?? null) !== null;
    let asked = { ...facts, approval };
    for (let questions = 1; ; questions += 1) {
      try {
        return await writePlanTool.finalizeSession(handle.id, handle.contentPath(), asked);
      } catch (error) {
        if (!isAsked || questions === MAX_QUESTIONS || !hasTargetChanged(error)) throw error;
      }
      asked = { ...asked, target: await targetNow(workspace, handle.metadata) };
    }
  }

  #settle(outcome: SessionOutcome | null, kept: readonly KeptArgument[]): void {
    switch (outcome?.kind) {
      case 'committed':
        this.answerBegin(receiptMessage(outcome.receipt), 'closed');
        return;
      case 'paused':
        this.answerBegin(pausedMessage(outcome.paused, outcome.message), 'open');
        return;
      case 'aborted':
        this.answerBegin(abortedMessage(outcome.code, kept), 'closed');
        return;
      case 'lost':
      case undefined:
        return;
      default:
        outcome satisfies never;
    }
  }

  /** A file is on its way to its place. */
  get isWriting(): boolean {
    return this.#isWriting;
  }

  /** What became of the session, in place of what its begin was answered with. */
  answerBegin(content: string, session: 'open' | 'closed'): void {
    if (this.#open !== null) this.messages = answered(this.messages, this.#open.callId, content);
    this.#open = null;
    if (session === 'closed') this.openSessionId = null;
  }

  /**
   * What was said so far, without the system prompt. A begin without an outcome is answered as if the process had died
   * right now: a history is true whenever it is read. A recovery continues from the moment at which its session began;
   * the conversation may have continued since, and only begin's answer changes in it. `more` follows what was said.
   */
  history(more: readonly Message[] = []): readonly Message[] {
    const messages = [...withoutSystem(this.#answeredMessages()), ...more];
    const { recovered, earlier } = this;
    if (recovered === null) return [...this.#unsent, ...messages];
    const { callId, sessionId } = recovered;
    const answer = messages.findLast((message) => answers(message, callId));
    const open = earlier.findLastIndex(
      (message) => answers(message, callId) && message.content.includes(sessionId),
    );
    // The conversation does not have the begin of the session: its turn is appended.
    if (answer === undefined || open === -1) {
      return [...earlier, ...messages.slice(startOfNew(messages, earlier))];
    }
    return earlier.map((message, index) =>
      index === open ? { ...message, content: answer.content } : message,
    );
  }

  #answeredMessages(): readonly Message[] {
    if (this.#open === null) return this.messages;
    const { handle, callId } = this.#open;
    return answered(
      this.messages,
      callId,
      interruptedMessage(handle.id, handle.metadata.target_file),
    );
  }

  /** The conversation as it would have to go on from here, behind `more`; null while nothing was said. */
  conversation(more: readonly Message[] = []): KeptConversation | null {
    const history = this.history(more);
    if (history.length === 0) return null;
    const { conversationId, projectId } = this.ids;
    const { fence } = this.dependencies.ownership;
    return {
      conversationId,
      projectId,
      history,
      openSessionId: this.openSessionId,
      thread: this.#thread,
      ...defined({ fence: fence ?? undefined }),
    };
  }

  /** Hands the conversation over to be stored. That of an owned turn is stored with its checkpoints. */
  remember(): void {
    const conversation = this.owned === null ? this.conversation() : null;
    if (conversation !== null) this.dependencies.conversations.keep(conversation);
  }

  traceIds(): { readonly projectId: string; readonly requestId: string; readonly source: string } {
    return { projectId: this.ids.projectId, requestId: this.ids.requestId, source: 'agent' };
  }

  trace(type: string, details: { readonly [key: string]: unknown }, summary?: string): void {
    const { trace } = this.dependencies;
    trace.record({ type, ...this.traceIds(), details, ...defined({ summary }) });
  }
}

/** The policy, whose reviewer takes no time of the turn. */
function withoutTime(policy: ApprovalPolicy, clock: TurnClock): ApprovalPolicy {
  if (policy.kind !== 'ask') return policy;
  const { review } = policy;
  return { kind: 'ask', review: (...asked) => clock.standStill(() => review(...asked)) };
}

/** And nothing was written. */
function hasTargetChanged(error: unknown): boolean {
  return (
    OrionError.isInstance(error) &&
    ['TARGET_CHANGED', 'FILE_EXISTS'].includes(error.code) &&
    error.details['changed'] !== true
  );
}

function withoutSystem(messages: readonly Message[]): readonly Message[] {
  return messages[0]?.role === 'system' ? messages.slice(1) : messages;
}

function answers(message: Message, callId: string): boolean {
  return message.role === 'tool' && message.toolCallId === callId;
}

/** The last call of that id: some servers number the calls of each message anew. */
function answered(
  messages: readonly Message[],
  callId: string,
  content: string,
): readonly Message[] {
  const last = messages.findLastIndex((message) => answers(message, callId));
  return messages.map((message, index) => (index === last ? { ...message, content } : message));
}

/** Where the turn in `messages` begins that `earlier` does not have. */
function startOfNew(messages: readonly Message[], earlier: readonly Message[]): number {
  if (startsWith(messages, earlier)) return earlier.length;
  return Math.max(
    0,
    messages.findLastIndex((message) => message.role === 'user'),
  );
}

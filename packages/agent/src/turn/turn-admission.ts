import { randomUUID } from 'node:crypto';

import type { Approvals, RunEvent } from '@orion/contracts';
import { OrionError } from '@orion/contracts';
import type { OfferedTools } from '@orion/tool-runner/mcp';

import type { ApprovalDesk } from '../approvals/approval-desk.ts';
import { approvalOf } from '../approvals/approval-policy.ts';
import { AskedHere } from '../approvals/asked-here.ts';
import { TurnApprovals } from '../approvals/turn-approvals.ts';
import type { OrionOptions, OwnedTurnRequest, TurnRequest } from '../orion.ts';
import type { KeptConversation } from '../store/conversation-keeper.ts';
import { settlesWithin, unlessAborted } from '../store/deadline.ts';
import type { OwnedTurn } from '../store/owned-turn.ts';
import type { TurnJournal } from '../store/turn-journal.ts';
import type { TurnJournals } from '../store/turn-journals.ts';
import type { TurnProtocol, TurnProtocols } from '../turn-protocol.ts';
import { findLeftTurn } from './continued/left-turn.ts';
import { TurnCheckpoints } from './continued/turn-checkpoints.ts';
import { Asides } from './asides.ts';
import { runTurn } from './turn.ts';
import { TurnScope } from './turn-scope.ts';
import type { OwnedParts, TurnDependencies, TurnTask } from './turn-scope.ts';

/** What a turn is asked for beside its task. */
export type AdmissionRequest = Pick<
  TurnRequest,
  'projectId' | 'conversationId' | 'signal' | 'protocol' | 'metadata' | 'approve'
>;

type Asking = {
  readonly asides: Asides;
  /** Whom a turn asks in the store; left out where nobody is asked there. */
  readonly approvals?: TurnApprovals | null;
};

export type TurnAdmissionOptions = {
  /** What all turns work with. */
  readonly shared: Omit<
    TurnDependencies,
    keyof TurnProtocol | 'ownership' | 'missingTools' | 'approval' | 'reviewCall' | 'asides'
  >;
  /** Of turns that name none. */
  readonly approve: OrionOptions['approve'];
  readonly reviewAction: OrionOptions['reviewAction'];
  readonly approvals: Approvals;
  readonly desk: ApprovalDesk;
  readonly protocols: TurnProtocols;
  readonly journals: TurnJournals;
  /** Of turns that name none. */
  readonly projectId: string;
  /** The tools of servers, which may have to be started first. Never rejects. */
  readonly connectTools: (signal: AbortSignal) => Promise<OfferedTools>;
  /** Aborted when the process is about to end. */
  readonly stopSignal: AbortSignal;
};

/** One for all: the stack of its own that each would have takes as long as a statement. */
const TURN_ENDED = new DOMException('The turn is over', 'AbortError');
const NO_TOOLS: OfferedTools = { tools: [], leftOut: [] };
/** What turns that were handed off still write gets so long to end, in milliseconds, before their sessions are let go. */
const LINGER_MS = 5_000;

/** Lets turns in: one of a conversation at a time, each with a journal of its own, until its `done`. */
export class TurnAdmission {
  readonly #options: TurnAdmissionOptions;
  readonly #running = new Set<Promise<void>>();
  /** The conversations that have a turn now. */
  readonly #busy = new Set<string>();
  /** What turns that were handed off still write. */
  readonly #lingering = new Set<Promise<unknown>>();

  constructor(options: TurnAdmissionOptions) {
    this.#options = options;
  }

  /** A turn that begins here, and that nobody else takes. */
  async *run(task: TurnTask, request: AdmissionRequest): AsyncGenerator<RunEvent, void> {
    const { shared, protocols, journals, projectId, stopSignal } = this.#options;
    const { conversations } = shared;
    const protocol = protocols.choose(request);
    const requestId = randomUUID();
    const turnEnd = new AbortController();
    const signal = anySignal(stopSignal, turnEnd.signal, request.signal);
    let entered: string | null = null;
    let journal: TurnJournal | null = null;
    const ended = this.#begin();
    const finish = async (): Promise<void> => {
      turnEnd.abort(TURN_ENDED);
      if (entered !== null) this.#busy.delete(entered);
      entered = null;
      if (journal !== null) await journals.end(journal);
      journal = null;
      ended();
    };
    try {
      const named = await this.#conversationIdOf(task, request);
      const conversationId = named ?? randomUUID();
      this.#enter(conversationId);
      entered = conversationId;
      const begun =
        named === undefined
          ? conversations.begin(conversationId, projectId)
          : await conversations.find(named, projectId);
      const ids = idsOf(requestId, request, begun);
      const tools = await this.#tools(task, signal);
      const writer = (journal = journals.begin(requestId));
      const dependencies = {
        ...this.#dependencies(request, tools, { asides: new Asides() }),
        ...protocol,
        ownership: writer,
      };
      const scope = new TurnScope(dependencies, ids, signal, begun);
      for await (const event of runTurn(scope, task, writer, () => turnEnd.abort(TURN_ENDED))) {
        // A reader need not ask for what follows it: there is nothing.
        if (event.type === 'done') await finish();
        yield event;
      }
    } finally {
      await finish();
    }
  }

  /**
   * A turn that this process has acquired, from where its last owner left it. That a conversation has one turn at a time
   * is then the business of whoever lets turns in.
   */
  async *runOwned(
    task: Extract<TurnTask, { kind: 'message' }>,
    request: AdmissionRequest & Pick<OwnedTurnRequest, 'handOff' | 'onRest'>,
    own: () => Promise<OwnedTurn>,
  ): AsyncGenerator<RunEvent, void> {
    const turn = await own();
    const { shared, protocols, projectId, stopSignal } = this.#options;
    const { turnId: requestId } = turn.fence;
    const turnEnd = new AbortController();
    const notNow = new AbortController();
    // A process that ends leaves its turns to others.
    const handOff = anySignal(stopSignal, request.handOff, notNow.signal);
    const { lost, cancelled } = turn;
    const signal = anySignal(handOff, turnEnd.signal, request.signal, lost, cancelled);
    const ended = this.#begin();
    try {
      const { conversationId = requestId } = request;
      const found = await unlessAborted(
        handOff,
        findLeftTurn(turn, shared.conversations, {
          conversationId,
          projectId,
          prompt: task.content,
        }),
      );
      if (found === null) return;
      const { left, begun } = found;
      const { checkpoint = null } = left ?? {};
      const protocol =
        checkpoint === null ? protocols.choose(request) : protocols.again(checkpoint);
      const tools = await this.#tools(task, signal);
      const ids = idsOf(requestId, request, begun);
      const asides = new Asides();
      const approvals = this.#approvalsOf(request, { turn, ids, asides, handOff, left });
      const dependencies = {
        ...this.#dependencies(request, tools, { asides, approvals }),
        ...protocol,
        ownership: turn,
      };
      const scope = new TurnScope(dependencies, ids, signal, begun, {
        approvals,
        checkpoints: new TurnCheckpoints(turn, left),
        left,
        handOff,
        giveBack: (reason) => notNow.abort(reason),
        linger: (work) => this.#linger(work),
      });
      yield* runTurn(scope, task, turn, () => turnEnd.abort(TURN_ENDED));
      if (notNow.signal.aborted) throw notNow.signal.reason;
    } finally {
      turnEnd.abort(TURN_ENDED);
      await turn.leave();
      ended();
    }
  }

  /** Returns what says that the turn is over. */
  #begin(): () => void {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#running.add(promise);
    return () => {
      this.#running.delete(promise);
      resolve();
    };
  }

  /** Without a model nothing can be called. */
  async #tools(task: TurnTask, signal: AbortSignal): Promise<OfferedTools> {
    return task.kind === 'finalize' ? NO_TOOLS : this.#options.connectTools(signal);
  }

  #dependencies(
    request: AdmissionRequest,
    { tools, leftOut: missingTools }: OfferedTools,
    { asides, approvals = null }: Asking,
  ): Omit<TurnDependencies, keyof TurnProtocol | 'ownership'> {
    const { shared } = this.#options;
    return {
      ...shared,
      ...this.#reviewers(request, { asides, approvals }),
      asides,
      tools: [...shared.tools, ...tools],
      missingTools,
    };
  }

  /** Who is asked in a turn: people who answer in the store, or whoever the options name. */
  #reviewers(
    request: AdmissionRequest,
    { asides, approvals = null }: Asking,
  ): Pick<TurnDependencies, 'approval' | 'reviewCall'> {
    const { shared, approve: standard, reviewAction } = this.#options;
    const approve = request.approve ?? standard;
    if (approvals !== null) {
      return {
        approval: approvalOf(approve, {
          kind: 'ask',
          review: (change, signal) => approvals.review(change, signal),
        }),
        reviewCall: (action, callId, signal) => approvals.reviewCall(action, callId, signal),
      };
    }
    const here = new AskedHere((event) => asides.say(event), shared.keys.redact);
    return {
      approval: approvalOf(typeof approve === 'function' ? here.reviewer(approve) : approve),
      reviewCall:
        reviewAction === undefined
          ? null
          : (action, callId, signal) => here.reviewCall(reviewAction, action, callId, signal),
    };
  }

  /** Whom a turn asks whose questions are stored; null for one that asks nobody, or somebody here. */
  #approvalsOf(
    request: AdmissionRequest & Pick<OwnedTurnRequest, 'onRest'>,
    {
      turn,
      ids: { projectId, conversationId },
      asides,
      handOff,
      left,
    }: Pick<OwnedParts, 'handOff' | 'left'> & {
      readonly asides: Asides;
      readonly turn: OwnedTurn;
      readonly ids: TurnScope['ids'];
    },
  ): TurnApprovals | null {
    const { shared, approve, approvals, desk } = this.#options;
    if ((request.approve ?? approve) !== 'ask') return null;
    return new TurnApprovals({
      turn,
      ids: { projectId, conversationId },
      approvals,
      desk,
      redact: shared.keys.redact,
      logged: left?.logged.approvals ?? { requested: new Set(), decided: new Set() },
      handOff,
      say: (event) => asides.say(event),
      onRest: (isResting) => request.onRest?.(isResting),
    });
  }

  #linger(work: Promise<unknown>): void {
    const ended: Promise<unknown> = work
      .catch(() => undefined)
      .then(() => this.#lingering.delete(ended));
    this.#lingering.add(ended);
  }

  /** When every turn that was let in is over, and its file written, if that does not take long. */
  async settled(): Promise<void> {
    await Promise.all(this.#running);
    const { clock } = this.#options.shared;
    await settlesWithin(clock, LINGER_MS, Promise.all(this.#lingering));
  }

  #enter(conversationId: string): void {
    if (this.#busy.has(conversationId)) {
      throw new OrionError({
        code: 'CONVERSATION_BUSY',
        message: `The conversation ${conversationId} has a turn that is not over.`,
        retryable: true,
      });
    }
    this.#busy.add(conversationId);
  }

  /** The conversation that a turn continues: that of the session it recovers, or the named one. */
  async #conversationIdOf(task: TurnTask, request: AdmissionRequest): Promise<string | undefined> {
    const sessionId = task.kind === 'message' ? task.recover : task.sessionId;
    if (sessionId === null) return request.conversationId;
    // One that is not known is not taken for the named one: its history is another.
    const turn = await this.#options.shared.workspace.sessions.readTurn(sessionId);
    return turn?.conversationId;
  }
}

function idsOf(
  requestId: string,
  { projectId }: AdmissionRequest,
  begun: KeptConversation,
): TurnScope['ids'] {
  const { conversationId } = begun;
  return { requestId, projectId: projectId ?? begun.projectId, conversationId };
}

function anySignal(...signals: readonly (AbortSignal | undefined)[]): AbortSignal {
  return AbortSignal.any(signals.filter((signal) => signal !== undefined));
}

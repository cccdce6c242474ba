import { randomUUID } from 'node:crypto';

import type { RunEvent } from '@orion/contracts';
import { OrionError } from '@orion/contracts';
import type { OfferedTools } from '@orion/tool-runner/mcp';

import { approvalOf } from '../approval.ts';
import type { OrionOptions, TurnRequest } from '../orion.ts';
import type { OwnedTurn } from '../store/owned-turn.ts';
import type { TurnJournal } from '../store/turn-journal.ts';
import type { TurnJournals } from '../store/turn-journals.ts';
import type { TurnProtocol, TurnProtocols } from '../turn-protocol.ts';
import { runTurn } from './turn.ts';
import { TurnScope } from './turn-scope.ts';
import type { TurnDependencies, TurnTask } from './turn-scope.ts';

/** What a turn is asked for beside its task. */
export type AdmissionRequest = Pick<
  TurnRequest,
  'projectId' | 'conversationId' | 'signal' | 'protocol' | 'metadata' | 'approve'
>;

export type TurnAdmissionOptions = {
  /** What all turns work with. */
  readonly shared: Omit<
    TurnDependencies,
    keyof TurnProtocol | 'ownership' | 'missingTools' | 'approval'
  >;
  /** Of turns that name none. */
  readonly approve: OrionOptions['approve'];
  readonly protocols: TurnProtocols;
  readonly journals: TurnJournals;
  /** Of turns that name none. */
  readonly projectId: string;
  /** The tools of servers, which may have to be started first. Never rejects. */
  readonly connectTools: (signal: AbortSignal) => Promise<OfferedTools>;
  /** Aborted when the process is about to end. */
  readonly stopSignal: AbortSignal;
};

const NO_TOOLS: OfferedTools = { tools: [], leftOut: [] };

/** Lets turns in: one of a conversation at a time, each with a journal of its own, until its `done`. */
export class TurnAdmission {
  readonly #options: TurnAdmissionOptions;
  readonly #running = new Set<Promise<void>>();
  /** The conversations that have a turn now. */
  readonly #busy = new Set<string>();

  constructor(options: TurnAdmissionOptions) {
    this.#options = options;
  }

  /** `owned`: a turn that this process has acquired; without it the turn is begun here, and nobody else takes it. */
  async *run(
    task: TurnTask,
    request: AdmissionRequest,
    owned: OwnedTurn | null = null,
  ): AsyncGenerator<RunEvent, void> {
    const { shared, protocols, journals, projectId, stopSignal, connectTools } = this.#options;
    const { conversations } = shared;
    const protocol = protocols.choose(request);
    const requestId = owned?.fence.turnId ?? randomUUID();
    const turnEnd = new AbortController();
    const signal = AbortSignal.any(
      [stopSignal, turnEnd.signal, request.signal, owned?.lost, owned?.cancelled].filter(
        (each) => each !== undefined,
      ),
    );
    const ended = Promise.withResolvers<void>();
    this.#running.add(ended.promise);
    let entered: string | null = null;
    let journal: TurnJournal | null = null;
    const finish = async (): Promise<void> => {
      turnEnd.abort();
      if (entered !== null) this.#busy.delete(entered);
      entered = null;
      if (journal !== null) await journals.end(journal);
      journal = null;
      this.#running.delete(ended.promise);
      ended.resolve();
    };
    const beginJournal = (): TurnJournal => {
      const begun = journals.begin(requestId);
      journal = begun;
      return begun;
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
      const ids = {
        requestId,
        projectId: request.projectId ?? begun.projectId,
        conversationId: begun.conversationId,
      };
      // Without a model nothing can be called.
      const { tools, leftOut: missingTools } =
        task.kind === 'finalize' ? NO_TOOLS : await connectTools(signal);
      const writer = owned ?? beginJournal();
      const dependencies = {
        ...shared,
        ownership: writer,
        ...protocol,
        tools: [...shared.tools, ...tools],
        missingTools,
        approval: approvalOf(request.approve ?? this.#options.approve),
      };
      const scope = new TurnScope(dependencies, ids, signal, begun);
      for await (const event of runTurn(scope, task, writer, () => turnEnd.abort())) {
        // A reader need not ask for what follows it: there is nothing.
        if (event.type === 'done') await finish();
        yield event;
      }
    } finally {
      await finish();
    }
  }

  /** When every turn that was let in is over. */
  async settled(): Promise<void> {
    await Promise.all(this.#running);
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

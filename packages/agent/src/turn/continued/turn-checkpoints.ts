import type {
  JsonValue,
  Message,
  PendingCalls,
  ProtocolStrategy,
  Redact,
  RunEvent,
  RunEventBody,
  TurnState,
  WriteReceipt,
} from '@orion/contracts';

import type { ProviderIdentity } from '../../orion.ts';
import { placeOf } from '../../store/conversation-keeper.ts';
import type { KeptConversation } from '../../store/conversation-keeper.ts';
import type { OwnedTurn } from '../../store/owned-turn.ts';
import type { CheckpointDraft, TurnStep } from '../turn-step.ts';
import { messagesOf, storeCalls, storeState } from './checkpoint.ts';
import type { Checkpoint } from './checkpoint.ts';
import type { LeftTurn } from './left-turn.ts';
import type { LoggedTurn } from './logged-turn.ts';

/** What a checkpoint takes of a turn. */
export type CheckpointedTurn = {
  readonly dependencies: {
    readonly protocol: Pick<ProtocolStrategy, 'getName'>;
    readonly protocolReason: string;
    readonly keys: { readonly redact: Redact };
  };
  readonly state: TurnState;
  readonly earlier: readonly Message[];
  elapsed(): number;
  conversation(more?: readonly Message[]): KeptConversation | null;
};

/** Where the turn is: the messages that the run has added, and what its calls have opened. */
export type TurnStand = {
  readonly provider: ProviderIdentity;
  readonly appended: readonly Message[];
  readonly pending: PendingCalls | null;
  readonly sessions: { readonly [callId: string]: string };
};

/**
 * Keeps in the turn log where another owner would continue.
 *
 * 1. The messages are stored before the checkpoint that counts them, so that it never counts too many; those that it
 *    does not count are replaced.
 * 2. It is stored again when a file has come further than any owner before has reported, once for each owner: then
 *    the turn does not stand still.
 * 3. That a tool with an effect begins, and that a file is written, is stored before anything follows from it. It is
 *    taken back of a tool that certainly did not begin.
 */
export class TurnCheckpoints {
  readonly #owned: OwnedTurn;
  #latest: Checkpoint | null;
  /** The write sessions of earlier owners; null once one of them has come further. */
  #left: LoggedTurn['sessions'] | null;

  /** `left`: of earlier owners. */
  constructor(owned: OwnedTurn, left: Pick<LeftTurn, 'checkpoint' | 'logged'> | null) {
    this.#owned = owned;
    this.#latest = left?.checkpoint ?? null;
    this.#left = left?.logged.sessions ?? null;
  }

  /** Takes the state as it is now. */
  step(turn: CheckpointedTurn, { provider, appended, pending, sessions }: TurnStand): TurnStep {
    const { protocol, protocolReason, keys } = turn.dependencies;
    const { redact } = keys;
    const added = pending === null ? appended : [...appended, ...messagesOf(pending)];
    const conversation = turn.conversation(added);
    if (conversation === null) throw new Error('a turn without a message');
    const draft = {
      version: 1,
      elapsedMs: turn.elapsed(),
      protocol: protocol.getName(),
      protocolReason,
      provider,
      state: storeState(turn.state, redact),
      calls: pending === null ? null : storeCalls(pending, sessions, redact),
    } as const;
    const said = conversation.history.length - turn.earlier.length;
    return {
      type: 'checkpoint',
      store: async () => {
        // The prompt is stored with the request of the turn, too.
        const messages = said === 1 ? 0 : said;
        const place =
          messages === 0 ? placeOf(conversation.thread) : await this.#owned.save(conversation);
        return { ...draft, conversation: { ...place, messages } };
      },
    };
  }

  /** Stores the conversation as it would have to go on if nobody continued the turn. */
  async keepConversation(turn: CheckpointedTurn): Promise<void> {
    const conversation = turn.conversation();
    if (conversation !== null) await this.#owned.save(conversation);
  }

  /** The checkpoint belongs to the event of that number. */
  place(draft: CheckpointDraft, seq: number): JsonValue {
    this.#latest = { ...draft, seq };
    return this.#latest as unknown as JsonValue;
  }

  /** Called with every event of the turn. */
  note(event: RunEvent): void {
    if (this.#left === null || event.type !== 'write_chunk') return;
    const { most = 0 } = this.#left.get(event.sessionId) ?? {};
    if (event.offset + event.length <= most) return;
    this.#left = null;
    this.#keep({});
  }

  /**
   * A tool with an effect is about to begin; stored with the next statement. The answer takes that back, of a tool that
   * did not begin after all.
   */
  begun(callId: string): () => void {
    const { calls: before = null } = this.#latest ?? {};
    if (before === null) return () => undefined;
    const progress = before.progress.map((one) =>
      one.id === callId && one.kind === 'announced' ? { id: one.id, kind: 'begun' as const } : one,
    );
    const calls = { ...before, progress };
    this.#keep({ calls });
    return () => {
      if (this.#latest?.calls === calls) this.#keep({ calls: before });
    };
  }

  /** Whether it has the answer to a call that was begun: without it, nobody would know what became of that. */
  answersBegun({ calls }: CheckpointDraft): boolean {
    const before = this.#latest?.calls?.progress ?? [];
    return before.some(
      ({ kind }, index) => kind === 'begun' && calls?.progress[index]?.kind === 'answered',
    );
  }

  /** A file is written; its session may go after this. */
  async written(callId: string, receipt: WriteReceipt): Promise<void> {
    const { calls = null } = this.#latest ?? {};
    if (calls !== null) this.#keep({ calls: { ...calls, receipt: { callId, receipt } } });
    await this.#owned.confirm();
  }

  /**
   * What makes the turn complete for its next owner: text of an incomplete message is void. Null if there is nothing
   * to say.
   */
  handOff(
    turn: CheckpointedTurn,
    lastSeq: number,
  ): { readonly event: RunEventBody; readonly draft: CheckpointDraft } | null {
    if (this.#latest === null) return null;
    const { seq, state, ...rest } = this.#latest;
    const { spent } = turn.state;
    const draft = { ...rest, state: { ...state, spent }, elapsedMs: turn.elapsed() };
    if (rest.calls !== null || lastSeq === seq) {
      // Behind what was counted: the next owner counts what is logged after it.
      this.#keep({ ...draft, seq: lastSeq });
      return null;
    }
    return { event: { type: 'rewind', toSeq: seq }, draft };
  }

  #keep(change: Partial<Checkpoint>): void {
    if (this.#latest === null) return;
    this.#latest = { ...this.#latest, ...change };
    this.#owned.keepCheckpoint(this.#latest as unknown as JsonValue);
  }
}

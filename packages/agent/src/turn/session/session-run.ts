import type {
  Clock,
  ErrorCode,
  Message,
  ProtocolContext,
  PausedSession,
  ProtocolStrategy,
  SessionHandle,
  TextCorrection,
  TraceRecorder,
  WriteReceipt,
} from '@orion/contracts';
import type { CommandAnswer, FinalizeFacts, FinalizeOutcome, WriteSession } from '@orion/core';

import type { KeptTexts } from '../kept-texts.ts';

/** How a write session left the hands of this turn. */
export type SessionOutcome =
  | { readonly kind: 'committed'; readonly receipt: WriteReceipt }
  | { readonly kind: 'paused'; readonly paused: PausedSession; readonly message: string | null }
  | { readonly kind: 'aborted'; readonly code: ErrorCode }
  /** Another process has taken it over. */
  | { readonly kind: 'lost' };

/** Everything that a protocol works with but the messages. */
export type TurnContext = Omit<ProtocolContext, 'messages'>;

export type SessionDriverOptions = {
  readonly session: WriteSession;
  readonly handle: SessionHandle;
  /** The history that the content stage begins with: up to and with begin's tool message. */
  readonly base: readonly Message[];
  readonly content: ProtocolStrategy;
  /** Null when no model may be asked. */
  readonly context: TurnContext | null;
  readonly clock: Clock;
  readonly trace: TraceRecorder;
  readonly projectId: string;
  readonly requestId: string;
  /** How much of the content so far a model is shown, in bytes. */
  readonly contextLimit: number;
  readonly finalize: (facts: FinalizeFacts) => Promise<FinalizeOutcome>;
  /** Before the commit: rejects if the turn is not this process's any more. */
  readonly confirm: () => Promise<void>;
  /** Aborted when another process has taken over the session, or its turn: nothing more is saved. */
  readonly lost: AbortSignal;
  /** What the model sends in calls instead. */
  readonly kept: Pick<KeptTexts, 'takeUntold'>;
  /** Aborted when the turn is cancelled, or the process is about to end: all is saved and given back at once. */
  readonly signal: AbortSignal;
};

export type SessionStart =
  | { readonly kind: 'content' }
  | { readonly kind: 'recover' }
  | {
      readonly kind: 'finalize';
      readonly answer: CommandAnswer | null;
      readonly target?: FinalizeFacts['target'];
    }
  /** The program that uploaded the text says that it is complete, or corrects it. */
  | {
      readonly kind: 'upload_ended';
      readonly corrections: readonly TextCorrection[] | null;
      readonly target?: FinalizeFacts['target'];
    };

import { randomUUID } from 'node:crypto';

import { defined, OrionError, sleep } from '@orion/contracts';
import type {
  Clock,
  JsonObject,
  NewTurn,
  RequestKey,
  RunEvent,
  ServedTurns,
  SubmitOutcome,
  TurnAllowance,
  TurnLog,
  TurnQueue,
} from '@orion/contracts';

import type { Projects } from '../projects.ts';
import type { ProtocolLimits } from './protocol-limits.ts';
import type { TurnRunner } from './turn-runner.ts';
import type { TurnService } from './turn-service.ts';
import { asRunEvent, CANCELLED, endingEvents } from './turn-end.ts';

export type TurnServiceOptions = {
  readonly turns: ServedTurns;
  readonly log: TurnLog;
  readonly queue: TurnQueue;
  readonly runner: Pick<TurnRunner, 'look'>;
  readonly projects: Pick<Projects, 'of'>;
  readonly clock: Clock;
  readonly rates: ProtocolLimits;
  /** How many turns may wait. */
  readonly maxWaiting: number;
  /** Of one project. */
  readonly limitsOf: (projectId: string) => TurnAllowance;
  readonly isStopping: () => boolean;
  /** Sees the events of a turn that is ended here. Must not throw. */
  readonly onEvent: (event: RunEvent) => void;
};

/** Pauses before a submission is repeated whose outcome is unknown; then its client is told so. */
const REPEAT_MS: readonly number[] = [50, 200, 500, 1_000];
/** When a client is to try again, where too many turns wait. */
const RETRY_AFTER_SECONDS = 5;

/** What routes do with the turns of a store. */
export function createTurnService(options: TurnServiceOptions): TurnService {
  const { turns, log, queue, runner, projects, rates } = options;
  return {
    async submit(submission, key) {
      if (options.isStopping()) {
        throw new OrionError({
          code: 'SERVER_STOPPING',
          message: 'The server is stopping and accepts no more turns.',
        });
      }
      const { protocol, metadata, projectId } = submission;
      const pinned = protocol === null ? { metadata } : { metadata, protocol };
      const orion = projects.of(projectId);
      const name = orion.protocolOf(pinned);
      const admit = once(() => {
        if (queue.waiting().turns >= options.maxWaiting) throw tooManyWait();
        rates.admit(name);
      });
      // Only the store knows whether it is a repeat, or more than its project may have: neither counts as a turn that
      // begins. But nothing is asked of it for what cannot wait.
      if (key === null && queue.waiting().turns >= options.maxWaiting) throw tooManyWait();
      const turn = {
        ...submission,
        // What is stored of a message holds no key, as everywhere.
        content: orion.keys.redact(submission.content),
        metadata: JSON.parse(orion.keys.redact(JSON.stringify(metadata))) as JsonObject,
        turnId: randomUUID(),
        newConversationId: randomUUID(),
        allowance: options.limitsOf(projectId),
      };
      const outcome = await submitUntilKnown(options, turn, key, admit);
      switch (outcome.kind) {
        case 'stored':
        case 'repeated':
          return { turn: outcome.turn, isRepeat: outcome.kind === 'repeated' };
        default:
          throw refusal(outcome, submission.conversationId);
      }
    },

    find: (turnId) => turns.find(turnId),

    list: (filter) => turns.list(filter),

    async cancel(turnId) {
      for (;;) {
        const turn = await turns.find(turnId);
        if (turn === null) return 'unknown';
        // Only what waits is ended here; of a turn with an owner nothing has to be read.
        const waits = turn.state === 'queued';
        const afterSeq = waits ? turn.lastSeq : -1;
        const events = waits ? await endingEvents(log, turn, CANCELLED) : [];
        const outcome = await turns.cancel(turnId, { afterSeq, events }, (id, transaction) =>
          queue.withdraw(id, transaction),
        );
        if (outcome === 'moved') continue;
        if (outcome === 'requested') void runner.look();
        if (outcome === 'ended') for (const event of events) options.onEvent(asRunEvent(event));
        return outcome === 'ended' ? 'requested' : outcome;
      }
    },

    log,
  };
}

/** A call that throws has not happened. */
function once(call: () => void): () => void {
  let isDone = false;
  return () => {
    if (!isDone) call();
    isDone = true;
  };
}

function tooManyWait(): OrionError {
  return limited('Too many turns wait.', RETRY_AFTER_SECONDS);
}

function limited(message: string, retryAfterSeconds: number): OrionError {
  const details = { retryAfterSeconds };
  return new OrionError({ code: 'RATE_LIMITED', message, retryable: true, details });
}

/**
 * A submission whose commit was not answered is submitted again as it was: the store knows it by its id. So a client
 * learns of one turn, and not of a failure beside a turn that runs. `admit` throws for one that is new and has no place.
 */
async function submitUntilKnown(
  { turns, queue, clock }: TurnServiceOptions,
  turn: NewTurn,
  key: RequestKey | null,
  admit: () => void,
): Promise<SubmitOutcome> {
  for (const pause of [...REPEAT_MS, null]) {
    try {
      return await turns.submit(turn, key, async (turnId, transaction) => {
        admit();
        const { projectId, priority } = turn;
        await queue.submit(turnId, transaction, { projectId, ...defined({ priority }) });
      });
    } catch (error) {
      if (pause === null || !mayBeUnknown(error)) throw error;
      await sleep(clock, pause);
    }
  }
  throw new Error('A submission has neither an outcome nor an error');
}

function mayBeUnknown(error: unknown): boolean {
  return OrionError.isInstance(error) && error.code === 'STORE_UNAVAILABLE' && error.retryable;
}

function refusal(
  outcome: Exclude<SubmitOutcome, { kind: 'stored' | 'repeated' }>,
  named: string | null,
): OrionError {
  switch (outcome.kind) {
    case 'busy':
      return new OrionError({
        code: 'CONVERSATION_BUSY',
        message: `The conversation ${outcome.conversationId} has a turn that is not over.`,
        retryable: true,
      });
    case 'mismatch':
      return new OrionError({
        code: 'IDEMPOTENCY_MISMATCH',
        message: 'The key was used for another request.',
      });
    case 'full':
      return limited('Too many turns of the project wait.', RETRY_AFTER_SECONDS);
    case 'spent':
      return limited(
        'The turns of the project have used up all tokens for today.',
        Math.ceil(outcome.dayEndsInMs / 1000),
      );
    case 'foreign':
      return new OrionError({
        code: 'CONVERSATION_NOT_FOUND',
        message: `The project has no conversation ${named ?? ''}.`,
      });
  }
  return outcome satisfies never;
}

import { defined, OrionError, TurnText } from '@orion/contracts';
import type {
  CompleteAttempt,
  ErrorInfo,
  FinishOutcome,
  JsonObject,
  RunEvent,
  ServedTurn,
  StopReason,
  TurnLog,
  TurnLogEvent,
  TurnStatus,
} from '@orion/contracts';

/** How a turn ends that no agent ends. */
export type TurnEnding = {
  readonly status: TurnStatus;
  readonly stopReason?: StopReason;
  readonly error?: ErrorInfo;
};

/** How a turn ends that somebody has cancelled. */
export const CANCELLED: TurnEnding = { status: 'stopped', stopReason: 'cancelled' };

/** A turn that no agent ends. */
export type EndedTurn = Pick<
  ServedTurn,
  'turnId' | 'projectId' | 'conversationId' | 'protocol' | 'lastSeq'
>;
type Place = Pick<RunEvent, 'protocol' | 'phase' | 'phaseIndex' | 'cycleIndex'>;

const NOT_BEGUN = 'the turn ended before it began';
const LEFT = 'the server ended the turn';

/**
 * Ends a turn in place of the agent: as a new owner, so that nothing of what ran comes behind it. Rejects with FENCED and
 * TURN_FINISHED as `acquire` does.
 */
export async function endTurn(
  {
    log,
    onEvent,
  }: {
    readonly log: Pick<TurnLog, 'acquire' | 'finish' | 'read'>;
    readonly onEvent: (event: RunEvent) => void;
  },
  turn: Omit<EndedTurn, 'lastSeq'>,
  how: {
    /** The one that had the turn; null for none. */
    readonly attempt: number | null;
    readonly ending: TurnEnding;
    readonly complete: CompleteAttempt;
  },
): Promise<Exclude<FinishOutcome['kind'], 'gap' | 'refused'>> {
  const { turnId } = turn;
  const { epoch, lastSeq } = await log.acquire(turnId, how.attempt, { mayBegin: false });
  const events = await endingEvents(log, { ...turn, lastSeq }, how.ending);
  const append = { turnId, epoch, expectSeq: lastSeq + 1, events };
  const { kind } = await log.finish(append, null, how.complete);
  switch (kind) {
    case 'stored':
      for (const event of events) onEvent(asRunEvent(event));
      return kind;
    case 'finished':
    case 'fenced':
      return kind;
    default: {
      const message = `The end of the turn was not stored: ${kind}`;
      throw new OrionError({ code: 'STORE_UNAVAILABLE', message });
    }
  }
}

/** The events that end a turn behind those it has: as a reader expects them, and with all that the model said. */
export async function endingEvents(
  log: Pick<TurnLog, 'read'>,
  turn: EndedTurn,
  { error, ...how }: TurnEnding,
): Promise<readonly TurnLogEvent[]> {
  const { place, fullContent } = await readBack(log, turn);
  const { turnId: requestId, projectId, conversationId, lastSeq } = turn;
  const ids = { requestId, projectId, conversationId };
  const done = { ...ids, ...place, phase: 'complete', fullContent, ...defined(how) };
  const bodies: readonly (readonly [kind: string, data: JsonObject])[] = [
    ...(error === undefined ? [] : [['error', { ...ids, ...place, error }] as const]),
    ['done', { ...done, protocolReason: lastSeq === 0 ? NOT_BEGUN : LEFT }],
  ];
  return bodies.map(([kind, data], index) => ({ seq: lastSeq + 1 + index, kind, data }));
}

/** Where the turn was, and what the model has said in it that still counts. */
async function readBack(
  log: Pick<TurnLog, 'read'>,
  { turnId, protocol, lastSeq }: EndedTurn,
): Promise<{ readonly place: Place; readonly fullContent: string }> {
  let place: Place = {
    protocol: protocol ?? 'standard',
    phase: 'action',
    phaseIndex: 0,
    cycleIndex: 0,
  };
  const said = new TurnText();
  for (let seq = 0; seq < lastSeq;) {
    const entries = await log.read(turnId, seq);
    if (entries.length === 0) break;
    for (const entry of entries) {
      const event = asRunEvent(entry);
      seq = entry.seq;
      place = placeOf(event);
      said.add(event);
    }
  }
  return { place, fullContent: said.toString() };
}

function placeOf({ protocol, phase, phaseIndex, cycleIndex }: Place): Place {
  return { protocol, phase, phaseIndex, cycleIndex };
}

export function asRunEvent({ seq, kind, data }: TurnLogEvent): RunEvent {
  return { ...(data as object), seq, type: kind } as unknown as RunEvent;
}

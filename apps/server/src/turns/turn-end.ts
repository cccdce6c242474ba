import { defined, TurnText } from '@orion/contracts';
import type {
  ErrorInfo,
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

type EndedTurn = Pick<
  ServedTurn,
  'turnId' | 'projectId' | 'conversationId' | 'protocol' | 'lastSeq'
>;
type Place = Pick<RunEvent, 'protocol' | 'phase' | 'phaseIndex' | 'cycleIndex'>;

const NOT_BEGUN = 'the turn ended before it began';

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
    ['done', { ...done, protocolReason: NOT_BEGUN }],
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

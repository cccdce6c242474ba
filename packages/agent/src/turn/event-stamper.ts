import type { RunEvent, RunEventBody } from '@orion/contracts';

type StampedIds = Pick<RunEvent, 'requestId' | 'projectId' | 'conversationId' | 'protocol'>;

/** Numbers the events of one turn, from the last one on that is there, and adds its phase and cycle to each. */
export function eventStamper(
  ids: StampedIds,
  lastSeq = 0,
  last: Pick<RunEvent, 'phase' | 'phaseIndex'> = { phase: 'action', phaseIndex: 0 },
): (body: RunEventBody, cycleIndex: number) => RunEvent {
  let seq = lastSeq;
  let { phase, phaseIndex } = last;
  return (body, cycleIndex) => {
    if (body.type === 'phase') ({ phase, index: phaseIndex } = body);
    // What a content stage streams is the model's action, whatever ran before it (R154).
    else if (body.type === 'write_session') phase = 'action';
    else if (body.type === 'done') phase = 'complete';
    seq += 1;
    return { seq, ...ids, phase, phaseIndex, cycleIndex, ...body };
  };
}

import type { RunEvent, RunEventBody } from '@orion/contracts';

type StampedIds = Pick<RunEvent, 'requestId' | 'projectId' | 'conversationId' | 'protocol'>;

/** Numbers the events of one turn and says on each where the turn stands. */
export class EventStamper {
  readonly #ids: StampedIds;
  #seq = 0;
  #phase: 'action' | 'tool' = 'action';
  #phaseIndex = 0;

  constructor(ids: StampedIds) {
    this.#ids = ids;
  }

  stamp(body: RunEventBody, cycleIndex: number): RunEvent {
    if (body.type === 'phase') {
      this.#phase = body.phase;
      this.#phaseIndex = body.index;
    } else if (body.type === 'write_session') {
      // What a content stage streams is the model's action, whatever ran before it (R154).
      this.#phase = 'action';
    }
    this.#seq += 1;
    const base = {
      seq: this.#seq,
      ...this.#ids,
      phase: body.type === 'done' ? ('complete' as const) : this.#phase,
      phaseIndex: this.#phaseIndex,
      cycleIndex,
    };
    return { ...base, ...body };
  }
}

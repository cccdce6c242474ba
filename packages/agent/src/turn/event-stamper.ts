import type { RunEvent, RunEventBody } from '@orion/contracts';

/** Numbers the events of one turn and says on each where the turn stands. */
export class EventStamper {
  readonly #ids: {
    readonly requestId: string;
    readonly projectId: string;
    readonly conversationId: string;
    readonly protocol: string;
  };
  readonly #cycleIndex: () => number;
  #seq = 0;
  #phase: 'action' | 'tool' = 'action';
  #phaseIndex = 0;

  constructor(
    ids: {
      readonly requestId: string;
      readonly projectId: string;
      readonly conversationId: string;
      readonly protocol: string;
    },
    cycleIndex: () => number,
  ) {
    this.#ids = ids;
    this.#cycleIndex = cycleIndex;
  }

  stamp(body: RunEventBody): RunEvent {
    if (body.type === 'phase') {
      this.#phase = body.phase;
      this.#phaseIndex = body.index;
    }
    this.#seq += 1;
    const base = {
      seq: this.#seq,
      ...this.#ids,
      phase: body.type === 'done' ? ('complete' as const) : this.#phase,
      phaseIndex: this.#phaseIndex,
      cycleIndex: this.#cycleIndex(),
    };
    return { ...base, ...body };
  }
}

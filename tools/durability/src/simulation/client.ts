import { formatEventId, OrionError, parseEventId } from '@orion/contracts';
import type { DecideRequest, TurnLogEntry, TurnNews, TurnPosition } from '@orion/contracts';

import type { PlantedDefect } from './planted-defects.ts';
import { promptOf } from './scripted-model.ts';
import type { TurnScript } from './scripted-model.ts';
import type { SimulatedProcess } from './simulated-process.ts';
import type { World } from './world.ts';

/** A request that was not answered for so long is made again, elsewhere. */
const ANSWER_MS = 8_000;
const AGAIN_MS = 400;
/** A stream without anything for so long is left. */
const SILENCE_MS = 6_000;

export type ClientOptions = {
  readonly world: World;
  /** Those that take connections. */
  readonly processes: () => readonly SimulatedProcess[];
  readonly defect: PlantedDefect | null;
  /** How many timelines the store has had. */
  readonly timeline: () => number;
};

/** What one reader has seen of one turn. */
export type Reading = {
  readonly turnId: string;
  readonly seen: TurnLogEntry[];
  resets: number;
  isDone: boolean;
  /** The timeline in which it saw the end. */
  endedIn: number;
};

/** A client: it submits turns, and reads them, wherever it is let in. */
export class Client {
  readonly #options: ClientOptions;

  constructor(options: ClientOptions) {
    this.#options = options;
  }

  /** Submits until it knows of a turn. */
  async submit(script: TurnScript, conversationId: string): Promise<string> {
    const { world } = this.#options;
    const submission = {
      projectId: 'p',
      content: promptOf(script),
      mode: 'act',
      conversationId,
      protocol: script.protocol,
      metadata: {},
    } as const;
    const key = { key: script.name, route: 'simulated', bodySha256: script.name };
    const { turn } = await this.#untilAnswered(({ service }) => service.submit(submission, key));
    world.note(`${script.name} is ${turn.turnId}`);
    return turn.turnId;
  }

  /** Cancels until it knows that the turn is to end, or is over. */
  async cancel(turnId: string): Promise<void> {
    const outcome = await this.#untilAnswered(({ service }) => service.cancel(turnId));
    this.#options.world.note(`cancel ${turnId}: ${outcome}`);
  }

  /** Decides, until somebody has. */
  async decide(approvalId: string, request: DecideRequest): Promise<void> {
    const { world } = this.#options;
    const decided = await this.#untilAnswered(({ approvals }) =>
      approvals.decide(approvalId, request).catch((error: unknown) => {
        if (!OrionError.isInstance(error) || !TOO_LATE.has(error.code)) throw error;
        return { state: error.code };
      }),
    );
    world.note(`decide ${approvalId} ${request.decision}: ${decided.state}`);
  }

  /** Reads to the end of the turn, from process to process; stops when the turn is not known any more. */
  async read(turnId: string): Promise<Reading> {
    const { world, defect, timeline } = this.#options;
    const reading: Reading = { turnId, seen: [], resets: 0, isDone: false, endedIn: 0 };
    while (!reading.isDone) {
      const begunAt = world.now;
      const end = await this.#stream(reading, defect?.position ?? ((position) => position));
      const isDoubtful = end === 'gone' || world.now - begunAt >= SILENCE_MS;
      if (!reading.isDone && isDoubtful && !(await this.#isKnown(turnId))) break;
      if (!reading.isDone) await world.pause(world.chance.between(10, AGAIN_MS));
    }
    reading.endedIn = timeline();
    return reading;
  }

  async #isKnown(turnId: string): Promise<boolean> {
    try {
      return (await this.#ask(({ service }) => service.find(turnId))) !== null;
    } catch (error) {
      if (!mayPass(error)) throw error;
      return true;
    }
  }

  /** One connection. */
  async #stream(
    reading: Reading,
    told: (position: TurnPosition) => TurnPosition,
  ): Promise<'ended' | 'gone'> {
    const { world } = this.#options;
    const process = this.#choose();
    if (process === null) return 'ended';
    const { life, service } = process;
    const closed = new AbortController();
    const last = reading.seen.at(-1);
    const id = last === undefined ? '0' : formatEventId(last);
    const after = told(parseEventId(id) ?? { seq: 0, epoch: null });
    const lasts = world.chance.between(300, 20_000);
    const end = world.timeout(lasts);
    const cut = Promise.race([life.died.promise, end.over]).then(() => 'cut' as const);
    try {
      const news = service.log
        .follow([{ turnId: reading.turnId, after, isFound: true }], closed.signal)
        [Symbol.asyncIterator]();
      while (!reading.isDone) {
        const next = news.next().then(async (result) => {
          await life.awake();
          return result;
        });
        next.catch(() => undefined);
        const silence = world.timeout(SILENCE_MS);
        const silent = silence.over.then(() => 'cut' as const);
        const arrived = await Promise.race([next, cut, silent]);
        silence.cancel();
        if (arrived === 'cut' || arrived.done === true) break;
        this.#take(reading, arrived.value);
      }
      return 'ended';
    } catch (error) {
      // A store that went back may have lost the turn: whoever asks again finds out.
      const isGone = OrionError.isInstance(error) && error.code === 'TURN_NOT_FOUND';
      if (!isGone && !mayPass(error)) throw error;
      return isGone ? 'gone' : 'ended';
    } finally {
      end.cancel();
      closed.abort();
    }
  }

  #take(reading: Reading, news: TurnNews): void {
    const { world } = this.#options;
    if (news.kind === 'reset') {
      world.note(`reset of ${reading.turnId}`);
      reading.resets += 1;
      reading.seen.length = 0;
      return;
    }
    const { entry } = news;
    world.note(`read ${reading.turnId} ${entry.seq} ${entry.kind}`);
    const expected = (reading.seen.at(-1)?.seq ?? 0) + 1;
    if (entry.seq !== expected) world.fail(`a reader expected ${expected} and saw ${entry.seq}`);
    reading.seen.push(entry);
    reading.isDone = entry.kind === 'done';
  }

  async #untilAnswered<Answer>(
    question: (process: SimulatedProcess) => Promise<Answer>,
  ): Promise<Answer> {
    for (;;) {
      try {
        return await this.#ask(question);
      } catch (error) {
        if (!mayPass(error)) throw error;
        await this.#options.world.pause(AGAIN_MS);
      }
    }
  }

  /** A request, its way and its answer. Rejects with STORE_UNAVAILABLE where nobody answers. */
  async #ask<Answer>(question: (process: SimulatedProcess) => Promise<Answer>): Promise<Answer> {
    const { world } = this.#options;
    const process = this.#choose();
    const nobody = new OrionError({
      code: 'STORE_UNAVAILABLE',
      message: 'nobody',
      retryable: true,
    });
    if (process === null) throw nobody;
    const { life } = process;
    const answer = life
      .awake()
      .then(() => life.run(() => question(process)))
      .then(async (result) => {
        await life.awake();
        return result;
      });
    answer.catch(() => undefined);
    const limit = world.timeout(ANSWER_MS);
    const late = Promise.race([life.died.promise, limit.over]).then(() => null);
    try {
      const first = await Promise.race([answer.then((result) => ({ result })), late]);
      if (first === null) throw nobody;
      return first.result;
    } finally {
      limit.cancel();
    }
  }

  #choose(): SimulatedProcess | null {
    const { processes, world } = this.#options;
    const open = processes();
    return open.length === 0 ? null : world.chance.of(open);
  }
}

/** A decision that changes nothing any more, or is about a question that a store which went back does not have. */
const TOO_LATE: ReadonlySet<string> = new Set([
  'APPROVAL_DECIDED',
  'APPROVAL_NOT_FOUND',
  'APPROVAL_STALE',
]);

function mayPass(error: unknown): boolean {
  if (!OrionError.isInstance(error)) return false;
  return error.retryable || error.code === 'CONVERSATION_BUSY' || error.code === 'SERVER_STOPPING';
}

/** One turn over HTTP, interrupted as its plan says, and everything that must hold of it afterwards. */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import { createRandom } from '@orion/common';

import { collect, SOURCE_CONDITION } from '../processes.ts';
import { ageLeftovers, leftovers } from '../streams/stage/workspace-files.ts';
import { keep, restore } from './kept-store.ts';
import { judgeCancelled, judgeEvents, judgeFiles } from './judge.ts';
import { AWAY_MS, isAway, isRefused, TurnReader } from './reader.ts';
import type { ReadEvent } from './reader.ts';
import { makeStage } from './stage.ts';
import type { Preload, Served, Stage } from './stage.ts';
import type { Story } from './stories.ts';

export type Interruption =
  | { readonly kind: 'none' }
  /** The reader leaves after each event, and comes back. */
  | { readonly kind: 'reconnect' }
  /** SIGKILL once the reader has that many events. */
  | { readonly kind: 'event'; readonly at: number }
  /** SIGKILL before that change of the workspace. */
  | { readonly kind: 'call'; readonly at: number }
  /** Three kills at events that follow from the seed. */
  | { readonly kind: 'several'; readonly seed: number }
  /** SIGTERM, which hands the turn to the next start. */
  | { readonly kind: 'stop'; readonly at: number }
  /** As `event`, but the clock of the first server is wrong by so many days, and that of the second by as many back. */
  | { readonly kind: 'clock'; readonly at: number; readonly days: number }
  | { readonly kind: 'cancel'; readonly at: number }
  /** SIGKILL while the command runs, once it has left its letter. */
  | { readonly kind: 'effect' }
  /** SIGKILL after `done`. */
  | { readonly kind: 'ended' }
  /** SIGKILL some events later, and the store is again as it was after that event. On SQLite only. */
  | { readonly kind: 'restored'; readonly at: number }
  /** The reader stays; what is between the server and its store cuts connections. */
  | { readonly kind: 'cut' };

export type Plan = { readonly story: Story; readonly interruption: Interruption };

export type Outcome = {
  readonly failures: readonly string[];
  /** Of the undisturbed turn. */
  readonly events: number;
  readonly calls: number;
  /** The calls that put a file in its place, counted from 0. */
  readonly commits: readonly number[];
  /** The numbers of events after which the model goes on with the same text. */
  readonly amidTexts: readonly number[];
  readonly kills: number;
};

const NOTHING = { events: 0, calls: 0, commits: [], amidTexts: [], kills: 0 } as const;

const KEY = 'the-same-message';
const MESSAGE = { content: 'Do it.' };
/** More than a turn takes with three kills on a machine that is busy. */
const LIMIT_MS = 120_000;
const NEVER = 1_000_000;
const DAY_SECONDS = 86_400;
const HALF_MADE = /^\.orion\/.*\/\.|-journal$|\/server\.json$|\.claim-/u;
const HOUSEKEEPING_MS = 100;
const HOUSEKEEPING_TRIES = 50;
const START_TRIES = 100;
const EFFECT_LOOK_MS = 10;
/** In which a turn that is run again would ask its provider. */
const AFTER_END_MS = 500;
/** By a store that is restored. */
const EVENTS_LOST = 2;
/** The server lives on. */
const STAYS: ReadonlySet<Interruption['kind']> = new Set(['reconnect', 'cut']);

export async function runPlan(plan: Plan, databaseUrl: string | null): Promise<Outcome> {
  const stage = await makeStage(plan.story, databaseUrl);
  const run = new PlannedTurn(plan, stage, databaseUrl);
  const late = wait(LIMIT_MS, null, { ref: false }).then(() => {
    throw new Error(`it was not over after ${LIMIT_MS / 1000} s: ${run.state()}`);
  });
  try {
    return await Promise.race([run.play(), late]);
  } catch (error) {
    return { failures: [String(error)], ...NOTHING };
  } finally {
    run.end();
    await stage.strike();
  }
}

class PlannedTurn {
  readonly #plan: Plan;
  readonly #stage: Stage;
  readonly #databaseUrl: string | null;
  readonly #callsFile: string;
  readonly #killAfter: number[];
  #kills = 0;
  /** Whether the server was asked to stop, or is gone after the end of the turn. */
  #isStopped = false;
  /** What the provider had been asked when the turn was over. */
  #asked: number | null = null;
  #reader: TurnReader | null = null;
  #log = '';
  #follower: ChildProcess | null = null;

  constructor(plan: Plan, stage: Stage, databaseUrl: string | null) {
    this.#plan = plan;
    this.#stage = stage;
    this.#databaseUrl = databaseUrl;
    this.#callsFile = join(stage.workspace, '..', 'calls');
    this.#killAfter = killsOf(plan.interruption);
  }

  state(): string {
    const events = this.#reader?.events.map(({ type }) => type).join(' ') ?? 'not begun';
    return `${events}; ${this.#log}`;
  }

  async play(): Promise<Outcome> {
    const { story, interruption } = this.#plan;
    let server = await this.#start(0);
    const turn = await this.#post(server);
    server = turn.server;
    const reader = new TurnReader(turn.id);
    this.#reader = reader;
    const follower = this.#follow(turn.id);
    const killed = interruption.kind === 'effect' ? this.#killAtEffect(server) : null;
    for (let starts = 1; !reader.isDone;) {
      let isGone = false;
      await reader
        .read(server, () => this.#onEvent(reader, server))
        .catch((error: unknown) => {
          // A server that was killed or is stopping takes no connections.
          if (!isRefused(error)) throw error;
          isGone = true;
        });
      if (STAYS.has(interruption.kind) && !isGone) continue;
      if (reader.isDone && !this.#isStopped) continue;
      this.#isStopped = false;
      if (interruption.kind === 'call') this.#kills += 1;
      this.#log += await server.ended;
      if (interruption.kind === 'restored') await restore(this.#stage.workspace);
      server = await this.#start(starts);
      starts += 1;
    }
    await killed;
    const again = new TurnReader(turn.id);
    while (!again.isDone) await again.read(server, () => 'more');
    const repeated = await this.#post(server);
    server = repeated.server;
    if (interruption.kind === 'ended') await wait(AFTER_END_MS);
    await this.#end(server);
    await this.#settle();
    const { calls, commits } = await this.#calls();
    const failures = [
      ...(repeated.id === turn.id ? [] : ['the same key made another turn']),
      ...((this.#asked ?? this.#stage.requests()) === this.#stage.requests()
        ? []
        : ['a turn that was over was run again']),
      ...(interruption.kind === 'restored' && reader.resets === 0
        ? ['a reader that was ahead of the store was not reset']
        : []),
      ...difference('a reader that came later', reader.events, again.events),
      ...(interruption.kind === 'cancel'
        ? judgeCancelled(reader.events)
        : judgeEvents(story, reader.events)),
      ...(await judgeFiles(story, this.#stage.workspace, interruption.kind === 'cancel')),
    ];
    const followed = await follower;
    if (followed !== reader.events.map(({ id }) => id).join(' '))
      failures.push(`another process has read ${followed}`);
    return {
      failures: failures.length === 0 ? [] : [...failures, this.#log],
      events: reader.events.length,
      calls,
      commits,
      amidTexts: amidTexts(reader.events),
      kills: this.#kills,
    };
  }

  async #calls(): Promise<Pick<Outcome, 'calls' | 'commits'>> {
    const text = await readFile(this.#callsFile, 'utf8').catch(() => null);
    return text === null ? NOTHING : (JSON.parse(text) as Pick<Outcome, 'calls' | 'commits'>);
  }

  async #killAtEffect(server: Served): Promise<void> {
    const file = join(this.#stage.workspace, this.#plan.story.countsRuns ?? '');
    while ((await readFile(file, 'utf8').catch(() => '')) === '') {
      if (this.#reader?.isDone === true) return;
      await wait(EFFECT_LOOK_MS);
    }
    this.#kills += 1;
    server.signal('SIGKILL');
  }

  async #end(server: Served): Promise<void> {
    server.signal('SIGTERM');
    this.#log += await server.ended;
  }

  /** What a killed process left half made is removed by a start that comes an hour later, while it serves. */
  async #settle(): Promise<void> {
    const { workspace } = this.#stage;
    if ((await unowned(workspace)).length === 0) return;
    await ageLeftovers(workspace, await leftovers(workspace, ''));
    const server = await this.#start(1);
    for (let tries = 0; tries < HOUSEKEEPING_TRIES; tries += 1) {
      if ((await unowned(workspace)).length === 0) break;
      await wait(HOUSEKEEPING_MS);
    }
    await this.#end(server);
  }

  /** A server that kills itself may do so before it serves anything, and one whose store is cut off does not start. */
  async #start(count: number): Promise<Served> {
    const { kind } = this.#plan.interruption;
    for (let tries = 0; ; tries += 1) {
      try {
        return await this.#stage.serve(tries === 0 ? this.#preload(count) : undefined);
      } catch (error) {
        const mayFail = (kind === 'call' && count === 0) || kind === 'cut';
        if (!mayFail || tries === START_TRIES) throw error;
        this.#kills += 1;
      }
    }
  }

  #preload(start: number): Preload | undefined {
    const { interruption } = this.#plan;
    if (interruption.kind === 'clock') {
      const days = start % 2 === 0 ? interruption.days : -interruption.days;
      return {
        module: new URL('./preload/shift-clock.ts', import.meta.url),
        environment: { ORION_SHIFT_SECONDS: String(days * DAY_SECONDS) },
      };
    }
    if (start > 0 || (interruption.kind !== 'call' && interruption.kind !== 'none'))
      return undefined;
    return {
      module: new URL('./preload/kill-at-call.ts', import.meta.url),
      environment: {
        ORION_KILL_ROOT: this.#stage.workspace,
        ORION_KILL_AT: String(interruption.kind === 'call' ? interruption.at : NEVER),
        ORION_KILL_COUNT: this.#callsFile,
      },
    };
  }

  /** Until it is answered: a server may be killed before it has. */
  async #post(first: Served): Promise<{ readonly id: string; readonly server: Served }> {
    let server = first;
    for (;;) {
      try {
        const { status, body } = await server.ask('POST', '/api/chat/messages', MESSAGE, KEY);
        if (isAway(status, body)) {
          await wait(AWAY_MS);
          continue;
        }
        if (status !== 202) throw new Error(`${status}: ${JSON.stringify(body)}`);
        return { id: (body as { readonly turnId: string }).turnId, server };
      } catch (error) {
        if (!isRefused(error)) throw error;
        this.#kills += 1;
        this.#log += await server.ended;
        server = await this.#start(1);
      }
    }
  }

  #onEvent(reader: TurnReader, server: Served): 'more' | 'enough' {
    const { interruption } = this.#plan;
    if (reader.isDone && interruption.kind === 'ended') {
      this.#kills += 1;
      this.#asked = this.#stage.requests();
      this.#isStopped = true;
      server.signal('SIGKILL');
    }
    if (reader.isDone) return 'enough';
    if (interruption.kind === 'reconnect') return 'enough';
    const { length } = reader.events;
    const [next = NEVER] = this.#killAfter;
    if (length < next) return 'more';
    this.#killAfter.shift();
    if (interruption.kind === 'restored' && length === interruption.at) {
      this.#killAfter.push(keep(this.#stage.workspace) + EVENTS_LOST);
      return 'more';
    }
    this.#kills += 1;
    switch (interruption.kind) {
      case 'cancel':
        void server.ask('POST', `/api/turns/${turnOf(reader)}/cancel`, {}).catch(() => undefined);
        return 'more';
      case 'stop':
        server.signal('SIGTERM');
        this.#isStopped = true;
        return 'more';
      default:
        server.signal('SIGKILL');
        return 'enough';
    }
  }

  /** What another process reads of the turn while this one is interrupted. */
  #follow(turnId: string): Promise<string> {
    const place = this.#databaseUrl ?? join(this.#stage.workspace, '.orion', 'orion.db');
    const script = fileURLToPath(new URL('./follow-process.ts', import.meta.url));
    const child = spawn(process.execPath, [SOURCE_CONDITION, script, place, turnId], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#follower = child;
    const output = collect(child.stdout, child.stderr);
    return once(child, 'close').then(output);
  }

  /** Ends what reads a turn that may have no end. */
  end(): void {
    this.#follower?.kill('SIGKILL');
  }
}

/** What a process was making when it was killed. */
async function unowned(workspace: string): Promise<readonly string[]> {
  const left = await leftovers(workspace, '');
  return left.filter((path) => HALF_MADE.test(path));
}

function killsOf(interruption: Interruption): number[] {
  switch (interruption.kind) {
    case 'event':
    case 'stop':
    case 'clock':
    case 'cancel':
    case 'restored':
      return [interruption.at];
    case 'several': {
      const random = createRandom(interruption.seed);
      const first = random.between(1, 6);
      const second = first + random.between(1, 6);
      return [first, second, second + random.between(1, 6)];
    }
    default:
      return [];
  }
}

/** The events after which another one of the same text comes. */
function amidTexts(events: readonly ReadEvent[]): readonly number[] {
  const isText = ({ type, data }: ReadEvent): boolean =>
    type === 'chunk' && data['source'] === 'model';
  return events.flatMap((event, index) => {
    const next = events[index + 1];
    return next !== undefined && isText(event) && isText(next) ? [index + 1] : [];
  });
}

function turnOf(reader: TurnReader): string {
  return String(reader.events[0]?.data['requestId']);
}

function difference(
  who: string,
  one: readonly ReadEvent[],
  other: readonly ReadEvent[],
): readonly string[] {
  const at = one.findIndex(
    (event, index) => JSON.stringify(event) !== JSON.stringify(other[index]),
  );
  if (at === -1 && one.length === other.length) return [];
  return [
    `${who} has ${other.length} events, not ${one.length}; number ${at + 1} is ` +
      `${JSON.stringify(other[at])}, not ${JSON.stringify(one[at])}`,
  ];
}

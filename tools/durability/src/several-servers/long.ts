/** A turn that takes longer than an engine gives a job unless it is told otherwise, undisturbed and killed again and again. */
import { setTimeout as wait } from 'node:timers/promises';

import { BEGIN_TOOL_NAME } from '@orion/contracts';
import type { Behaviour, Shape } from '@orion/llm-adapters/scripted';
import type { TestPostgres } from '@orion/testkit/postgres';

import { makeDatabase, numberOf } from '../served-turns/databases.ts';
import { judgeEvents, judgeFiles } from '../served-turns/judge.ts';
import { TurnReader } from '../served-turns/reader.ts';
import { makeStage } from '../served-turns/stage.ts';
import type { Story } from '../served-turns/stories.ts';
import { startGroup } from './group.ts';
import type { Group } from './group.ts';
import { judgeStore } from './judge-store.ts';
import { judgeReader, post } from './run-fault.ts';
import { environmentOf } from './scenario.ts';
import type { ScenarioOptions, ScenarioOutcome } from './scenario.ts';
import { WatchedTurn } from './watched-turn.ts';

export const LONG_WAYS = ['undisturbed', 'killed'] as const;
export type LongWay = (typeof LONG_WAYS)[number];

export type LongOptions = ScenarioOptions & {
  readonly minutes: number;
  readonly ways: readonly LongWay[];
};

/** One more attempt than a turn without progress gets. */
const KILLS = 5;
/** The events that a turn's owner has stored when it is killed. */
const NEW_EVENTS = 3;
const TAKEOVER_MS = 12_000;
const LOOK_MS = 100;
/** From one short turn to the next. */
const SHORT_EVERY_MS = 10_000;
const LINE_SECONDS = 3;
/** Messages of the model before the file. */
const STEPS = 8;
/** What a kill makes void is said again. */
const MOST_TIMES_LONGER = 2;
const SPARE_MS = 120_000;

const LONG = 'Take your time.';
const SHORT = { prompt: 'Be quick.', says: 'It is done.' };
const DONE = 'Everything is told.';
const TARGET = 'told.md';

/** Of one length, so that each arrives by itself. */
const line = (place: string): string => `${`What is told slowly, ${place}`.padEnd(39)}\n`;
const SLOWLY: Shape = { chunk: line('').length, eventsPerSecond: 1 / LINE_SECONDS };

export async function runForLong(
  { ways, ...options }: LongOptions,
  postgres: TestPostgres,
): Promise<ScenarioOutcome> {
  // Each on servers of its own, and at the same time: they do little.
  const outcomes = await Promise.all(ways.map((way) => runOne(way, options, postgres)));
  return {
    figures: Object.assign(
      { minutes: options.minutes },
      ...outcomes.map(({ figures }) => figures),
    ) as ScenarioOutcome['figures'],
    failures: outcomes.flatMap(({ failures }) => failures),
  };
}

async function runOne(
  way: LongWay,
  { servers: count, isOneParent, sessions, minutes }: Omit<LongOptions, 'ways'>,
  postgres: TestPostgres,
): Promise<ScenarioOutcome> {
  const story = storyOf(minutes);
  const lastMs = minutes * 60_000;
  const database = await makeDatabase(postgres.url);
  const ofQueue = environmentOf(sessions);
  const stage = await makeStage(story, database, (server, root) => ({
    ...ofQueue(server, root),
    // A turn that only talks is stopped long before that.
    MAX_ITERATIONS: '1000',
    ORION_STOP_SECONDS: '1000000',
    ORION_STOP_TOKENS: '1000000000',
  }));
  try {
    const servers = await startGroup(stage, { count, isOneParent });
    const late = AbortSignal.timeout(MOST_TIMES_LONGER * lastMs + SPARE_MS);
    const group: Group = {
      ...servers,
      at(index) {
        late.throwIfAborted();
        return servers.at(index);
      },
    };
    const began = performance.now();
    const ask = (): Promise<string> => post(group, 0, { prompt: LONG, conversationId: 'long' });
    const turn = new WatchedTurn(ask, await ask());
    let connections = 0;
    const isOver = turn.read(() => group.at((connections += 1))).then(() => true);
    const [, { asked, failures: wrong }, takeovers] = await Promise.all([
      isOver,
      askShortly(group, isOver),
      way === 'killed' ? killAtTimes(group, { turn, database, lastMs, late }) : [],
    ]);
    const seconds = Math.round((performance.now() - began) / 1_000);
    const again = new TurnReader(turn.id);
    await again.read(group.at(0), () => 'more');
    await group.end();
    const isSame = JSON.stringify(again.events) === JSON.stringify(turn.events);
    const longest = Math.round(Math.max(0, ...takeovers));
    const failures = [
      ...judgeEvents(story, turn.events),
      ...(isSame ? [] : ['another reader sees other events']),
      ...judgeReader(turn),
      ...(turn.moves.length === takeovers.length ? [] : [`it moved ${turn.moves.length} times`]),
      ...(longest > TAKEOVER_MS ? [`a takeover took ${longest} ms`] : []),
      ...(seconds * 1_000 < lastMs ? [`it was over after ${seconds} s`] : []),
      ...wrong,
      ...(await judgeFiles(story, stage.workspace, false)).filter(
        (failure) => way === 'undisturbed' || !failure.startsWith('files are left'),
      ),
      ...(await judgeStore(database, true)).filter(
        // Its conversation is a longer one than those of other turns.
        (failure) => !failure.includes('conversations'),
      ),
    ];
    return {
      figures: {
        [`${way} s`]: seconds,
        [`${way} events`]: turn.events.length,
        [`${way} short turns`]: asked,
        ...(way === 'killed' ? { kills: takeovers.length, 'longest takeover ms': longest } : {}),
      },
      failures: failures.map((failure) => `${way}: ${failure}`),
    };
  } finally {
    await stage.strike();
  }
}

/** Messages that each end with a call, then a file, then a last word: all of it a line at a time. */
function storyOf(minutes: number): Story {
  const lines = Math.ceil((minutes * 60) / LINE_SECONDS);
  const ofStep = Math.max(2, Math.round(lines / 2 / STEPS));
  const texts = Array.from({ length: STEPS }, (_, step) =>
    Array.from({ length: ofStep }, (__, index) => line(`part ${step + 1}, ${index + 1}`)).join(''),
  );
  const file = Array.from({ length: Math.max(2, lines - STEPS * ofStep) }, (_, index) =>
    line(`in the file, ${index + 1}`),
  ).join('');
  const history = { contains: LONG };
  const pages = texts.map((_, step) => `pages/${step + 1}`);
  const steps = texts.map((text, step): Behaviour => ({
    when: { history, toolResults: step, toolChoice: 'auto' },
    shape: SLOWLY,
    reply: { text, toolCalls: [{ name: 'list_files', arguments: { path: pages[step] } }] },
  }));
  const begin = { intent: 'tell it', target_file: TARGET, operation: 'create' };
  const before = Object.fromEntries(pages.map((page) => [`${page}/page.txt`, 'a page\n']));
  return {
    name: LONG,
    before,
    after: { ...before, [TARGET]: file },
    says: texts.join('') + DONE,
    script: {
      behaviours: [
        {
          when: { history, toolResults: STEPS + 1, toolChoice: 'none' },
          shape: SLOWLY,
          reply: { document: { target: TARGET, content: { kind: 'text', text: file } } },
        },
        ...steps,
        {
          when: { history, toolResults: STEPS, toolChoice: 'auto' },
          reply: { toolCalls: [{ name: BEGIN_TOOL_NAME, arguments: begin }] },
        },
        { when: { history }, reply: { text: DONE } },
        { reply: { text: SHORT.says } },
      ],
    },
  };
}

/** One short turn after the other, until the long one is over. */
async function askShortly(
  group: Group,
  isOver: Promise<boolean>,
): Promise<{ readonly asked: number; readonly failures: readonly string[] }> {
  const story = { name: SHORT.prompt, script: { behaviours: [] }, before: {}, after: {} };
  const failures: string[] = [];
  for (let asked = 1; ; asked += 1) {
    const conversationId = `short-${asked}`;
    const turn = new WatchedTurn(() => post(group, asked, { ...SHORT, conversationId }));
    let connections = asked;
    await turn.read(() => group.at((connections += 1)));
    const wrong = judgeEvents({ ...story, says: SHORT.says }, turn.events);
    failures.push(...wrong.map((each) => `${conversationId}: ${each}`));
    if (await Promise.race([isOver, wait(SHORT_EVERY_MS, false, { ref: false })]))
      return { asked, failures };
  }
}

/**
 * Kills the owner of a turn when it has stored something.
 *
 * @returns how long it took each time until another process owned the turn, in ms
 */
async function killAtTimes(
  group: Group,
  {
    turn,
    database,
    lastMs,
    late,
  }: {
    readonly turn: WatchedTurn;
    readonly database: string;
    readonly lastMs: number;
    readonly late: AbortSignal;
  },
): Promise<readonly number[]> {
  const began = performance.now();
  const ownEpoch = (): Promise<number> =>
    numberOf(database, `select epoch from turn where turn_id = '${turn.id}'`);
  const takeovers: number[] = [];
  for (let kill = 1; kill <= KILLS; kill += 1) {
    const epoch = await ownEpoch();
    const mine = epoch.toString(36);
    const due = began + (kill * lastMs) / (KILLS + 1);
    const isDue = (): boolean =>
      performance.now() >= due &&
      turn.events.filter(({ id }) => id.endsWith(`.${mine}`)).length >= NEW_EVENTS;
    while (!isDue() && !turn.isDone) await wait(LOOK_MS, undefined, { signal: late });
    if (turn.isDone) return takeovers;
    const pid = await ownerOf(group);
    const killed = performance.now();
    const replaced = group.replace(pid, 'SIGKILL');
    while ((await ownEpoch()) === epoch) await wait(LOOK_MS, undefined, { signal: late });
    takeovers.push(performance.now() - killed);
    await replaced;
  }
  return takeovers;
}

/** The process that runs a turn, at a moment at which only one does. */
async function ownerOf(group: Group): Promise<number> {
  for (;;) {
    const pids = await group.pids();
    const running = new Map<number, number>();
    for (let index = 0; running.size < pids.length; index += 1) {
      const { url, token } = group.at(index);
      const headers = { authorization: `Bearer ${token}` };
      const text = await (await fetch(`${url}/metrics`, { headers })).text();
      const found = /^orion_turns\{state="running",process="orion-(\d+)"\} (\d+)$/mu.exec(text);
      if (found === null) throw new Error('A server does not say how many turns it runs');
      running.set(Number(found[1]), Number(found[2]));
    }
    const busy = [...running].filter(([, turns]) => turns > 0);
    const [first] = busy;
    if (busy.length === 1 && first?.[1] === 1) return first[0];
    await wait(LOOK_MS);
  }
}

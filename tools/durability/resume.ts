import { parseArgs } from 'node:util';

import { createRandom, readCount, shareOut } from '@orion/common';
import { startPostgres } from '@orion/testkit/postgres';

import { cutAnswers } from './src/served-turns/cut-answers.ts';
import { makeDatabase } from './src/served-turns/databases.ts';
import { runPlan } from './src/served-turns/run-plan.ts';
import type { Interruption, Outcome, Plan } from './src/served-turns/run-plan.ts';
import { STORIES } from './src/served-turns/stories.ts';
import type { Story } from './src/served-turns/stories.ts';

const { values } = parseArgs({
  options: {
    store: { type: 'string' },
    every: { type: 'string', default: '1' },
    lanes: { type: 'string', default: '2' },
    seed: { type: 'string' },
    seeds: { type: 'string', default: '5' },
    /** The most changes of a turn before which it is killed; 0 is all of them. */
    calls: { type: 'string', default: '40' },
    /** Answers of a Postgres that are cut. */
    cuts: { type: 'string', default: '400' },
    /** Only turns of this name. */
    story: { type: 'string' },
    /** Only plans whose name contains this. */
    only: { type: 'string', default: '' },
  },
});

const every = readCount('every', values.every);
const lanes = readCount('lanes', values.lanes);
const cuts = readCount('cuts', values.cuts);
const mostCalls = readCount('calls', values.calls);
const seeds = readCount('seeds', values.seeds);
const seed =
  values.seed === undefined
    ? Math.floor(Math.random() * 1_000_000_000)
    : readCount('seed', values.seed);
const DAYS = 31;
/** Of a text are still to come where it is interrupted, if it has so many. */
const AMID_EVENTS = 5;

type Store = { readonly name: string; readonly database: () => Promise<string | null> };

const began = performance.now();
const postgres = values.store === 'sqlite' ? null : await startPostgres();
const stores: readonly Store[] = [
  ...(values.store === 'postgres' ? [] : [{ name: 'sqlite', database: async () => null }]),
  ...(postgres === null ? [] : [{ name: 'postgres', database: () => makeDatabase(postgres.url) }]),
];
let runs = 0;
let kills = 0;
let failed = 0;
try {
  for (const store of stores) await interrupt(store);
  if (postgres !== null && cuts > 0 && 'postgres: cuts'.includes(values.only)) {
    const outcome = await cutAnswers(postgres, cuts, createRandom(seed));
    report('postgres: cuts', outcome.failures);
    process.stdout.write(`${outcome.turns} turns, ${outcome.cuts} answers of the store were cut\n`);
  }
} finally {
  await postgres?.stop();
}
const seconds = ((performance.now() - began) / 1000).toFixed(0);
process.stdout.write(`${runs} turns, ${kills} interruptions, ${seconds} s, ${failed} failed\n`);
process.exitCode = failed === 0 ? 0 : 1;

async function interrupt(store: Store): Promise<void> {
  const all: Plan[] = [];
  const always: Plan[] = [];
  const { story: wanted } = values;
  for (const story of STORIES.filter(({ name }) => wanted === undefined || name === wanted)) {
    const whole = await play(store, { story, interruption: { kind: 'none' } });
    const { events, calls } = whole;
    process.stdout.write(`${store.name} ${story.name}: ${events} events, ${calls} changes\n`);
    for (const interruption of interruptionsOf(events, calls)) all.push({ story, interruption });
    for (const interruption of delicateOnes(store, story, whole))
      always.push({ story, interruption });
  }
  const chosen = [...always, ...all.filter((_, index) => (index + seed) % every === 0)];
  await shareOut(Array.from({ length: lanes }), chosen, async (plan) => {
    if (nameOf(store, plan).includes(values.only)) await play(store, plan);
  });
}

function interruptionsOf(events: number, calls: number): readonly Interruption[] {
  const places = Array.from({ length: events }, (_, index) => index + 1);
  const middle = Math.ceil(events / 2);
  return [
    { kind: 'reconnect' },
    ...places.map((at) => ({ kind: 'event' as const, at })),
    // At every second event the one, at the others the other; another seed exchanges them.
    ...places.map((at) => ({
      kind: (at + seed) % 2 === 0 ? ('stop' as const) : ('cancel' as const),
      at,
    })),
    ...someOf(calls, mostCalls).map((at) => ({ kind: 'call' as const, at })),
    ...Array.from({ length: seeds }, (_, n) => ({ kind: 'several' as const, seed: seed + n })),
    { kind: 'clock', at: middle, days: DAYS },
    { kind: 'clock', at: middle, days: -DAYS },
  ];
}

/** The moments in which most can go wrong: none of them is left out, however few are chosen of the others. */
function delicateOnes(
  store: Store,
  { before, after, countsRuns }: Story,
  { commits, amidTexts }: Outcome,
): readonly Interruption[] {
  const changesNothing =
    countsRuns === undefined && Object.keys(after).every((path) => after[path] === before[path]);
  const amid = amidTexts.at(-AMID_EVENTS) ?? amidTexts[0];
  return [
    { kind: 'ended' },
    ...(countsRuns === undefined ? [] : [{ kind: 'effect' as const }]),
    ...commits.map((at) => ({ kind: 'call' as const, at: at + 1 })),
    ...(amid === undefined ? [] : [{ kind: 'event' as const, at: amid }]),
    ...(amid !== undefined && changesNothing && store.name === 'sqlite'
      ? [{ kind: 'restored' as const, at: amid }]
      : []),
  ];
}

/** So many of the numbers from 0, evenly spaced from a place that follows from the seed. */
function someOf(count: number, most: number): readonly number[] {
  const step = most === 0 ? 1 : Math.ceil(count / most);
  return Array.from({ length: count }, (_, at) => at).filter((at) => at % step === seed % step);
}

async function play(store: Store, plan: Plan): Promise<Outcome> {
  const outcome = await runPlan(plan, await store.database());
  runs += 1;
  kills += outcome.kills;
  report(nameOf(store, plan), outcome.failures);
  return outcome;
}

function nameOf(store: Store, { story, interruption }: Plan): string {
  const { kind, ...place } = interruption;
  return `${store.name}: ${story.name} ${[kind, ...Object.values(place)].join(' ')}`;
}

function report(name: string, failures: readonly string[]): void {
  if (failures.length === 0) return;
  failed += 1;
  process.stdout.write(`FAILED ${name}: ${failures.join('\n  ')}\n`);
  process.stdout.write(`  again: npm run resume -- --seed ${seed} --only '${name}'\n`);
}

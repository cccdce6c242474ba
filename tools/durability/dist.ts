import { parseArgs } from 'node:util';

import { readCount } from '@orion/common';
import { startPostgres } from '@orion/testkit/postgres';

import { runFault } from './src/several-servers/run-fault.ts';
import type { FaultOptions, FaultOutcome } from './src/several-servers/run-fault.ts';
import { FAULTS, waysOf } from './src/several-servers/faults.ts';
import type { Fault } from './src/several-servers/faults.ts';
import { playAcceptance } from './src/several-servers/acceptance.ts';
import { cancelElsewhere } from './src/several-servers/cancel.ts';
import { endProcesses } from './src/several-servers/poison.ts';
import { LONG_WAYS, runForLong } from './src/several-servers/long.ts';
import { readInEveryManner } from './src/several-servers/readers.ts';
import { shareSlots } from './src/several-servers/fairness.ts';
import { sendTwice } from './src/several-servers/keys.ts';
import type { Scenario } from './src/several-servers/scenario.ts';

const { values } = parseArgs({
  options: {
    fault: { type: 'string', default: 'none' },
    servers: { type: 'string', default: '3' },
    /** The servers are workers of one parent. */
    workers: { type: 'boolean', default: false },
    /** As many as the fault needs, when left out. */
    turns: { type: 'string' },
    sessions: { type: 'string', default: 'directory' },
    /** For how many seconds Postgres is away. */
    outage: { type: 'string', default: '3' },
    /** One way of the fault; all of them in turn, when left out. */
    way: { type: 'string' },
    /** For what is chosen at random. */
    seed: { type: 'string' },
    /** How long a long turn takes. */
    minutes: { type: 'string', default: '21' },
  },
});

/** How much longer several servers may take than one that hands out its turns itself. */
const SLOWER_SECONDS = 1;

/** What is no fault that strikes while many turns run. */
const SCENARIOS: Readonly<Record<string, Scenario>> = {
  acceptance: playAcceptance,
  cancel: cancelElsewhere,
  fairness: shareSlots,
  keys: sendTwice,
  poison: endProcesses,
  long: (options, postgres) => {
    const ways = LONG_WAYS.filter((way) => values.way === undefined || values.way === way);
    return runForLong(
      { ...options, ways, minutes: readCount('minutes', values.minutes) },
      postgres,
    );
  },
  readers: readInEveryManner,
};

const servers = readCount('servers', values.servers);
const isOneParent = values.workers;
const sessions = sessionsOf(values.sessions);
const scenario = SCENARIOS[values.fault];
const fault = FAULTS.find((each) => each === values.fault);
const postgres = await startPostgres();
try {
  if (scenario !== undefined) {
    const { figures, failures } = await scenario({ servers, isOneParent, sessions }, postgres);
    report({ fault: values.fault, servers, isOneParent, sessions, ...figures }, failures);
  } else if (fault === undefined) {
    const all = [...FAULTS, ...Object.keys(SCENARIOS)];
    throw new Error(`--fault must be one of ${all.join(', ')}`);
  } else await strike(fault);
} finally {
  await postgres.stop();
}

async function strike(name: Fault): Promise<void> {
  if (name === 'stop' && !isOneParent && sessions === 'directory')
    throw new Error(
      'A frozen owner of a directory has to be killed: add --workers, or --sessions database',
    );
  const ways = waysOf(name).filter((way) => values.way === undefined || values.way === way);
  if (ways.length === 0) throw new Error(`--way must be one of ${waysOf(name).join(', ')}`);
  const options = {
    fault: name,
    servers,
    turns: values.turns === undefined ? null : readCount('turns', values.turns),
    isOneParent,
    sessions,
    outageMs: 1_000 * readCount('outage', values.outage),
    seed:
      values.seed === undefined
        ? Math.floor(Math.random() * 1_000_000_000)
        : readCount('seed', values.seed),
  };
  const alone =
    name === 'none'
      ? await runFault({ ...options, servers: 1, isOneParent: false, way: '' }, postgres)
      : null;
  const outcomes: FaultOutcome[] = [];
  for (const way of ways) {
    const outcome = await runFault({ ...options, way }, postgres);
    const failures = outcome.failures.map((failure) => `${way} ${failure}`.trim());
    outcomes.push({ ...outcome, failures });
  }
  const outcome = together(outcomes);
  const line = {
    ...options,
    seconds: rounded(outcome.seconds),
    ...(alone === null ? {} : { aloneSeconds: rounded(alone.seconds) }),
    moves: outcome.moves,
    longestMoveMs: Math.round(outcome.longestMoveMs),
    silenceMs: Math.round(outcome.silenceMs),
    ...outcome.figures,
  };
  report(line, [...(alone?.failures ?? []), ...outcome.failures, ...slower(outcome, alone)]);
}

function report(line: object, failures: readonly string[]): void {
  process.stdout.write(`${JSON.stringify({ ...line, failures })}\n`);
  process.exitCode = failures.length === 0 ? 0 : 1;
}

/** Of several runs. */
function together(outcomes: readonly FaultOutcome[]): FaultOutcome {
  return outcomes.reduce((one, other) => ({
    seconds: one.seconds + other.seconds,
    moves: one.moves + other.moves,
    longestMoveMs: Math.max(one.longestMoveMs, other.longestMoveMs),
    silenceMs: Math.max(one.silenceMs, other.silenceMs),
    figures: { ...one.figures, ...other.figures },
    failures: [...one.failures, ...other.failures],
  }));
}

function sessionsOf(given: string): FaultOptions['sessions'] {
  if (given === 'directory' || given === 'database') return given;
  throw new Error('--sessions must be directory or database');
}

function slower(outcome: FaultOutcome, alone: FaultOutcome | null): readonly string[] {
  if (alone === null || outcome.seconds <= alone.seconds + SLOWER_SECONDS) return [];
  return [`it took ${rounded(outcome.seconds)} s, one server takes ${rounded(alone.seconds)} s`];
}

function rounded(seconds: number): number {
  return Math.round(seconds * 10) / 10;
}

import { parseArgs } from 'node:util';

import { readCount } from '@orion/common';
import { startPostgres } from '@orion/testkit/postgres';

import { runFault } from './src/several-servers/run-fault.ts';
import type { FaultOptions, FaultOutcome } from './src/several-servers/run-fault.ts';
import { FAULTS, MOMENTS } from './src/several-servers/faults.ts';

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
    /** When a process freezes; at all of them in turn, when left out. */
    at: { type: 'string' },
    /** For what is chosen at random. */
    seed: { type: 'string' },
  },
});

/** How much longer several servers may take than one that hands out its turns itself. */
const SLOWER_SECONDS = 1;

const fault = FAULTS.find((each) => each === values.fault);
if (fault === undefined) throw new Error(`--fault must be one of ${FAULTS.join(', ')}`);
const options = {
  fault,
  servers: readCount('servers', values.servers),
  turns: values.turns === undefined ? null : readCount('turns', values.turns),
  isOneParent: values.workers,
  sessions: sessionsOf(values.sessions),
  outageMs: 1_000 * readCount('outage', values.outage),
  seed:
    values.seed === undefined
      ? Math.floor(Math.random() * 1_000_000_000)
      : readCount('seed', values.seed),
};
if (fault === 'stop' && !options.isOneParent && options.sessions === 'directory')
  throw new Error(
    'A frozen owner of a directory has to be killed: add --workers, or --sessions database',
  );
const moments = MOMENTS.filter((moment) => values.at === undefined || values.at === moment);
if (moments.length === 0) throw new Error(`--at must be one of ${MOMENTS.join(', ')}`);

const postgres = await startPostgres();
try {
  const alone =
    fault === 'none'
      ? await runFault({ ...options, servers: 1, isOneParent: false, moment: 'stream' }, postgres)
      : null;
  const outcomes: FaultOutcome[] = [];
  for (const moment of fault === 'stop' ? moments : (['stream'] as const)) {
    const outcome = await runFault({ ...options, moment }, postgres);
    const place = fault === 'stop' ? `${moment}: ` : '';
    const failures = outcome.failures.map((failure) => `${place}${failure}`);
    outcomes.push({ ...outcome, failures });
  }
  const outcome = together(outcomes);
  const failures = [...(alone?.failures ?? []), ...outcome.failures, ...slower(outcome, alone)];
  const line = {
    ...options,
    seconds: rounded(outcome.seconds),
    ...(alone === null ? {} : { aloneSeconds: rounded(alone.seconds) }),
    moves: outcome.moves,
    longestMoveMs: Math.round(outcome.longestMoveMs),
    silenceMs: Math.round(outcome.silenceMs),
    ...(fault === 'lost-answer' ? { cuts: outcome.cuts } : {}),
    failures,
  };
  process.stdout.write(`${JSON.stringify(line)}\n`);
  process.exitCode = failures.length === 0 ? 0 : 1;
} finally {
  await postgres.stop();
}

/** Of several runs. */
function together(outcomes: readonly FaultOutcome[]): FaultOutcome {
  return outcomes.reduce((one, other) => ({
    seconds: one.seconds + other.seconds,
    moves: one.moves + other.moves,
    longestMoveMs: Math.max(one.longestMoveMs, other.longestMoveMs),
    silenceMs: Math.max(one.silenceMs, other.silenceMs),
    cuts: { ...one.cuts, ...other.cuts },
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

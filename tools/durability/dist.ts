import { parseArgs } from 'node:util';

import { readCount } from '@orion/common';
import { startPostgres } from '@orion/testkit/postgres';

import { runFault } from './src/several-servers/run-fault.ts';
import type { FaultOptions, FaultOutcome } from './src/several-servers/run-fault.ts';
import type { Fault } from './src/several-servers/faults.ts';

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
    /** For what is chosen at random. */
    seed: { type: 'string' },
  },
});

const FAULTS: readonly Fault[] = ['none', 'kill', 'stop', 'term', 'postgres', 'lost-answer'];
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

const postgres = await startPostgres();
try {
  const alone =
    fault === 'none'
      ? await runFault({ ...options, servers: 1, isOneParent: false }, postgres)
      : null;
  const outcome = await runFault(options, postgres);
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

import { parseArgs } from 'node:util';

import { readCount } from '@orion/common';
import { startPostgres } from '@orion/testkit/postgres';

import { runFault } from './src/several-servers/run-fault.ts';
import type { ScenarioOptions } from './src/several-servers/scenario.ts';

const { values } = parseArgs({
  options: {
    seed: { type: 'string' },
    /** Only this deployment; both, when neither is given. */
    workers: { type: 'boolean', default: false },
    sessions: { type: 'string' },
  },
});

const WORKERS: ScenarioOptions = { servers: 3, isOneParent: true, sessions: 'directory' };
const SERVERS: ScenarioOptions = { servers: 3, isOneParent: false, sessions: 'database' };

const seed =
  values.seed === undefined
    ? Math.floor(Math.random() * 1_000_000_000)
    : readCount('seed', values.seed);
for (const deployment of deployments()) {
  const postgres = await startPostgres();
  try {
    const outcome = await runFault(
      { ...deployment, fault: 'chaos', turns: null, outageMs: 0, way: '', seed },
      postgres,
    );
    const line = {
      ...deployment,
      seed,
      seconds: Math.round(outcome.seconds * 10) / 10,
      moves: outcome.moves,
      longestMoveMs: Math.round(outcome.longestMoveMs),
      ...outcome.figures,
      failures: outcome.failures,
    };
    process.stdout.write(`${JSON.stringify(line)}\n`);
    if (outcome.failures.length > 0) process.exitCode = 1;
  } finally {
    await postgres.stop();
  }
}

function deployments(): readonly ScenarioOptions[] {
  if (values.sessions !== undefined && values.sessions !== 'database')
    throw new Error('--sessions must be database');
  if (values.workers === (values.sessions !== undefined)) {
    if (values.workers) throw new Error('Give --workers or --sessions database, not both');
    return [WORKERS, SERVERS];
  }
  return values.workers ? [WORKERS] : [SERVERS];
}

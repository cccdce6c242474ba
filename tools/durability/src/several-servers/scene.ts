/** What a fault finds, and what it strikes. */
import type { TestPostgres } from '@orion/testkit/postgres';

import type { Cutting } from './cut-statements.ts';
import type { Failover } from './failover.ts';
import type { Group } from './group.ts';
import type { WatchedTurn } from './watched-turn.ts';

export type Scene = {
  readonly group: Group;
  readonly postgres: TestPostgres;
  /** The URL of what the servers store in. */
  readonly database: string;
  readonly turns: readonly WatchedTurn[];
  /** How long Postgres is away. */
  readonly outageMs: number;
  /** Null where there is no standby. */
  readonly failover: Failover | null;
  /** The servers are workers of one parent. */
  readonly isOneParent: boolean;
  /** For what is chosen at random. */
  readonly seed: number;
  /** Of answers of Postgres, where the plan has it. */
  readonly cutting: Cutting;
  /** The run has failed, and ends. */
  readonly signal: AbortSignal;
  /** For the report. */
  note(strike: object): void;
  /** Something did not hold. */
  miss(what: string): void;
};

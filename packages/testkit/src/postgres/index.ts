/**
 * A real Postgres for tests. A separate entry, because its binaries are a package that only its users install.
 */
export { startPostgres } from './start-postgres.ts';
export type { TestPostgres } from './start-postgres.ts';
export type { TestServer } from './server-process.ts';
export type { StandbyOptions, TestStandby } from './standby.ts';
export { startMovableAddress } from './movable-address.ts';
export type { MovableAddress } from './movable-address.ts';

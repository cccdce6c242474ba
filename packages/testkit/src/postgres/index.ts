/**
 * A real Postgres for tests. An entry of its own, since its binaries are a package that only those install who use it.
 */
export { startPostgres } from './start-postgres.ts';
export type { TestPostgres } from './start-postgres.ts';

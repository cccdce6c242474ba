/**
 * A real Postgres for tests. A separate entry, because its binaries are a package that only its users install.
 */
export { startPostgres } from './start-postgres.ts';
export type { TestPostgres } from './start-postgres.ts';

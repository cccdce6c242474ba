// What a database of one's own needs to become a store, such as one that a simulation shares between processes.
export { migrate } from './migrations/migrate.ts';
export { sharedTables } from './migrations/migrations.ts';
export { SqlRefusedError, storeUnavailable } from './engine/sql-database.ts';
export type { SqlDatabase, SqlRow, SqlRunner, SqlScalar, SqlValue } from './engine/sql-database.ts';
export { storeOver } from './store-over.ts';
export { createSqlSessionContent } from './write-sessions/sql-session-content.ts';
export { createSqlSharedRecords } from './write-sessions/sql-shared-records.ts';

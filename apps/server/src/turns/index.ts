// The turns of a server without its sockets, for a simulation that has a queue and a store of its own.
export { projectsOf } from '../projects.ts';
export { PgBossQueue } from '../queue/pg-boss-queue.ts';
export type { Job, QueueName, TurnJobs } from '../queue/pg-boss-jobs.ts';
export { createTurnService } from './create-turn-service.ts';
export { OverdueTurns } from './overdue-turns.ts';
export { ProtocolLimits } from './protocol-limits.ts';
export { TurnRunner } from './turn-runner.ts';
export type { TurnService } from './turn-service.ts';

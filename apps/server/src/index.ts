export type { LogSink, ServerOptions } from './configuration.ts';
export type { ServerLimits } from './limits.ts';
export { startServer } from './start-server.ts';
export type { RunningServer } from './start-server.ts';

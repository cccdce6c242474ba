export { checkOptions } from './configuration.ts';
export type { ListenOptions, LogSink, ServerOptions, ServerSettings } from './configuration.ts';
export type { ServerLimits } from './limits.ts';
export { notListening, startServer } from './start-server.ts';
export type { RunningServer } from './start-server.ts';
export type { TurnService } from './turns/turn-service.ts';

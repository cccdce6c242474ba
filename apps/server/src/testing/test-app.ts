import { createApp } from '../app.ts';
import type { RouteOptions, ServerApp } from '../routes/route-options.ts';

/** The routes without anything behind them: for what can be said without a request. */
export function testApp(): ServerApp {
  const store = { conversations: {}, traces: {}, toolOutputs: {} };
  const projects = { all: [] };
  return createApp({ orion: { store }, projects, turns: {} } as unknown as RouteOptions);
}

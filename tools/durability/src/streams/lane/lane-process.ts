import type { KillOutcome } from '../outcome.ts';
import { planKill } from '../plan.ts';
import { startProviders } from '../stage/providers.ts';
import { runKill } from './kill.ts';

export type LaneRequest = { readonly seed: number; readonly main: string; readonly root: string };
export type LaneAnswer =
  | { readonly outcome: KillOutcome }
  | { readonly seed: number; readonly error: string };

// A process of its own: it measures milliseconds, and no other lane may delay it.
const providers = startProviders();

process.on('message', (request: LaneRequest) => {
  void answer(request).then((value) => process.send?.(value));
});
process.on('disconnect', () => {
  providers.close();
  process.exit();
});

async function answer({ seed, main, root }: LaneRequest): Promise<LaneAnswer> {
  try {
    return { outcome: await runKill({ main, root, providers }, planKill(seed)) };
  } catch (error) {
    return { seed, error: error instanceof Error ? (error.stack ?? error.message) : String(error) };
  }
}

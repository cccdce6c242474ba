import type { RunningLimits } from '@orion/contracts';
import { describe } from 'vitest';

import { testEnds } from './turn-queue/ends.ts';
import { testHandingOut } from './turn-queue/handing-out.ts';
import { testRunningAlone } from './turn-queue/running-alone.ts';
import { queueTesting } from './turn-queue/queue-testing.ts';
import type { QueueUnderTest } from './turn-queue/queue-testing.ts';

export type { QueueUnderTest } from './turn-queue/queue-testing.ts';

/**
 * Who tries which turn next.
 *
 * 1. A turn is handed out once its transaction is committed, and not otherwise; first come, first served, as many at a
 *    time as there are slots. Interactive turns come before others, and those of a project that runs as many as it may
 *    wait.
 * 2. Until it is completed or withdrawn a turn is handed out again, each time with a higher number; not before the handler
 *    of the earlier attempt has returned, unless its process is gone.
 * 3. What a handler throws ends the attempt and nothing else; the next one follows after a pause.
 * 4. A queue that drains hands out nothing; what it leaves behind is handed out by the next one, also what was running.
 * 5. A turn that is to run alone waits for those that run, but not for its project, and those behind it wait for it. Turns
 *    that rest take no slot.
 * 6. A process that is overloaded takes nothing, and looks again by itself and when it is told to.
 *
 * Not tested here is what a test cannot bring about in every adapter: a transaction that ends `unknown`, turns that only
 * the store has, and `lost`. An adapter tests them itself.
 */
export function describeTurnQueueContract(
  name: string,
  factory: (perProject: RunningLimits) => Promise<QueueUnderTest>,
): void {
  describe(`turn queue contract: ${name}`, () => {
    const testing = queueTesting(factory);
    testHandingOut(testing);
    testEnds(testing);
    testRunningAlone(testing);
  });
}

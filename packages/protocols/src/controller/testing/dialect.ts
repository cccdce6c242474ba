import type { ModelDialect } from '@orion/testkit';
import { textReply } from '@orion/testkit';

/** How a controller model speaks: everything is one JSON action. */
export const CONTROLLER_DIALECT: ModelDialect = {
  readsCalls: false,
  answer: (message) => JSON.stringify({ action: 'complete', message }),
  calls: ([call]) =>
    textReply(
      JSON.stringify({
        action: 'next_step',
        thinking: { task: 'look' },
        tool: call?.name,
        args: JSON.parse(call?.arguments ?? '{}') as unknown,
      }),
    ),
};

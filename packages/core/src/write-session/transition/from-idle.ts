import type { ControlState } from '../control.ts';
import { emptySession, ignored, invalid, moved, recovered, refused } from './outcomes.ts';
import { sharedRows } from './rows.ts';
import type { Rows } from './rows.ts';

/** There is no session, so events for one have no effect. The same holds for `done` and `aborted`. */
export const fromIdle: Rows<ControlState> = {
  ...sharedRows,
  begin_ok: () => moved(emptySession),
  recover_accepted: recovered,
  save_due: () => invalid,
  save_failed: () => invalid,
  limit_exceeded: () => invalid,
  abort: () => refused('SESSION_NOT_FOUND'),
  graceful_stop: () => moved({ kind: 'idle' }),
  inactive: () => ignored,
  lease_lost: () => ignored,
  finalize_command: () => refused('SESSION_NOT_FOUND'),
};

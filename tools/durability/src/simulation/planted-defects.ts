import type { Store } from '@orion/agent';
import type { TurnPosition } from '@orion/contracts';

import type { Rewrite } from './shared-database.ts';

/** A defect that the simulator must notice: a statement without one of its conditions, a store or a reader less careful. */
export type PlantedDefect = {
  readonly sql?: Rewrite;
  readonly store?: (store: Store) => Store;
  /** Where a reader says that it is. */
  readonly position?: (position: TurnPosition) => TurnPosition;
};

export const PLANTED_DEFECTS: Readonly<Record<string, PlantedDefect>> = {
  'no-expected-number': { sql: without(/and turn\.last_seq = \S+/gu) },
  'claim-of-a-finished-turn': {
    sql: without(/turn\.finished_at is null and(?= \(\$2)/gu),
  },
  'resume-by-number-alone': { position: ({ seq }) => ({ seq, epoch: null }) },
  'late-acquire': {
    sql: without(/and \(\$2::integer is null or turn\.attempt <= \$2::integer\)/gu),
  },
  'question-asked-again': { sql: without(/and hash <> \$3(?= and state = 'pending')/gu) },
  'question-decided-twice': { sql: without(/(?<=hash = \$4) and state = 'pending'/gu) },
  'piece-of-a-stale-owner': {
    sql: without(
      /and write_session\.epoch = batch\.epoch|and \(write_session\.turn_id is null or exists \([^()]*\)\)(?=\s+returning write_session\.session_no)/gu,
    ),
  },
  'commit-without-a-row': {
    store: (store) => ({
      ...store,
      sessionContent: store.sessionContent && {
        ...store.sessionContent,
        decide: () => Promise.resolve(true),
      },
    }),
  },
  'unfenced-conversation': {
    store: (store) => ({
      ...store,
      conversations: {
        ...store.conversations,
        save: ({ fence: _, ...save }) => store.conversations.save(save),
      },
    }),
  },
};

function without(condition: RegExp): Rewrite {
  return (sql) => sql.replace(condition, '');
}

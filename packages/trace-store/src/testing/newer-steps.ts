import { MIGRATIONS } from '../migrations/migrations.ts';
import type { Migration } from '../migrations/migrations.ts';

export function stepAfter(
  before: readonly Migration[],
  step: Omit<Migration, 'version' | 'name'>,
): readonly Migration[] {
  const version = before.length + 1;
  return [...before, { ...step, version, name: `step ${version}` }];
}

/** The schema of a newer version that this one can work with: every table has a column more. */
export const ADDS: readonly Migration[] = stepAfter(MIGRATIONS, {
  readableBy: MIGRATIONS.length,
  statements: (dialect) =>
    ['turn', 'turn_event', 'request_key', 'serving', 'conversation', 'conversation_message']
      .concat('tool_output', 'tool_output_text', 'trace_event', 'approval')
      .concat(dialect === 'sqlite' ? [] : ['write_session', 'session_piece', 'file_commit'])
      .map((table) => `alter table ${table} add column later text`),
});

/** As if a recorded turn, and the conversation it belongs to, had been much longer. */
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/** So many events, most of them the call of a tool. */
export function lengthenTrace(workspace: string, events: number): void {
  withStore(workspace, (database) => {
    const columns = columnsOf(database, 'trace_event', ['id', 'uid', 'summary']);
    database.exec(`
      insert into trace_event (summary, ${columns})
      with recursive step (number) as
        (select (select count(*) + 1 from trace_event) union all
         select number + 1 from step where number < ${events})
      select 'step ' || number, ${columns} from step,
        (select ${columns} from trace_event where type = 'tool_call' limit 1);
      update trace_event set id = (select max(id) + 1 from trace_event) where type = 'turn_ended';
    `);
  });
}

/** So many messages, those that there are again and again. */
export function lengthenConversation(workspace: string, messages: number): void {
  withStore(workspace, (database) => {
    const columns = columnsOf(database, 'conversation_message', ['position']);
    database.exec(`
      insert into conversation_message (position, ${columns})
      with recursive step (number) as
        (select (select max(position) + 1 from conversation_message) union all
         select number + 1 from step where number + 1 < ${messages})
      select number, ${columns} from step,
        (select ${columns} from conversation_message order by position limit 1);
    `);
  });
}

function withStore(workspace: string, change: (database: DatabaseSync) => void): void {
  const database = new DatabaseSync(join(workspace, '.orion', 'orion.db'));
  try {
    change(database);
  } finally {
    database.close();
  }
}

function columnsOf(database: DatabaseSync, table: string, but: readonly string[]): string {
  return database
    .prepare('select name from pragma_table_info(?)')
    .all(table)
    .map(({ name }) => String(name))
    .filter((name) => !but.includes(name))
    .join(', ');
}

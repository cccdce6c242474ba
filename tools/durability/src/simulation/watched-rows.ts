import type { DatabaseSync } from 'node:sqlite';

import { WATCHED_SESSIONS } from './watched-sessions.ts';

export type RowWatcher = {
  /** The process for which a statement is executed now. */
  readonly executing: () => string;
  readonly onViolation: (what: string) => void;
};

/**
 * Watches the rows themselves, whatever the statements say that write them.
 *
 * 1. A turn that is over is not acquired, and nothing follows its `done`.
 * 2. An attempt does not acquire after a later one.
 * 3. An event is the next one of its turn, and stored by the process that acquired the turn last, with its epoch.
 * 4. So is the conversation of a turn.
 */
export function watchRows(connection: DatabaseSync, { executing, onViolation }: RowWatcher): void {
  connection.function('executing', { deterministic: false }, executing);
  connection.function('violated', { deterministic: false, varargs: true }, (...words) => {
    onViolation(words.join(' '));
    return null;
  });
  const owner = (turn: string): string =>
    `(select process from simulated_owner where turn_no = ${turn} order by epoch desc limit 1)`;
  const acquired = (when: string): string =>
    `begin
       insert or ignore into simulated_owner values (new.turn_no, new.epoch, executing());
       ${when}
     end;`;
  const latest = `(select turn_no from turn where conversation_id = new.conversation_id order by turn_no desc limit 1)`;
  const conversation = `begin
      select violated('a conversation was stored by another process than that of its turn')
      where ${owner(latest)} <> executing();
    end;`;
  connection.exec(`
    create table simulated_owner (turn_no integer, epoch integer, process text, primary key (turn_no, epoch));
    create trigger simulated_first after insert on turn when new.epoch > 0 ${acquired('')}
    create trigger simulated_acquire after update of epoch on turn when new.epoch <> old.epoch ${acquired(`
      select violated('a turn that is over was acquired') where old.finished_at is not null;
      select violated('an earlier attempt acquired after a later one') where new.attempt < old.attempt;
      select violated('an epoch is not higher than the one before') where new.epoch <= old.epoch;`)}
    create trigger simulated_event before insert on turn_event begin
      select violated('an event with the epoch of an earlier owner')
        where new.epoch <> (select epoch from turn where turn_no = new.turn_no);
      select violated('an event of another process than the owner') where ${owner('new.turn_no')} <> executing();
      select violated('something follows done')
        where exists (select 1 from turn_event where turn_no = new.turn_no and kind = 'done');
      select violated('an event that is not the next one')
        where new.seq <> 1 + (select coalesce(max(seq), 0) from turn_event where turn_no = new.turn_no);
    end;
    create trigger simulated_conversation after insert on conversation ${conversation}
    create trigger simulated_save after update on conversation ${conversation}
    ${WATCHED_SESSIONS}
  `);
}

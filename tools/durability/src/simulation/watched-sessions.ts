/**
 * What is watched of the rows of write sessions, as the rest of `watchRows` is.
 *
 * 1. A piece of a text, and a decision, is stored by the process that owns the session and its turn.
 * 2. What was decided is kept here when the session has gone.
 */
export const WATCHED_SESSIONS = `
  create table simulated_session_owner (session_id text, epoch integer, process text, primary key (session_id, epoch));
  create table simulated_decision (session_id text, path text, after_sha256 text);
  create trigger simulated_begin after insert on write_session begin
    insert or ignore into simulated_session_owner values (new.session_id, new.epoch, executing());
  end;
  create trigger simulated_claim after update of epoch on write_session when new.epoch <> old.epoch begin
    insert or ignore into simulated_session_owner values (new.session_id, new.epoch, executing());
    select violated('an epoch of a session is not higher than the one before') where new.epoch <= old.epoch;
  end;
  create trigger simulated_piece before insert on session_piece begin
    ${ownedBy('write_session.session_no = new.session_no', 'a piece')}
  end;
  create trigger simulated_first_decision after insert on file_commit begin ${decided()} end;
  create trigger simulated_next_decision after update on file_commit begin ${decided()} end;
`;

function decided(): string {
  return `${ownedBy('write_session.session_id = new.session_id', 'a decision')}
    insert into simulated_decision values (new.session_id, new.path, new.after_sha256);`;
}

function ownedBy(session: string, what: string): string {
  const owner = `(select process from simulated_session_owner as owner
    where owner.session_id = write_session.session_id order by epoch desc limit 1)`;
  return `
    select violated('${what} of another process than the owner of its session')
      from write_session where ${session} and ${owner} <> executing();
    select violated('${what} of a session whose turn has another owner')
      from write_session join turn on turn.turn_id = write_session.turn_id
      where ${session} and turn.epoch is not write_session.turn_epoch;`;
}

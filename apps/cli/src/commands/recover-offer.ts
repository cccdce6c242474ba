import type { Orion, RecoverChoice } from '@orion/agent';
import type { SessionListing } from '@orion/contracts';

import type { CommandContext } from '../process/context.ts';
import { askForLine } from '../terminal/ask.ts';
import { formatAge, plural } from '../terminal/format.ts';
import { withPlace } from '../rendering/write-lines.ts';
import { interrupted } from './prompt.ts';

export type RecoverOffer = {
  readonly context: CommandContext;
  readonly orion: Orion;
  readonly choice: RecoverChoice;
  readonly signal: AbortSignal;
  /** See `placeOf`. */
  readonly place: string;
  /** A session to offer before the newest: the one that the continued conversation left open. */
  readonly first?: string | null;
};

/**
 * Looks at the write sessions that were interrupted, before anything else is done. Answers the id of the one that
 * the person, or `--recover yes`, wants to continue.
 */
export async function offerRecovery(offer: RecoverOffer): Promise<string | null> {
  const { context, orion, choice } = offer;
  const sessions = (await orion.listSessions('recoverable')).toSorted(
    (one, other) =>
      Number(other.session_id === offer.first) - Number(one.session_id === offer.first) ||
      one.age_ms - other.age_ms,
  );
  const [newest, ...others] = sessions;
  if (newest === undefined) {
    if (choice === 'yes') context.screen.line('There is no interrupted write session to recover.');
    return null;
  }
  switch (choice) {
    case 'no':
      listOnly(offer, sessions);
      return null;
    case 'yes':
      context.screen.line(`Recovering ${describe(newest)}.`);
      listOnly(offer, others);
      return newest.session_id;
    case 'ask':
      return askForEach(offer, sessions);
    default:
      return choice satisfies never;
  }
}

async function askForEach(
  offer: RecoverOffer,
  sessions: readonly SessionListing[],
): Promise<string | null> {
  const { context, orion, place } = offer;
  for (const [index, session] of sessions.entries()) {
    context.screen.line(`Interrupted: ${describe(session)}.`);
    const answer = await ask(offer);
    if (answer === 'yes') {
      listOnly(offer, sessions.slice(index + 1));
      return session.session_id;
    }
    if (answer === 'no') {
      const { attic } = await orion.discardSession(session.session_id);
      context.screen.line(
        `Put aside in ${attic}; \`${withPlace(`orion recover-session ${session.session_id}`, place)}\` still finds it for 30 days.`,
        'faint',
      );
    }
  }
  return null;
}

async function ask({ context, signal }: RecoverOffer): Promise<'yes' | 'no' | 'later'> {
  for (;;) {
    const question = 'Recover previous write session? (Y/n) ';
    const typed = await askForLine(context, question, signal).catch(() => {
      throw interrupted();
    });
    if (typed === null) return 'later';
    const answer = typed.trim().toLowerCase();
    if (['', 'y', 'yes'].includes(answer)) return 'yes';
    if (['n', 'no'].includes(answer)) return 'no';
    if (['l', 'later'].includes(answer)) return 'later';
    context.screen.line(
      'Enter or y continues it, n puts it aside (it stays recoverable), l asks again next time.',
    );
  }
}

function listOnly(offer: RecoverOffer, sessions: readonly SessionListing[]): void {
  for (const session of sessions) {
    const [command = `orion recover-session ${session.session_id}`] =
      offer.orion.describeSession(session).commands;
    offer.context.screen.line(
      `Interrupted: ${describe(session)}. Continue with: ${withPlace(command, offer.place)}`,
      'warning',
    );
  }
}

function describe(session: SessionListing): string {
  return (
    `${session.target_file ?? session.session_id} (${session.operation ?? 'unknown operation'}), ` +
    `${plural(session.lines, 'line')}, ${formatAge(session.age_ms)} ago`
  );
}

import type { PausedSession } from '@orion/contracts';

import { withPlace } from './write-lines.ts';

/** How a person types the next step: as a command of the shell, or in a conversation. */
export type Wording = {
  /** What a command of the shell needs to find the workspace from here; empty when it is the current folder. */
  readonly place: string;
  /** What takes the latest change back. */
  readonly undo: string;
  /** Lines with what goes on with a paused session. */
  readonly next: (session: PausedSession) => readonly string[];
};

export function shellWording(place: string): Wording {
  return {
    place,
    undo: `\`${withPlace('orion undo', place)}\``,
    next: (session) => session.commands.map((command) => `  ${withPlace(command, place)}`),
  };
}

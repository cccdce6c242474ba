import type { WriteSessions } from '@orion/agent';
import { OrionError } from '@orion/contracts';
import type { UploadAnswer } from '@orion/contracts';

import type { Projects } from '../projects.ts';

/**
 * The write sessions of the project that has this one. Rejects with SESSION_NOT_FOUND, or with the error of a project
 * that could not be asked where no other one has it.
 */
export async function sessionsWith(
  { all }: Pick<Projects, 'all'>,
  id: string,
): Promise<WriteSessions> {
  const [first, ...others] = all.map(({ writeSessions }) => writeSessions);
  if (first === undefined) throw new Error('a server has at least one project');
  const failures: unknown[] = [];
  for (const sessions of others) {
    try {
      if ((await findIn(sessions, id)) !== null) return sessions;
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length > 0 && (await findIn(first, id)) === null) throw failures[0];
  return first;
}

/** Null if no project has it. */
export async function findSession(projects: Projects, id: string): Promise<UploadAnswer | null> {
  return findIn(await sessionsWith(projects, id), id);
}

async function findIn(
  sessions: Pick<WriteSessions, 'find'>,
  id: string,
): Promise<UploadAnswer | null> {
  try {
    return await sessions.find(id);
  } catch (error) {
    if (OrionError.isInstance(error) && error.code === 'SESSION_NOT_FOUND') return null;
    throw error;
  }
}

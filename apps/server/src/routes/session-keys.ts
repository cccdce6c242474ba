import { OrionError } from '@orion/contracts';
import type { RequestKey } from '@orion/contracts';

import type { Projects } from '../projects.ts';
import type { RouteOptions } from './route-options.ts';
import { findSession } from './session-owner.ts';

/** What the keys of two routes are for. */
export const BEGIN = 'begin';
export const finalizing = (id: string): string => `finalize ${id}`;

/**
 * The key of a request, and what the first request with it has made or was about to make. The key of a request that
 * failed and made nothing is free for another one.
 */
export async function takeKey(
  { orion, projects }: Pick<RouteOptions, 'orion' | 'projects'>,
  projectId: string = orion.projectId,
  key: RequestKey | null,
  made: string,
): Promise<{ readonly made: string; readonly isRepeat: boolean } | null> {
  if (key === null) return null;
  const { requestKeys } = orion.store;
  let outcome = await requestKeys.claim(projectId, key, made);
  if (outcome.kind === 'mismatch' && !(await hasMade(projects, outcome)))
    outcome = await requestKeys.claim(projectId, key, made, outcome.made);
  switch (outcome.kind) {
    case 'new':
      return { made, isRepeat: false };
    case 'repeated':
      return { made: outcome.made, isRepeat: true };
    case 'mismatch':
      throw new OrionError({
        code: 'IDEMPOTENCY_MISMATCH',
        message: 'This Idempotency-Key was used for another request.',
      });
    default:
      return outcome satisfies never;
  }
}

/** Whether the request that took a key has made what it was for, or still may. A turn is stored with its key. */
async function hasMade(
  projects: Projects,
  { route, made }: { readonly route: string; readonly made: string },
): Promise<boolean> {
  if (route !== BEGIN && route !== finalizing(made)) return true;
  const session = await findSession(projects, made);
  if (session === null) return false;
  return route === BEGIN || ['done', 'finalizing', 'in_use'].includes(session.status);
}

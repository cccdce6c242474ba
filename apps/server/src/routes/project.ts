import type { Orion } from '@orion/agent';

import type { RouteOptions } from './route-options.ts';

/**
 * The project to read of: the one that was asked for, or the server's own where others share its store. Throws
 * PROJECT_NOT_FOUND.
 */
export function projectOf(
  { orion, projects }: Pick<RouteOptions, 'orion' | 'projects'>,
  asked: string | undefined,
): { readonly projectId?: string } {
  if (asked !== undefined) projects.of(asked);
  const projectId = asked ?? (orion.sharesStore ? orion.projectId : undefined);
  return projectId === undefined ? {} : { projectId };
}

/** The workspace to work in: that of the project that was asked for, or the store's owner. Throws PROJECT_NOT_FOUND. */
export function workspaceOf(
  { orion, projects }: Pick<RouteOptions, 'orion' | 'projects'>,
  asked: string | undefined,
): Orion {
  return asked === undefined ? orion : projects.of(asked);
}

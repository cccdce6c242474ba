import type { Orion } from '@orion/agent';
import { OrionError } from '@orion/contracts';

/** Where a request works that names a project. */
export type Projects = {
  /** Those that there are, the owner of the store first. Null: every name is a label of the one workspace. */
  readonly names: readonly string[] | null;
  /** Throws PROJECT_NOT_FOUND. */
  readonly of: (projectId: string) => Orion;
  readonly all: readonly Orion[];
};

export function projectsOf(orion: Orion, projects?: Readonly<Record<string, Orion>>): Projects {
  if (projects === undefined) return { names: null, of: () => orion, all: [orion] };
  const named = new Map(Object.entries(projects));
  return {
    names: [...named.keys()],
    all: [...new Set([orion, ...named.values()])],
    of(projectId) {
      const found = named.get(projectId);
      if (found !== undefined) return found;
      throw new OrionError({
        code: 'PROJECT_NOT_FOUND',
        message: `There is no project ${JSON.stringify(projectId)}.`,
      });
    },
  };
}

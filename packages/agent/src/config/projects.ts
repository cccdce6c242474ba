import { realpath, stat } from 'node:fs/promises';
import { join, sep } from 'node:path';

import { checkEach } from './configuration-error.ts';
import { readConfigurationFile } from './configuration-file.ts';
import { configurationFolder, USER_FILE, withoutEmpty } from './configuration-folder.ts';
import type { ConfigurationRequest } from './configuration-sources.ts';
import { HOME, invalidProject } from './project-entries.ts';

/** A folder that a server offers by a name. */
export type ProjectFolder = { readonly name: string; readonly folder: string };

/**
 * The `projects` of the user's own configuration, in its order; a workspace's file says nothing about them. Rejects
 * with one CONFIG_INVALID about all that cannot be served: a folder that is not there, and two of which one holds the
 * other, since each has locks of its own.
 */
export async function loadProjects({
  homeDirectory,
  ...request
}: Pick<ConfigurationRequest, 'environment' | 'homeDirectory'>): Promise<readonly ProjectFolder[]> {
  const folder = configurationFolder(withoutEmpty(request.environment), homeDirectory);
  if (folder === null) return [];
  const file = join(folder, USER_FILE);
  const { projects = {} } = (await readConfigurationFile(file)) ?? {};
  const found: { readonly name: string; readonly folder: string | null; readonly said: string }[] =
    [];
  for (const [name, said] of Object.entries(projects)) {
    const path = homeDirectory === null ? said : said.replace(HOME, homeDirectory);
    found.push({ name, said, folder: await folderAt(path) });
  }
  checkEach(found, (project) => {
    const place = `projects.${project.name}`;
    if (project.folder === null)
      throw invalidProject(file, place, `names no folder: ${project.said}`);
    for (const other of found) {
      if (other === project) break;
      if (overlaps(project.folder, other.folder))
        throw invalidProject(
          file,
          place,
          `and projects.${other.name} are the same folder, or one is inside the other`,
        );
    }
  });
  return found.map(({ name, folder: path }) => ({ name, folder: path ?? '' }));
}

async function folderAt(path: string): Promise<string | null> {
  try {
    return (await stat(path)).isDirectory() ? await realpath(path) : null;
  } catch {
    return null;
  }
}

function overlaps(one: string, other: string | null): boolean {
  const below = (path: string): string => (path.endsWith(sep) ? path : `${path}${sep}`);
  if (other === null) return false;
  return below(one).startsWith(below(other)) || below(other).startsWith(below(one));
}

import { isAbsolute } from 'node:path';

import { isFields } from '@orion/contracts';
import type { OrionError } from '@orion/contracts';

import { checkEach, configurationError } from './configuration-error.ts';

/** Not a number, which an object would sort before all other names: the first project owns the store. */
const NAME = /^[A-Za-z][\w.-]{0,63}$/u;
/** The home folder, at the start of a path. */
export const HOME: RegExp = /^~(?=\/|$)/u;

/** `projects` of a file, as it is written there. Throws CONFIG_INVALID naming file and entry. */
export function readProjectEntries(value: unknown, file: string): Readonly<Record<string, string>> {
  if (!isFields(value))
    throw invalidProject(file, 'projects', 'must be an object of folders by name');
  checkEach(Object.entries(value), ([name, folder]) => {
    const place = `projects.${name}`;
    if (!NAME.test(name))
      throw invalidProject(
        file,
        place,
        'is not a name: a letter, then up to 63 letters, digits, dots, - or _',
      );
    if (typeof folder !== 'string' || !isAbsolute(folder.replace(HOME, '/')))
      throw invalidProject(file, place, 'must be an absolute path, or one that begins with ~/');
  });
  return value as Readonly<Record<string, string>>;
}

/** About an entry of `projects`. */
export function invalidProject(file: string, place: string, problem: string): OrionError {
  return configurationError(
    `${file}: ${place} ${problem}.`,
    `Correct or remove ${place} in ${file} and start again.`,
  );
}

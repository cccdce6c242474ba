import { isAbsolute, join } from 'node:path';

/** The configuration file of a workspace. */
export const WORKSPACE_FILE = 'orion.config.json';
/** The user's own one, in the folder of their configuration. */
export const USER_FILE = 'config.json';

/** An empty variable counts as unset. */
export function withoutEmpty(
  environment: Readonly<Record<string, string | undefined>>,
): Readonly<Record<string, string>> {
  const isGiven = (entry: [string, string | undefined]): entry is [string, string] =>
    entry[1] !== undefined && entry[1].trim() !== '';
  return Object.fromEntries(Object.entries(environment).filter(isGiven));
}

/** The folder of this user's own configuration; null without a home folder. */
export function configurationFolder(
  environment: Readonly<Record<string, string>>,
  homeDirectory: string | null,
): string | null {
  const base = environment['XDG_CONFIG_HOME'];
  // The XDG rules: a relative path there is invalid and to be ignored.
  if (base !== undefined && isAbsolute(base)) return join(base, 'orion');
  return homeDirectory === null ? null : join(homeDirectory, '.config', 'orion');
}

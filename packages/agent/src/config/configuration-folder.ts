import { isAbsolute, join } from 'node:path';

/** The configuration file of a workspace. */
export const WORKSPACE_FILE = 'orion.config.json';

/** An empty variable is none. */
export function withoutEmpty(
  environment: Readonly<Record<string, string | undefined>>,
): Readonly<Record<string, string>> {
  const given: Record<string, string> = {};
  for (const [name, value] of Object.entries(environment)) {
    if (value !== undefined && value.trim() !== '') given[name] = value;
  }
  return given;
}

/** Where this user's own configuration lies; null when there is no home. */
export function configurationFolder(
  environment: Readonly<Record<string, string>>,
  homeDirectory: string | null,
): string | null {
  const base = environment['XDG_CONFIG_HOME'];
  // The XDG rules: a relative path there is invalid and to be ignored.
  if (base !== undefined && isAbsolute(base)) return join(base, 'orion');
  return homeDirectory === null ? null : join(homeDirectory, '.config', 'orion');
}

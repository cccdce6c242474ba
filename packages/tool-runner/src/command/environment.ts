const PASSED = new Set(['PATH', 'HOME', 'USER', 'LOGNAME', 'LANG', 'TZ', 'TMPDIR']);

/**
 * The environment of a command (R283): what programs need to find their files and to speak the user's language, and
 * the names that the user's own configuration lists. Keys are in none of these unless the user says so.
 */
export function commandEnvironment(
  environment: Readonly<Record<string, string | undefined>>,
  listed: readonly string[],
): Readonly<Record<string, string>> {
  const passes = (name: string): boolean =>
    PASSED.has(name) || name.startsWith('LC_') || listed.includes(name);
  const passed = Object.entries(environment).filter(
    (entry): entry is [string, string] => passes(entry[0]) && entry[1] !== undefined,
  );
  return { ...Object.fromEntries(passed), TERM: 'dumb', NO_COLOR: '1' };
}

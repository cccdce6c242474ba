/** Commands that run turns, and so end their `--json` with a result line, whatever happens. */
const TURN_COMMANDS = new Set(['run', 'recover-session']);

/**
 * Whether stdout belongs to JSON lines. Asked before the command line is parsed: a mistake in it is reported in the
 * form that was asked for.
 */
export function wantsResultLine(
  argv: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
): boolean {
  if (!TURN_COMMANDS.has(argv[0] ?? '')) return false;
  const end = argv.indexOf('--');
  const options = end === -1 ? argv : argv.slice(0, end);
  if (options.includes('--help') || options.includes('-h')) return false;
  return options.includes('--json') || environment['ORION_JSON']?.trim().toLowerCase() === 'true';
}

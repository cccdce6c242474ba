import { ERROR_CODES } from '@orion/contracts';
import type { ErrorCode, ErrorInfo, RunEvent } from '@orion/contracts';

/** Next steps that name options and commands, in place of the library's general ones. */
const COMMAND_HINTS: Readonly<Partial<Record<ErrorCode, string>>> = {
  USAGE: 'See `orion --help`.',
  MODEL_MISSING: 'Name a model with --model or ORION_MODEL.',
  API_KEY_MISSING: 'Set OPENAI_API_KEY, or name your own server with --base-url.',
  SCRIPT_INVALID: 'Correct the script file that --script names.',
  PROTOCOL_UNSUPPORTED: 'Choose another protocol with --protocol.',
  PROVIDER_UNREACHABLE: 'Check the network and the base URL, then run the command again.',
  PROVIDER_RATE_LIMIT: 'Wait a little, then run the command again.',
  PROVIDER_ERROR: 'The provider failed; run the command again.',
  STREAM_TRUNCATED: 'The provider closed the stream before its end mark; run the command again.',
  STREAM_BROKEN: 'The connection to the provider broke; run the command again.',
  STREAM_STALLED: 'The provider stopped sending; run the command again.',
  SESSION_NOT_FOUND: 'See `orion list-sessions`.',
  PROTECTED_PATH: 'Allow it with --allow-path <glob>.',
  HARD_LINK: 'Allow it with --allow-hard-link.',
  OUT_FILE_EXISTS: 'Choose another file for --out.',
  CHANGE_NOT_FOUND: 'See `orion undo --list`.',
  BACKUP_FOREIGN: 'Look at what it would restore; --force does it.',
  CONTROLLER_INVALID_OUTPUT:
    'Try again, choose another model, or use --protocol standard with a model that calls tools.',
  CONVERSATION_NOT_FOUND: 'See `orion conversations list`.',
  TRACE_NOT_FOUND: 'See `orion trace list`.',
};

/** The same for steps that an error brings with it, in place of the general one of its code. */
const OWN_STEPS: readonly (readonly [library: RegExp, command: string])[] = [
  [
    /^Forced, the undo restores the previous bytes anyway/u,
    '--force restores the previous bytes anyway',
  ],
  [
    /^Remove it\. Cleaning all sessions also removes it/u,
    'Remove it. `orion clean-sessions --all --yes` also removes it',
  ],
  [
    /^Copy the text of session (\S+) out\./u,
    'Copy the text out with `orion recover-session $1 --out saved.txt`.',
  ],
  [/^Open the workspace it belongs to\./u, 'Name its folder with -C, as the printed command does.'],
  [/^Pass it as `script`\./u, 'Name its file with --script.'],
];

/**
 * The error as this command words it. Any other next step that the error brought with it stays as it is. `others` come
 * first.
 */
export function inCommandWords(
  error: ErrorInfo,
  others: Readonly<Partial<Record<ErrorCode, string>>> = {},
): ErrorInfo {
  const { code, hint } = error;
  if (hint === undefined) return error;
  const general = ERROR_CODES[code];
  let words = hint.replace(general, others[code] ?? COMMAND_HINTS[code] ?? general);
  for (const [library, command] of OWN_STEPS) words = words.replace(library, command);
  return { ...error, hint: words };
}

/** The same for an event that carries an error. */
export function eventInCommandWords(event: RunEvent): RunEvent {
  if (event.type !== 'error' && event.type !== 'tool_result') return event;
  return event.error === undefined ? event : { ...event, error: inCommandWords(event.error) };
}

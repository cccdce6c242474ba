import type { Redact } from '@orion/contracts';

/** How much of a server's own words is shown. */
const MAX_WORDS = 1_000;

/** What a request fails with whose stream has ended. */
export const ENDED_EARLY = 'it ended the connection without an answer';

/** The SDK's code where no revision could be agreed on. */
const NEGOTIATION_FAILED = 'ERA_NEGOTIATION_FAILED';

const STATUS: Readonly<Record<number, string>> = {
  401: ', which asks for other credentials: check its headers in the configuration',
  403: ', which refuses the configured credentials',
  404: ': there is no MCP server at its URL, or it has forgotten the session',
  405: ': it does not speak streamable HTTP',
};

const CODES: Readonly<Record<string, string>> = {
  CLIENT_HTTP_UNEXPECTED_CONTENT: 'it answered with neither JSON nor an event stream',
  CONNECTION_CLOSED: 'the connection was closed',
  INVALID_RESULT: 'it answered with what is not a result of the request',
};

type Failure = {
  readonly name?: unknown;
  readonly code?: unknown;
  readonly status?: unknown;
  readonly message?: unknown;
  readonly cause?: unknown;
};

/** Whether a server failed at the question for the new revision of the protocol, as some of the old kind do. */
export function hasRefusedRevision(error: unknown): boolean {
  const { code, status } = error as Failure;
  return code === NEGOTIATION_FAILED && typeof status === 'number';
}

/** Whether a server has not taken a request on: it says so itself, or was not reached. */
export function isRefusal(error: unknown): boolean {
  const { code, status, message, cause } = error as Failure;
  if (typeof status === 'number') return status >= 400 && status < 500;
  if (typeof code === 'number') return message !== ENDED_EARLY;
  return error instanceof TypeError && (cause as Failure | undefined)?.code === 'ECONNREFUSED';
}

/** What has gone wrong with a server, as the end of a sentence about it. Its own words are a bounded part of it. */
export function troubleOf(error: unknown, redact: Redact): string {
  const { name, code, status, cause } = error as Failure;
  if (typeof status === 'number')
    return `it answered with HTTP status ${status}${STATUS[status] ?? ''}`;
  const known = typeof code === 'string' ? CODES[code] : undefined;
  if (known !== undefined) return known;
  if (code === NEGOTIATION_FAILED && cause instanceof Error) return troubleOf(cause, redact);
  if (error instanceof SyntaxError || String(name).endsWith('ZodError')) {
    return 'it answered with what is not a JSON-RPC message';
  }
  if (error instanceof TypeError && cause instanceof Error) {
    const reason = (cause as NodeJS.ErrnoException).code ?? cause.message;
    return `it cannot be reached (${words(reason, redact)})`;
  }
  const said = words(error instanceof Error ? error.message : String(error), redact);
  return typeof code === 'number' && said !== ENDED_EARLY
    ? `it answered with an error: ${said}`
    : said;
}

/** Redacted before it is cut. */
export function words(text: string, redact: Redact, most: number = MAX_WORDS): string {
  return redact(text).slice(0, most).toWellFormed().trim();
}

/** The end of a longer text. */
export function lastWords(text: string, redact: Redact, most: number): string {
  return redact(text).slice(-most).toWellFormed().trim();
}

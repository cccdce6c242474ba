import { ERROR_CODES, KeysInUse, REDACTED } from '@orion/contracts';
import type { ErrorCode, ErrorInfo, Redact } from '@orion/contracts';

import type { HttpFailure } from './stream/post-json.ts';

/** The part of a failure that a provider describes, whatever shape it came in. */
export type ProviderFailure = {
  readonly status?: number | undefined;
  readonly code?: string | undefined;
  readonly type?: string | undefined;
  /** The parameter that the provider objects to, where it names one. */
  readonly parameter?: string | undefined;
  readonly message: string;
  /** As the `retry-after` header says it. */
  readonly retryAfter?: string | undefined;
};

/** Log lines stay under 500 characters; a provider's own words get what Orion's leave of that. */
const MESSAGE_LIMIT = 400;

/**
 * Redacts a key in every form in which a server or a library may echo it, and anything else that looks like one.
 *
 * Redaction comes before shortening, since half a key would no longer be recognised.
 */
export function createRedactor(secrets: readonly (string | undefined)[]): Redact {
  const keys = new KeysInUse(secrets);
  return (text) =>
    keys
      .redact(text)
      .replace(/\b(Bearer|Basic)\s+[^\s"',;]+/gi, `$1 ${REDACTED}`)
      .replace(/\b(sk|pk|rk|gsk|xai|or)-[A-Za-z0-9_-]{8,}/g, REDACTED);
}

export function providerError(
  code: ErrorCode,
  message: string,
  retryable: boolean,
  hint: string = ERROR_CODES[code],
): ErrorInfo {
  return { code, message, retryable, hint };
}

/** One line of a provider's own words: redacted, then without control characters and of bounded length. */
export function quoteProvider(
  message: string,
  redact: Redact,
  limit: number = MESSAGE_LIMIT,
): string {
  const oneLine = redact(message)
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .trim();
  return oneLine.length > limit ? `${oneLine.slice(0, limit)}…` : oneLine;
}

const CONTEXT_LIMIT =
  /context[ _-]?(length|window|size)|maximum context|prompt is too long|input is too long|too many (input )?tokens|reduce the length/i;
const OUT_OF_CREDIT =
  /insufficient[_ ](quota|balance|credit)|billing|exceeded your current quota|payment required/i;

/**
 * What a failure that a provider itself reports means, from the status where there is one and from its words
 * otherwise. Inside a stream the status was 200, and many servers put the real one into `code`.
 */
export function classifyFailure(failure: ProviderFailure, redact: Redact): ErrorInfo {
  const numericCode = Number(failure.code);
  const status =
    failure.status ??
    (Number.isInteger(numericCode) && numericCode >= 400 && numericCode < 600
      ? numericCode
      : undefined);
  const words = `${failure.code ?? ''} ${failure.type ?? ''}`.toLowerCase();
  const quoted = quoteProvider(failure.message, redact);
  const wait =
    failure.retryAfter === undefined
      ? ''
      : ` (retry after ${quoteProvider(failure.retryAfter, redact)})`;
  const said = quoted === '' ? '' : `: ${quoted}`;
  const withStatus = failure.status === undefined ? '' : ` (HTTP ${failure.status})`;

  if (
    words.includes('context_length') ||
    (isRefusal(status) && CONTEXT_LIMIT.test(failure.message))
  ) {
    return providerError(
      'PROVIDER_CONTEXT_LIMIT',
      `The conversation does not fit the model's context${said}`,
      false,
    );
  }
  if (
    status === 402 ||
    (status === 429 || status === undefined
      ? OUT_OF_CREDIT.test(`${words} ${failure.message}`)
      : false)
  ) {
    const hint = 'Check the plan and the credit of the account.';
    return providerError('PROVIDER_RATE_LIMIT', `The account is out of credit${said}`, false, hint);
  }
  if (status === 401 || status === 403 || /authentication|invalid_api_key|permission/.test(words)) {
    return providerError(
      'PROVIDER_AUTH',
      `The provider did not accept the credentials${withStatus}${said}`,
      false,
    );
  }
  if (status === 429 || words.includes('rate_limit')) {
    return providerError(
      'PROVIDER_RATE_LIMIT',
      `The provider limits the rate of requests${wait}${said}`,
      true,
    );
  }
  if (status === 503 || status === 529 || words.includes('overloaded')) {
    return providerError(
      'PROVIDER_OVERLOADED',
      `The provider is overloaded${withStatus}${wait}${said}`,
      true,
    );
  }
  if (status === 408 || status === 409 || status === 425) {
    return providerError(
      'PROVIDER_ERROR',
      `The provider could not answer in time${withStatus}${said}`,
      true,
    );
  }
  if (status === 404 || status === 405) {
    const hint = 'Check the model name and the base URL.';
    return providerError(
      'PROVIDER_REQUEST',
      `The provider does not know what was asked${withStatus}${said}`,
      false,
      hint,
    );
  }
  if (
    (status !== undefined && status < 500) ||
    (status === undefined && words.includes('invalid_request'))
  ) {
    return providerError(
      'PROVIDER_REQUEST',
      `The provider refused the request${withStatus}${said}`,
      false,
    );
  }
  return providerError('PROVIDER_ERROR', `The provider failed${withStatus}${said}`, true);
}

function isRefusal(status: number | undefined): boolean {
  return (
    status === undefined ||
    (status >= 400 && status < 500 && status !== 401 && status !== 403 && status !== 429)
  );
}

/** Reads an error object as servers write it: an object, a text, or an object around either. */
export function readFailure(value: unknown, status?: number): ProviderFailure {
  if (typeof value === 'string') return { status, message: value };
  if (typeof value !== 'object' || value === null) return { status, message: '' };
  const fields = value as Record<string, unknown>;
  if (typeof fields['error'] === 'object' && fields['error'] !== null)
    return readFailure(fields['error'], status);
  const ownStatus = typeof fields['status_code'] === 'number' ? fields['status_code'] : undefined;
  const message = fields['message'] ?? fields['detail'] ?? fields['error'] ?? fields;
  return {
    status: status ?? ownStatus,
    code: asText(fields['code']),
    type: asText(fields['type']),
    parameter: asText(fields['param']),
    message: typeof message === 'string' ? message : JSON.stringify(message),
  };
}

/** What an answer with an error status says, as JSON or as it stands. */
export function readHttpFailure({ status, headers, text }: HttpFailure): ProviderFailure {
  return { ...readFailure(parsed(text), status), retryAfter: headers('retry-after') };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function asText(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  return typeof value === 'number' ? String(value) : undefined;
}

/** Codes of a connection that was never made. */
const NOT_CONNECTED = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENETDOWN',
  'ETIMEDOUT',
  'EACCES',
  'EPERM',
  'EADDRNOTAVAIL',
  'UND_ERR_CONNECT_TIMEOUT',
]);

/**
 * What a failed connection means. Only the server's address is named: a key never stands in it, since base URLs
 * with credentials are refused.
 */
export function classifyConnectionFailure(
  error: unknown,
  address: string,
  redact: Redact,
): ErrorInfo {
  const codes = causeCodes(error);
  const timedOut = codes.find((code) => code === 'UND_ERR_HEADERS_TIMEOUT') ?? timeoutName(error);
  const refused = codes.find((code) => NOT_CONNECTED.has(code));
  if (refused !== undefined) {
    return providerError('PROVIDER_UNREACHABLE', `No connection to ${address} (${refused})`, true);
  }
  if (codes.includes('UND_ERR_BODY_TIMEOUT')) {
    return providerError('STREAM_STALLED', `${address} stopped sending`, true);
  }
  if (
    codes.some((code) => code === 'ECONNRESET' || code === 'EPIPE' || code === 'UND_ERR_SOCKET')
  ) {
    return providerError('STREAM_BROKEN', `${address} closed the connection`, true);
  }
  if (timedOut !== undefined) {
    return providerError('PROVIDER_UNREACHABLE', `${address} did not answer in time`, true);
  }
  const certificate = codes.find((code) => /CERT|TLS|SSL|SELF_SIGNED|UNABLE_TO/.test(code));
  if (certificate !== undefined) {
    const message = `No secure connection to ${address} (${certificate})`;
    return providerError(
      'PROVIDER_UNREACHABLE',
      message,
      false,
      "Check the base URL and the server's certificate.",
    );
  }
  const detail = quoteProvider(innermostMessage(error), redact);
  return providerError(
    'PROVIDER_UNREACHABLE',
    `No answer from ${address}${detail === '' ? '' : `: ${detail}`}`,
    true,
  );
}

const MAX_CAUSES = 8;

function* causes(error: unknown): Generator<Record<string, unknown>> {
  let current = error;
  for (
    let depth = 0;
    depth < MAX_CAUSES && typeof current === 'object' && current !== null;
    depth += 1
  ) {
    const fields = current as Record<string, unknown>;
    yield fields;
    // Happy Eyeballs reports one error per address; they have the same reason.
    current = Array.isArray(fields['errors']) ? fields['errors'][0] : fields['cause'];
  }
}

function causeCodes(error: unknown): string[] {
  return [...causes(error)].flatMap((cause) =>
    typeof cause['code'] === 'string' ? [cause['code']] : [],
  );
}

function timeoutName(error: unknown): string | undefined {
  return [...causes(error)].some((cause) => /timed out|timeout/i.test(String(cause['message'])))
    ? 'timeout'
    : undefined;
}

function innermostMessage(error: unknown): string {
  return [...causes(error)].reduce(
    (text, cause) => (typeof cause['message'] === 'string' ? cause['message'] : text),
    '',
  );
}

import { ERROR_CODES, KeysInUse, REDACTED, isFields } from '@orion/contracts';
import type { ErrorCode, ErrorInfo, Fields, Redact } from '@orion/contracts';

import type { HttpFailure } from './stream/post-json.ts';

/** What a provider says about a failure, in whatever form. */
export type ProviderFailure = {
  readonly status?: number | undefined;
  readonly code?: string | undefined;
  readonly type?: string | undefined;
  /** The parameter that the provider refused, if it names one. */
  readonly parameter?: string | undefined;
  readonly message: string;
  /** What is listed besides the message, as JSON. Google names the quotas that are used up there. */
  readonly details?: string | undefined;
  /** The value of the `retry-after` header. */
  readonly retryAfter?: string | undefined;
};

/** Log lines stay under 500 characters; this is the provider's share. */
const MESSAGE_LIMIT = 400;

/**
 * Redacts a key in every form in which a server or a library may echo it, and anything else that looks like a key.
 *
 * Redact before you shorten: half a key would no longer be recognised.
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

/** One line of a provider's message: redacted, without control characters, and of bounded length. */
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
  /context[ _-]?(length|window|size|limit)|maximum (context|prompt length|model length)|(prompt|input) (is )?too long|too many (input )?tokens|input token count|model token limit|reduce the length/i;
const OUT_OF_CREDIT =
  /insufficient[_ ](quota|balance|credit)|billing|exceeded your current quota|payment required/i;

/** The id of a quota, as Google writes it: `GenerateRequestsPerDayPerProjectPerModel-FreeTier`. */
const USED_UP_FOR_TODAY = /PerDay/;
/** `Please retry in 26.5s`, `try again in 1m2s`, `"retryDelay":"26s"` */
const ASKED_WAIT =
  /(?:\bretry (?:in|after) |\btry again in |"retryDelay": ?")((?:\d+(?:\.\d+)? ?(?:ms|h|m|s))+)/i;
const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

/** The wait that a provider asks for in the body of its answer, in milliseconds. */
export function askedWait({ message, details = '' }: ProviderFailure): number | undefined {
  const asked = ASKED_WAIT.exec(`${message} ${details}`)?.[1];
  if (asked === undefined) return undefined;
  const parts = [...asked.toLowerCase().matchAll(/([\d.]+) ?(ms|h|m|s)/g)];
  return parts.reduce((sum, [, count, unit = '']) => sum + Number(count) * (UNIT_MS[unit] ?? 0), 0);
}

/**
 * Classifies a failure that the provider reports: by its status if there is one, otherwise by its words. Within a
 * stream the status was 200, and many servers put the real one into `code`.
 */
export function classifyFailure(failure: ProviderFailure, redact: Redact): ErrorInfo {
  const { code = '', type = '', message, details = '', retryAfter } = failure;
  const status = failure.status ?? (/^[45]\d\d$/.test(code) ? Number(code) : undefined);
  const words = `${code} ${type}`.toLowerCase();
  const quoted = quoteProvider(message, redact);
  const wait =
    retryAfter === undefined ? '' : ` (retry after ${quoteProvider(retryAfter, redact)})`;
  const http = failure.status === undefined ? '' : ` (HTTP ${failure.status})`;
  const failed = (as: ErrorCode, what: string, retryable: boolean, hint?: string): ErrorInfo =>
    providerError(as, quoted === '' ? what : `${what}: ${quoted}`, retryable, hint);

  // Also of a 500: llama.cpp answers "Context size has been exceeded" with it, and would with every attempt.
  const isAboutLength = status === undefined || ![401, 403, 429, 503, 529].includes(status);
  if (words.includes('context_length') || (isAboutLength && CONTEXT_LIMIT.test(message)))
    return failed(
      'PROVIDER_CONTEXT_LIMIT',
      "The conversation does not fit the model's context",
      false,
    );
  const mayBeCredit = status === undefined || status === 429;
  if (mayBeCredit && USED_UP_FOR_TODAY.test(`${message} ${details}`)) {
    const hint = 'Try again tomorrow, or check the plan of the account.';
    const what = 'The quota of the account for this day is used up';
    return failed('PROVIDER_RATE_LIMIT', what, false, hint);
  }
  // A limit per minute may be worded like an empty account, but then the provider says when to try again.
  const isRenewed = askedWait(failure) !== undefined && !words.includes('insufficient');
  if (status === 402 || (mayBeCredit && !isRenewed && OUT_OF_CREDIT.test(`${words} ${message}`))) {
    const hint = 'Check the plan and the credit of the account.';
    return failed('PROVIDER_RATE_LIMIT', 'The account is out of credit', false, hint);
  }
  if (status === 401 || status === 403 || /authentication|invalid_api_key|permission/.test(words))
    return failed('PROVIDER_AUTH', `The provider did not accept the credentials${http}`, false);
  if (status === 429 || words.includes('rate_limit'))
    return failed('PROVIDER_RATE_LIMIT', `The provider limits the rate of requests${wait}`, true);
  if (status === 503 || status === 529 || words.includes('overloaded'))
    return failed('PROVIDER_OVERLOADED', `The provider is overloaded${http}${wait}`, true);
  if (status === 408 || status === 409 || status === 425)
    return failed('PROVIDER_ERROR', `The provider could not answer in time${http}`, true);
  if (status === 404 || status === 405) {
    const hint = 'Check the model name and the base URL.';
    const what = `The provider does not know what was asked${http}`;
    return failed('PROVIDER_REQUEST', what, false, hint);
  }
  // Groq could not read a call that the model wrote. Another answer may have a whole one.
  if (words.includes('tool_use_failed'))
    return failed('PROVIDER_ERROR', `The provider could not read a call of the model${http}`, true);
  if (status === undefined ? words.includes('invalid_request') : status < 500)
    return failed('PROVIDER_REQUEST', `The provider refused the request${http}`, false);
  return failed('PROVIDER_ERROR', `The provider failed${http}`, true);
}

/** Whether a server did not accept a request. Some answer with 500 to one that they cannot process. */
export function isRefusal({ code }: ErrorInfo): boolean {
  return code === 'PROVIDER_REQUEST' || code === 'PROVIDER_ERROR';
}

/** Reads an error as servers write it: an object, a text, or an object or a list that contains either. */
export function readFailure(value: unknown, status?: number): ProviderFailure {
  if (typeof value === 'string') return { status, message: value };
  if (typeof value !== 'object' || value === null) return { status, message: '' };
  if (Array.isArray(value)) return readFailure(value[0], status);
  const fields = value as Record<string, unknown>;
  if (typeof fields['error'] === 'object' && fields['error'] !== null)
    return readFailure(fields['error'], status);
  const ownStatus = fields['status_code'];
  const message = fields['message'] ?? fields['detail'] ?? fields['error'] ?? fields;
  const words = typeof message === 'string' ? message : JSON.stringify(message);
  // OpenRouter's own words are only "Provider returned error".
  const cause = isFields(fields['metadata']) ? asText(fields['metadata']['raw']) : undefined;
  return {
    status: status ?? (typeof ownStatus === 'number' ? ownStatus : undefined),
    code: asText(fields['code']),
    type: asText(fields['type']),
    parameter: asText(fields['param']),
    message: cause === undefined ? words : `${words}: ${cause}`,
    details: JSON.stringify(fields['details']),
  };
}

/** Reads the body of an answer with an error status, as JSON or as plain text. */
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
  return typeof value === 'string' || typeof value === 'number' ? String(value) : undefined;
}

/** The connection was never established. */
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

/** The connection was established and then lost. */
const CLOSED = new Set(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET']);

/**
 * Classifies a failure of the connection. Only the server's address is named. It cannot contain a key, because base
 * URLs with credentials are refused.
 */
export function classifyConnectionFailure(
  error: unknown,
  address: string,
  redact: Redact,
): ErrorInfo {
  const chain = [...causes(error)];
  const codes = textsOf(chain, 'code');
  const messages = textsOf(chain, 'message');
  const refused = codes.find((code) => NOT_CONNECTED.has(code));
  if (refused !== undefined)
    return providerError('PROVIDER_UNREACHABLE', `No connection to ${address} (${refused})`, true);
  if (codes.includes('UND_ERR_BODY_TIMEOUT'))
    return providerError('STREAM_STALLED', `${address} stopped sending`, true);
  if (codes.some((code) => CLOSED.has(code)))
    return providerError('STREAM_BROKEN', `${address} closed the connection`, true);
  if (
    codes.includes('UND_ERR_HEADERS_TIMEOUT') ||
    messages.some((message) => /timed out|timeout/i.test(message))
  )
    return providerError('PROVIDER_UNREACHABLE', `${address} did not answer in time`, true);
  const certificate = codes.find((code) => /CERT|TLS|SSL|SELF_SIGNED|UNABLE_TO/.test(code));
  if (certificate !== undefined) {
    const message = `No secure connection to ${address} (${certificate})`;
    const hint = "Check the base URL and the server's certificate.";
    return providerError('PROVIDER_UNREACHABLE', message, false, hint);
  }
  const detail = quoteProvider(messages.at(-1) ?? '', redact);
  const message = `No answer from ${address}${detail === '' ? '' : `: ${detail}`}`;
  return providerError('PROVIDER_UNREACHABLE', message, true);
}

const MAX_CAUSES = 8;

/** From the outermost error to the innermost. */
function* causes(error: unknown): Generator<Fields> {
  let current = error;
  for (let depth = 0; depth < MAX_CAUSES && isFields(current); depth += 1) {
    yield current;
    // Happy Eyeballs reports one error per address, all with the same reason.
    current = Array.isArray(current['errors']) ? current['errors'][0] : current['cause'];
  }
}

function textsOf(chain: readonly Fields[], name: string): string[] {
  return chain.map((fields) => fields[name]).filter((value) => typeof value === 'string');
}

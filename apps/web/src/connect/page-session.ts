import { limitedSignal, systemClock } from '@orion/contracts';

import { ApiError, problemOf } from '../api/api.ts';
import { BASE_PATH } from '../api/base-path.ts';

/**
 * What this tab may use to talk to the server, until the tab closes. Both parts lie in sessionStorage: it ends with
 * the tab, and unlike a cookie it is not sent to whatever else listens on this machine.
 */
export type PageSession = { readonly id: string; readonly key: string };

/** As the header Authorization has it. */
export function tokenOf({ id, key }: PageSession): string {
  return `${id}.${key}`;
}

/** Other paths of this origin may be other servers. */
const STORED = `orion-page-session${BASE_PATH}`;
const CHALLENGE_BYTES = 32;
/** Who has not proved anything by then is taken not to answer. */
const PROOF_MS = 15_000;

export function storedSession(): PageSession | null {
  const text = sessionStorage.getItem(STORED);
  return text === null ? null : (JSON.parse(text) as PageSession);
}

export function storeSession(session: PageSession | null): void {
  if (session === null) sessionStorage.removeItem(STORED);
  else sessionStorage.setItem(STORED, JSON.stringify(session));
}

/** Exchanges the code of a link for a session. A code counts once. */
export function sessionFromCode(code: string): Promise<PageSession> {
  return post('/api/page/sessions', { code });
}

/** Exchanges the server's own token, which a person has pasted. It is not kept. */
export function sessionFromToken(token: string): Promise<PageSession> {
  return post('/api/page/sessions', {}, { headers: { authorization: `Bearer ${token}` } });
}

/**
 * Whether the server on this port is the one that gave the session: only that one can answer the challenge. The key
 * is not sent before. Rejects with an ApiError where nothing answers, or the session is over.
 */
export async function isOurServer({ id, key }: PageSession): Promise<boolean> {
  const challenge = toHex(crypto.getRandomValues(new Uint8Array(CHALLENGE_BYTES)));
  const limit = limitedSignal(new AbortController().signal, systemClock, PROOF_MS);
  const { proof } = await post<{ readonly proof?: unknown }>(
    '/api/page/challenge',
    { id, challenge },
    { signal: limit.signal },
  ).finally(limit.end);
  const usage = { name: 'HMAC', hash: 'SHA-256' };
  const secret = await crypto.subtle.importKey('raw', fromHex(key), usage, false, ['verify']);
  const message = new TextEncoder().encode(`orion page challenge ${challenge}`);
  return crypto.subtle.verify(
    'HMAC',
    secret,
    fromHex(typeof proof === 'string' ? proof : ''),
    message,
  );
}

async function post<Answer>(
  path: string,
  body: object,
  { headers, ...options }: { readonly headers?: HeadersInit; readonly signal?: AbortSignal } = {},
): Promise<Answer> {
  let answer: Response;
  let text: string;
  try {
    answer = await fetch(`${BASE_PATH}${path}`, {
      ...options,
      method: 'POST',
      cache: 'no-store',
      credentials: 'omit',
      redirect: 'error',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
    text = await answer.text();
  } catch (error) {
    throw new ApiError(0, 'SERVER_UNREACHABLE', 'The server does not answer.', String(error));
  }
  if (!answer.ok) throw problemOf(answer.status, text);
  try {
    return (JSON.parse(text) ?? {}) as Answer;
  } catch {
    // Not an answer of the server itself.
    return {} as Answer;
  }
}

export function toHex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

export function fromHex(text: string): Uint8Array<ArrayBuffer> {
  const pairs = text.match(/[0-9a-f]{2}/gu) ?? [];
  return Uint8Array.from(pairs, (pair) => Number.parseInt(pair, 16));
}

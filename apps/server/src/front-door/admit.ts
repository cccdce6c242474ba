/**
 * Decides from the head of a request whether the server deals with it. Pure.
 *
 * F1. Nothing of a request is used before its Host is known to be one of ours: a page of another site that has a name
 *     lead here could otherwise talk to us as if it were our own.
 * F2. A change needs a token, which no page of another site has, and a content type that no form can send.
 * F3. Everything is compared as a whole. A header that decides something may be there only once.
 */
import { createHash, timingSafeEqual } from 'node:crypto';

import { httpError } from '../answers/http-error.ts';
import type { HttpError } from '../answers/http-error.ts';
import type { AllowedNames } from './allowed-names.ts';

export type RequestHead = {
  readonly method: string;
  /** As in the request line. */
  readonly target: string;
  /** Names and values in turn, as they arrived. */
  readonly rawHeaders: readonly string[];
};

export type Admission =
  | {
      readonly kind: 'admitted';
      /** `open`: it needs no token. */
      readonly access: 'open' | 'read' | 'change';
      readonly body: 'none' | 'json' | 'stream';
    }
  | { readonly kind: 'refused'; readonly error: HttpError };

export type FrontDoor = AllowedNames & { readonly token: string };

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE'];
const OPEN_PATHS: ReadonlySet<string> = new Set([
  '/health/live',
  '/health/ready',
  '/openapi.json',
  '/docs',
]);
const DECIDING = [
  'host',
  'origin',
  'authorization',
  'content-type',
  'content-encoding',
  'sec-fetch-site',
];
const JSON_TYPE = /^application\/json(?:\s*;\s*charset="?utf-8"?)?$/u;
const BYTES_TYPE = 'application/octet-stream';

export function admit(head: RequestHead, door: FrontDoor): Admission {
  const error = refusal(head, door);
  if (error !== null) return { kind: 'refused', error };
  const { method } = head;
  if (method === 'GET' || method === 'HEAD') {
    const access = OPEN_PATHS.has(pathOf(head.target)) ? 'open' : 'read';
    return { kind: 'admitted', access, body: 'none' };
  }
  const body = { POST: 'json', PUT: 'stream' } as const;
  return {
    kind: 'admitted',
    access: 'change',
    body: method === 'POST' || method === 'PUT' ? body[method] : 'none',
  };
}

export function pathOf(target: string): string {
  const query = target.indexOf('?');
  return query === -1 ? target : target.slice(0, query);
}

function refusal({ method, target, rawHeaders }: RequestHead, door: FrontDoor): HttpError | null {
  const headers = headersOf(rawHeaders);
  for (const name of DECIDING) {
    if ((headers.get(name)?.length ?? 0) > 1)
      return httpError('REQUEST_INVALID', `The header ${name} is there more than once.`);
  }
  const header = (name: string): string | undefined => headers.get(name)?.[0];
  if (!door.hosts.has(header('host')?.toLowerCase() ?? ''))
    return httpError('HOST_NOT_ALLOWED', 'The header Host names a host that is not allowed.');
  if (!/^\/(?!\/)/u.test(target))
    return httpError('REQUEST_INVALID', 'The request line has to name a path.');
  if (!METHODS.includes(method))
    return httpError('METHOD_NOT_ALLOWED', 'The server does not know this method.', {
      allow: METHODS.join(', '),
    });
  const isChange = method !== 'GET' && method !== 'HEAD';
  const foreign = originProblem(header('origin'), header('sec-fetch-site'), isChange, door);
  if (foreign !== null) return httpError('ORIGIN_NOT_ALLOWED', foreign);
  const isOpen = !isChange && OPEN_PATHS.has(pathOf(target));
  if (!isOpen && !isBearer(header('authorization'), door.token))
    return httpError('UNAUTHORIZED', 'The request has no token, or not the right one.', {
      'www-authenticate': 'Bearer',
    });
  if (!isChange) return null;
  return contentProblem(method, header('content-type'), header('content-encoding'));
}

function originProblem(
  origin: string | undefined,
  site: string | undefined,
  isChange: boolean,
  { origins }: FrontDoor,
): string | null {
  if (origin !== undefined && !origins.has(origin))
    return 'The request comes from a page of another origin.';
  if (isChange && (site === 'cross-site' || site === 'same-site'))
    return 'The request comes from a page of another site.';
  return null;
}

/** Takes the same time whatever is compared. */
function isBearer(authorization: string | undefined, token: string): boolean {
  const given = /^Bearer (\S+)$/iu.exec(authorization ?? '')?.[1] ?? '';
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(given), digest(token));
}

function contentProblem(
  method: string,
  type: string | undefined,
  encoding: string | undefined,
): HttpError | null {
  const unsupported = (message: string): HttpError => httpError('MEDIA_TYPE_UNSUPPORTED', message);
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity')
    return unsupported('A body with a content encoding is not read.');
  const given = type?.trim().toLowerCase();
  if (method === 'POST' && !JSON_TYPE.test(given ?? ''))
    return unsupported('A POST needs the content type application/json.');
  if (method === 'PUT' && given !== BYTES_TYPE)
    return unsupported(`A PUT needs the content type ${BYTES_TYPE}.`);
  return null;
}

function headersOf(rawHeaders: readonly string[]): ReadonlyMap<string, readonly string[]> {
  const headers = new Map<string, string[]>();
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const name = (rawHeaders[index] ?? '').toLowerCase();
    const value = rawHeaders[index + 1] ?? '';
    const values = headers.get(name);
    if (values === undefined) headers.set(name, [value]);
    else values.push(value);
  }
  return headers;
}

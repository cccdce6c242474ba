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
  /** `1.1` */
  readonly version: string;
  /** Names and values in turn, as they arrived. */
  readonly rawHeaders: readonly string[];
  /** The name that a proxy which is believed reports, in place of that of the header Host. */
  readonly forwardedHost?: string | null;
};

/** What a request counts as. `open`: it needs no token; `stranger`: nothing was asked that it may ask. */
export type Access = 'open' | 'read' | 'change' | 'stranger';

export type Admission = { readonly access: Access } & (
  | { readonly kind: 'admitted'; readonly body: 'none' | 'json' | 'stream' }
  | { readonly kind: 'refused'; readonly error: HttpError }
);

export type FrontDoor = AllowedNames & {
  readonly token: string;
  readonly page: {
    /** Whether a GET of this path is a file of the page, which anybody may have. */
    readonly has: (path: string) => boolean;
    /** Whether this takes the place of the token: a session of the page that is not over. */
    readonly accepts: (bearer: string) => boolean;
    /** To be awaited before a request with such a bearer is admitted. Never rejects. */
    readonly refresh: () => Promise<void>;
  };
  /** Why no route takes a request; null if one does. `target` is as in the request line. */
  readonly routeProblem: (method: string, target: string) => HttpError | null;
};

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE'];
const OPEN_PATHS: ReadonlySet<string> = new Set([
  '/health/live',
  '/health/ready',
  '/openapi.json',
  '/docs',
]);
/** Their secret is in the body. With a token, `/api/page/sessions` is like any other route. */
const OPEN_CHANGES: ReadonlySet<string> = new Set(['/api/page/challenge', '/api/page/sessions']);
/** What makes a session of the page, or a link to one. A session makes none: it would renew itself without end. */
const TOKEN_CHANGES: ReadonlySet<string> = new Set(['/api/page/links', '/api/page/sessions']);
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
  const headers = headersOf(head.rawHeaders);
  const foreign = refusal(head, headers, door);
  if (foreign !== null) return { kind: 'refused', access: 'stranger', error: foreign };
  const { method, target } = head;
  const isChange = method !== 'GET' && method !== 'HEAD';
  const access = isOpen(head, door) ? 'open' : isChange ? 'change' : 'read';
  if (!isChange) return { kind: 'admitted', access, body: 'none' };
  // Nothing is said about the body of a request that no route takes.
  const error = door.routeProblem(method, target) ?? contentProblem(method, headers);
  if (error !== null) return { kind: 'refused', access, error };
  const body = { POST: 'json', PUT: 'stream' } as const;
  return {
    kind: 'admitted',
    access,
    body: method === 'POST' || method === 'PUT' ? body[method] : 'none',
  };
}

export function pathOf(target: string): string {
  const query = target.indexOf('?');
  return query === -1 ? target : target.slice(0, query);
}

function refusal(head: RequestHead, headers: Headers, door: FrontDoor): HttpError | null {
  const { method, target, version, forwardedHost } = head;
  for (const name of DECIDING) {
    if ((headers.get(name)?.length ?? 0) > 1)
      return httpError('REQUEST_INVALID', `The header ${name} occurs more than once.`);
  }
  const header = (name: string): string | undefined => headers.get(name)?.[0];
  const host = forwardedHost ?? header('host') ?? '';
  if (!door.hosts.has(host.toLowerCase()))
    return httpError('HOST_NOT_ALLOWED', 'The header Host names a host that is not allowed.');
  // A request line without a version is not one of ours, whatever a parser makes of it.
  if (version !== '1.1' && version !== '1.0')
    return httpError('REQUEST_INVALID', 'The request line has to name HTTP/1.1.');
  // What is behind this door answers a backslash without a word.
  if (!/^\/(?!\/)/u.test(target) || pathOf(target).includes('\\'))
    return httpError('REQUEST_INVALID', 'The request line has to name a path.');
  if (!METHODS.includes(method))
    return httpError('METHOD_NOT_ALLOWED', 'The server does not know this method.', {
      allow: METHODS.join(', '),
    });
  const isChange = method !== 'GET' && method !== 'HEAD';
  const foreign = originProblem(header('origin'), header('sec-fetch-site'), isChange, door);
  if (foreign !== null) return httpError('ORIGIN_NOT_ALLOWED', foreign);
  const authorization = header('authorization');
  const mayPass = isOpen(head, door) && (!isChange || authorization === undefined);
  if (!mayPass && !isBearer(authorization, head, door))
    return httpError('UNAUTHORIZED', 'The request has no token, or not the right one.', {
      'www-authenticate': 'Bearer',
    });
  return null;
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

function isOpen({ method, target }: RequestHead, { page }: FrontDoor): boolean {
  const path = pathOf(target);
  if (method === 'GET' || method === 'HEAD') return OPEN_PATHS.has(path) || page.has(path);
  return method === 'POST' && OPEN_CHANGES.has(path);
}

/** Takes the same time whatever is compared. */
function isBearer(
  authorization: string | undefined,
  { method, target }: RequestHead,
  { token, page }: FrontDoor,
): boolean {
  const given = /^Bearer (\S+)$/iu.exec(authorization ?? '')?.[1] ?? '';
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  if (timingSafeEqual(digest(given), digest(token))) return true;
  return !(method === 'POST' && TOKEN_CHANGES.has(pathOf(target))) && page.accepts(given);
}

function contentProblem(method: string, headers: Headers): HttpError | null {
  const [encoding] = headers.get('content-encoding') ?? [];
  const [type] = headers.get('content-type') ?? [];
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

type Headers = ReadonlyMap<string, readonly string[]>;

function headersOf(rawHeaders: readonly string[]): Headers {
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

import type { Call, CallOptions, Connection } from '../connection.ts';

/** A path with ids in it, whatever is in them. */
export function path(parts: TemplateStringsArray, ...ids: readonly string[]): string {
  return String.raw({ raw: parts }, ...ids.map(encodeURIComponent));
}

export function get<Answer>(
  connection: Connection,
  at: string,
  { query, ...options }: CallOptions & { readonly query?: Call['query'] } = {},
): Promise<Answer> {
  return connection.json<Answer>({
    ...options,
    path: at,
    ...(query === undefined ? {} : { query }),
  });
}

/** `key`: the request may be sent again under this name. */
export function post<Answer>(
  connection: Connection,
  at: string,
  {
    body = {},
    query = {},
    key,
    isRepeatable = key !== undefined,
    ...options
  }: CallOptions & {
    readonly body?: unknown;
    readonly query?: Call['query'];
    readonly key?: string;
    readonly isRepeatable?: boolean;
  } = {},
): Promise<Answer> {
  return connection.json<Answer>({
    ...options,
    method: 'POST',
    path: at,
    query,
    json: body,
    isRepeatable,
    ...(key === undefined ? {} : { headers: { 'idempotency-key': key } }),
  });
}

import type { Call, CallOptions, Connection } from '../connection.ts';

/** A path with ids in it, whatever is in them. */
export function path(parts: TemplateStringsArray, ...ids: readonly string[]): string {
  return String.raw({ raw: parts }, ...ids.map(encodeURIComponent));
}

export function get<Answer>(
  connection: Connection,
  at: string,
  { query, ...options }: CallOptions & Pick<Call, 'query' | 'silentMs'> = {},
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
  }: CallOptions &
    Pick<Call, 'query' | 'isRepeatable' | 'silentMs'> & {
      readonly body?: unknown;
      readonly key?: string;
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

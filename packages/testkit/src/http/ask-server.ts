import { request } from 'node:http';
import type { IncomingHttpHeaders } from 'node:http';

export type HttpAnswer = {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** Of a JSON answer, else null. */
  readonly json: unknown;
};

export type HttpQuestion = {
  /** POST where something is sent, else GET, if nothing else is said. */
  readonly method?: string;
  /** `null`: none. */
  readonly token?: string | null;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly json?: unknown;
  readonly body?: string | Uint8Array;
};

/** Asks the server on a port of loopback; on a connection of its own, and not by `fetch`, which decides some headers by itself. */
export function askServer(
  port: number,
  path: string,
  { method, token = null, headers = {}, json, body }: HttpQuestion = {},
): Promise<HttpAnswer> {
  const sent = json === undefined ? body : JSON.stringify(json);
  return new Promise((resolve, reject) => {
    const asked = request(
      {
        port,
        host: '127.0.0.1',
        path,
        method: method ?? (sent === undefined ? 'GET' : 'POST'),
        agent: false,
        headers: {
          ...(token === null ? {} : { authorization: `Bearer ${token}` }),
          ...(json === undefined ? {} : { 'content-type': 'application/json' }),
          ...(sent === undefined || 'transfer-encoding' in headers
            ? {}
            : { 'content-length': Buffer.byteLength(sent) }),
          ...headers,
        },
      },
      (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (piece: string) => (text += piece));
        response.on('error', reject);
        response.on('end', () => {
          const isJson = response.headers['content-type']?.includes('json') === true;
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            text,
            json: isJson && text !== '' ? (JSON.parse(text) as unknown) : null,
          });
        });
      },
    );
    asked.on('error', reject);
    asked.end(sent);
  });
}

/** The code of an answer that is an error, else an empty text. */
export function codeOf(json: unknown): string {
  return (json as { readonly error?: { readonly code: string } } | null)?.error?.code ?? '';
}

/** Write sessions of the tests, over real sockets. */
import { connect } from 'node:net';

import type { OpenUpload, UploadAnswer } from '@orion/contracts';

import { askServer, TOKEN } from './test-server.ts';
import type { Answer, AskOptions } from './test-server.ts';

export const BYTES = { 'content-type': 'application/octet-stream' };

export type UploadClient = {
  readonly ask: (path: string, options?: AskOptions) => Promise<Answer>;
  readonly begin: (target?: string, more?: object) => Promise<string>;
  readonly put: (id: string, offset: number, body: string | Uint8Array) => Promise<Answer>;
  /** Announces all of the bytes, sends some of them and cuts the connection. */
  readonly cut: (id: string, offset: number, bytes: Uint8Array, sent: number) => Promise<void>;
  readonly finalize: (id: string, json?: object) => Promise<Answer>;
  readonly find: (id: string) => Promise<UploadAnswer>;
  /** The stored bytes, once no request uses the session any more. */
  readonly stored: (id: string) => Promise<number>;
};

export function uploadClient(port: number): UploadClient {
  const ask: UploadClient['ask'] = (path, options) =>
    askServer(port, `/api/write-sessions${path}`, options);
  const find: UploadClient['find'] = async (id) => (await ask(`/${id}`)).json as UploadAnswer;
  return {
    ask,
    find,
    async begin(target = 'a.txt', more = {}) {
      const json = { intent: 'a test', target_file: target, operation: 'create', ...more };
      const answer = await ask('', { json });
      if (answer.status !== 201) throw new Error(answer.text);
      return (answer.json as OpenUpload).session_id;
    },
    put: (id, offset, body) =>
      ask(`/${id}/content?offset=${offset}`, { method: 'PUT', body, headers: BYTES }),
    cut: (id, offset, bytes, sent) =>
      new Promise((resolve, reject) => {
        const socket = connect({ port, host: '127.0.0.1' });
        socket.on('error', reject);
        socket.write(
          `PUT /api/write-sessions/${id}/content?offset=${offset} HTTP/1.1\r\n` +
            `Host: 127.0.0.1:${port}\r\nAuthorization: Bearer ${TOKEN}\r\n` +
            `Content-Type: application/octet-stream\r\nContent-Length: ${bytes.length}\r\n\r\n`,
        );
        socket.end(bytes.subarray(0, sent), () => {
          socket.destroy();
          resolve();
        });
      }),
    finalize: (id, json = {}) => ask(`/${id}/finalize`, { json }),
    async stored(id) {
      for (;;) {
        const found = await find(id);
        if (found.status !== 'in_use') return found.status === 'done' ? 0 : found.bytes;
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
    },
  };
}

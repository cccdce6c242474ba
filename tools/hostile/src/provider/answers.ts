import { createBrotliCompress, createGzip } from 'node:zlib';

import type { AttackOf } from '../attack.ts';
import { nothingFrom, says } from '../holds.ts';
import { END, flood, say } from '../provider.ts';
import type { Answering, Manner } from '../provider.ts';
import { DEEP, failing, LONG } from './manners.ts';

function compressed(kind: 'gzip' | 'br', status: number): Manner {
  return async (_asked, to) => {
    to.head(status, { 'content-encoding': kind });
    const packing = kind === 'gzip' ? createGzip({ level: 9 }) : createBrotliCompress();
    packing.on('error', () => undefined);
    const zeros = Buffer.alloc(1024 * 1024);
    const feeding = (async () => {
      for (let count = 0; count < 1000 && !packing.destroyed; count += 1)
        if (!packing.write(zeros)) await new Promise((resolve) => packing.once('drain', resolve));
      packing.end();
    })();
    for await (const chunk of packing) if (!(await to.send(chunk as Uint8Array))) break;
    packing.destroy();
    to.end();
    void feeding;
  };
}

/** As slowly as one likes: something comes all the time, and nothing is ever whole. */
function drips({ socket }: Answering, head: string, drop: string): Promise<void> {
  socket.write(head);
  return new Promise((resolve) => {
    const more = setInterval(() => {
      if (socket.destroyed) {
        clearInterval(more);
        resolve();
      } else socket.write(drop);
    }, 20);
  });
}

/** How an answer comes: heads, lengths, encodings, errors. */
export const ANSWERS: readonly AttackOf[] = [
  {
    name: 'redirects the key to another server',
    provider: async (asked, to) => {
      to.head(307, { location: `http://127.0.0.1:9/steal?${asked.index}` });
      to.end();
    },
    holds: says('redirects to http://127.0.0.1:9/steal'),
  },
  {
    name: 'redirects to a file',
    provider: (_asked, to) => {
      to.head(302, { location: 'file:///etc/passwd' });
      to.end();
    },
    holds: nothingFrom('root:'),
  },
  {
    name: 'an error of 600 MB',
    provider: async (_asked, to) => {
      to.head(400);
      await flood(to, LONG);
      to.end();
    },
    exits: [1],
  },
  {
    name: 'an error that is 100,000 levels deep',
    provider: failing(400, () => `{"error":${DEEP}}`),
    exits: [1],
  },
  { name: 'a gzip bomb', provider: compressed('gzip', 200), exits: [1] },
  { name: 'a brotli bomb', provider: compressed('br', 200), exits: [1] },
  {
    name: 'a gzip bomb as an error',
    provider: compressed('gzip', 400),
    exits: [1],
  },
  {
    name: 'headers without an end',
    provider: async (_asked, to) => {
      to.socket.write('HTTP/1.1 200 OK\r\n');
      await new Promise<void>((resolve) => {
        const more = (): void => {
          if (to.socket.destroyed) resolve();
          else to.socket.write(`x-h: ${LONG}\r\n`, () => setImmediate(more));
        };
        to.socket.once('close', () => resolve());
        more();
      });
    },
    exits: [1],
    options: ['--max-seconds', '8'],
  },
  {
    name: 'a head that comes letter by letter',
    provider: (_asked, to) => drips(to, 'HTTP/1.1 200 OK\r\nx: ', 'a'),
    options: ['--max-seconds', '3'],
    exits: [1, 5],
  },
  {
    name: 'a body that comes letter by letter',
    provider: (_asked, to) =>
      drips(to, 'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n', ':'),
    options: ['--max-seconds', '3'],
    exits: [1, 5],
  },
  {
    name: 'promises to go on, for ever',
    provider: (_asked, to) => drips(to, '', 'HTTP/1.1 100 Continue\r\n\r\n'),
    options: ['--max-seconds', '3'],
    exits: [1, 5],
  },
  {
    name: 'switches to another protocol',
    provider: (_asked, to) => {
      to.socket.write('HTTP/1.1 101 Switching\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n');
    },
    exits: [1],
  },
  {
    name: 'a length that never comes, and one that is too short',
    provider: (asked, to) => {
      to.socket.end(
        `HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: ${asked.index === 0 ? 9_007_199_254_740_991 : 7}\r\n\r\n${say('text')}${END}`,
      );
    },
    exits: [0, 1],
  },
  {
    name: 'no HTTP at all',
    provider: (_asked, to) => {
      to.socket.end('SSH-2.0-OpenSSH_9.9\r\n'.repeat(100));
    },
    waits: 5000,
    exits: [1],
  },
  {
    name: 'asks to wait for thirty years',
    provider: failing(429, () => '{}', { 'retry-after': '999999999' }),
    options: ['--max-seconds', '3'],
    exits: [1, 5],
  },
];

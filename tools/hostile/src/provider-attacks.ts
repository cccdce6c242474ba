import { createBrotliCompress, createGzip } from 'node:zlib';

import type { After, Attack } from './attack.ts';
import {
  END,
  END_OF_CALLS,
  HONEST_TEXT,
  begin,
  beginsEach,
  call,
  delta,
  event,
  flood,
  reply,
  say,
  writing,
} from './provider.ts';
import type { Answering, Asked, Manner } from './provider.ts';

const DEEP = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
const FILLER = 'x'.repeat(100);
const LONG = 'x'.repeat(10_000);

/** The first answer is this body, whole. */
const answering = (body: string): Manner =>
  writing('a.txt', { begin: (_asked, to) => reply(to, body) });
/** An error instead of the first answer. */
const failing =
  (status: number, body: (asked: Asked) => string, headers: Record<string, string> = {}): Manner =>
  async (asked, to) => {
    to.head(status, { 'content-type': 'application/json', ...headers });
    await to.send(body(asked));
    to.end();
  };
const keyOf = (asked: Asked): string =>
  String(asked.headers.authorization ?? '').replace('Bearer ', '');

/** Within the content: what came before it is kept. */
const withinContent = (attack: (to: Answering) => Promise<void>): Manner =>
  writing('a.txt', {
    content: async (_asked, to) => {
      to.head(200);
      await to.send(say('kept line\n'.repeat(50)));
      await attack(to);
      to.end();
    },
  });

/** All that arrived before is in the session, and the person is told how to go on. */
const keptInSession = ({ ended }: After): string | null =>
  ended.stdout.includes('"lines":50') && ended.stdout.includes('recover-session')
    ? null
    : 'lost what had been captured, or did not say how to go on';

const says =
  (words: string) =>
  ({ ended }: After): string | null =>
    `${ended.stdout}${ended.stderr}`.includes(words) ? null : `did not say "${words}"`;

const nothingFrom =
  (text: string) =>
  ({ provider, ended }: After): string | null =>
    provider.asked.some((asked) => asked.text.includes(text)) || ended.stdout.includes(text)
      ? `gave away "${text}"`
      : null;

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

export const PROVIDER_ATTACKS: readonly Attack[] = [
  {
    kind: 'provider',
    name: 'redirects the key to another server',
    provider: async (asked, to) => {
      to.head(307, { location: `http://127.0.0.1:9/steal?${asked.index}` });
      to.end();
    },
    holds: says('redirects to http://127.0.0.1:9/steal'),
  },
  {
    kind: 'provider',
    name: 'redirects to a file',
    provider: (_asked, to) => {
      to.head(302, { location: 'file:///etc/passwd' });
      to.end();
    },
    holds: nothingFrom('root:'),
  },
  {
    kind: 'provider',
    name: 'echoes the key in an error',
    provider: failing(401, (asked) =>
      JSON.stringify({ error: { message: `No such key: ${keyOf(asked)}${'.'.repeat(1000)}` } }),
    ),
    exits: [1],
  },
  {
    kind: 'provider',
    name: 'echoes the key where an error is cut',
    provider: failing(400, (asked) =>
      JSON.stringify({ error: { message: `${'y'.repeat(380)}${keyOf(asked)}` } }),
    ),
    exits: [1],
  },
  {
    kind: 'provider',
    name: 'echoes the key in base64 and in a URL',
    provider: failing(400, (asked) => {
      const key = keyOf(asked);
      return JSON.stringify({
        error: { message: `${Buffer.from(key).toString('base64')} ${encodeURIComponent(key)}` },
      });
    }),
    exits: [1],
  },
  {
    kind: 'provider',
    name: 'echoes the key in a chat that is divided within it',
    provider: async (asked, to) => {
      const key = keyOf(asked);
      to.head(200);
      for (const piece of key.match(/.{1,7}/gu) ?? []) await to.send(say(piece));
      await to.send(END);
      to.end();
    },
  },
  {
    kind: 'provider',
    name: 'echoes the key in a payload that is no JSON',
    provider: (asked, to) => reply(to, event(`{"${'z'.repeat(170)}${keyOf(asked)}`)),
    exits: [1],
  },
  {
    kind: 'provider',
    name: 'echoes the key as a name of a tool',
    provider: (asked, to) =>
      asked.index === 0
        ? reply(to, call(keyOf(asked), {}) + END_OF_CALLS)
        : reply(to, say('Sorry.') + END),
  },
  {
    kind: 'provider',
    name: 'an error of 600 MB',
    provider: async (_asked, to) => {
      to.head(400);
      await flood(to, LONG);
      to.end();
    },
    exits: [1],
  },
  {
    kind: 'provider',
    name: 'an error that is 100,000 levels deep',
    provider: failing(400, () => `{"error":${DEEP}}`),
    exits: [1],
  },
  { kind: 'provider', name: 'a gzip bomb', provider: compressed('gzip', 200), exits: [1] },
  { kind: 'provider', name: 'a brotli bomb', provider: compressed('br', 200), exits: [1] },
  {
    kind: 'provider',
    name: 'a gzip bomb as an error',
    provider: compressed('gzip', 400),
    exits: [1],
  },
  {
    kind: 'provider',
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
    kind: 'provider',
    name: 'a head that comes letter by letter',
    provider: (_asked, to) => drips(to, 'HTTP/1.1 200 OK\r\nx: ', 'a'),
    options: ['--max-seconds', '3'],
    exits: [1, 5],
  },
  {
    kind: 'provider',
    name: 'a body that comes letter by letter',
    provider: (_asked, to) =>
      drips(to, 'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n', ':'),
    options: ['--max-seconds', '3'],
    exits: [1, 5],
  },
  {
    kind: 'provider',
    name: 'promises to go on, for ever',
    provider: (_asked, to) => drips(to, '', 'HTTP/1.1 100 Continue\r\n\r\n'),
    options: ['--max-seconds', '3'],
    exits: [1, 5],
  },
  {
    kind: 'provider',
    name: 'switches to another protocol',
    provider: (_asked, to) => {
      to.socket.write('HTTP/1.1 101 Switching\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n');
    },
    exits: [1],
  },
  {
    kind: 'provider',
    name: 'a length that never comes, and one that is too short',
    provider: (asked, to) => {
      to.socket.end(
        `HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: ${asked.index === 0 ? 9_007_199_254_740_991 : 7}\r\n\r\n${say('text')}${END}`,
      );
    },
    exits: [0, 1],
  },
  {
    kind: 'provider',
    name: 'no HTTP at all',
    provider: (_asked, to) => {
      to.socket.end('SSH-2.0-OpenSSH_9.9\r\n'.repeat(100));
    },
    waits: 5000,
    exits: [1],
  },
  {
    kind: 'provider',
    name: 'comments for ever',
    provider: async (_asked, to) => {
      to.head(200);
      await flood(to, `: ${FILLER}\n`, Infinity);
    },
    options: ['--max-seconds', '3'],
    exits: [1, 5],
  },
  {
    kind: 'provider',
    name: 'data lines without a blank line, 600 MB',
    provider: withinContent((to) => flood(to, `data: ${FILLER}\n`)),
    holds: keptInSession,
    exits: [3],
  },
  {
    kind: 'provider',
    name: 'data lines of a letter without a blank line, 600 MB',
    provider: withinContent((to) => flood(to, 'data: x\n')),
    holds: keptInSession,
    exits: [3],
  },
  {
    kind: 'provider',
    name: 'empty data lines without a blank line, 600 MB',
    provider: withinContent((to) => flood(to, 'data:\n')),
    holds: keptInSession,
    exits: [3],
  },
  {
    kind: 'provider',
    name: 'a line of data in each read, the rest of it comments, 200 MB',
    provider: withinContent((to) =>
      flood(to, `data: ${FILLER}\n: ${'c'.repeat(65_000)}\n`, 200 * 1024 * 1024),
    ),
    exits: [3],
  },
  {
    kind: 'provider',
    name: 'one line without an end, 600 MB',
    provider: withinContent((to) => flood(to, FILLER)),
    holds: keptInSession,
    exits: [3],
  },
  {
    kind: 'provider',
    name: 'JSON 100,000 levels deep within content',
    provider: withinContent(async (to) => void (await to.send(event(`{"choices":${DEEP}}`)))),
    holds: keptInSession,
    exits: [3],
  },
  {
    kind: 'provider',
    name: 'an error within content, 100,000 levels deep',
    provider: withinContent(
      async (to) => void (await to.send(event(`{"error":{"detail":${DEEP}}}`))),
    ),
    holds: keptInSession,
    exits: [3],
  },
  {
    kind: 'provider',
    name: 'arguments that are no text but JSON, 100,000 levels deep',
    provider: answering(
      event(
        `{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c","function":{"name":"f","arguments":{"a":${DEEP}}}}]}}]}`,
      ),
    ),
    mayWrite: [],
    exits: [1],
  },
  {
    kind: 'provider',
    name: 'an answer in one document, 100,000 levels deep',
    provider: answering(`{"choices":${DEEP}}`),
    exits: [1],
  },
  {
    kind: 'provider',
    name: 'a call whose every delta repeats the name, 1.2 MB',
    provider: writing('a.txt', {
      begin: async (_asked, to) => {
        to.head(200);
        await to.send(call('write_file', '{"content":"'));
        // Without an id, as servers send it that know none: whether another call begins is to be found out.
        const more = (text: string): string =>
          event(
            delta({
              tool_calls: [{ index: 0, function: { name: 'write_file', arguments: text } }],
            }),
          );
        const piece = 'x'.repeat(16);
        for (let sent = 0; sent < 1_200_000; sent += piece.length)
          if (!(await to.send(more(piece)))) return;
        await to.send(more('"}') + END_OF_CALLS);
        to.end();
      },
    }),
    mayWrite: [],
  },
  {
    kind: 'provider',
    name: '100,000 calls in one message',
    provider: writing('a.txt', {
      begin: async (_asked, to) => {
        to.head(200);
        for (let index = 0; index < 100_000; index += 1)
          if (!(await to.send(call('read_file', '{"path":"a"}', `c${index}`, index)))) return;
        await to.send(END_OF_CALLS);
        to.end();
      },
    }),
    mayWrite: [],
    exits: [1],
  },
  {
    kind: 'provider',
    name: 'arguments of 600 MB',
    provider: writing('a.txt', {
      begin: async (_asked, to) => {
        to.head(200);
        await to.send(call('write_file', '{"content":"'));
        await flood(
          to,
          event(delta({ tool_calls: [{ index: 0, function: { arguments: LONG } }] })),
        );
        to.end();
      },
    }),
    mayWrite: [],
    exits: [1, 5],
  },
  {
    kind: 'provider',
    name: 'arguments that are 100,000 levels deep',
    provider: (asked, to) =>
      asked.index === 0
        ? reply(to, call('read_file', `{"path":${DEEP}}`) + END_OF_CALLS)
        : reply(to, say('Sorry.') + END),
  },
  {
    kind: 'provider',
    name: 'arguments that reach for a prototype',
    provider: (asked, to) =>
      asked.index === 0
        ? reply(
            to,
            call('read_file', '{"path":"a.txt","__proto__":{"toString":1}}') +
              call('__proto__', '{}', 'c2', 1) +
              call('constructor', '{}', 'c3', 2) +
              END_OF_CALLS,
          )
        : reply(to, say('Sorry.') + END),
  },
  {
    kind: 'provider',
    name: 'a name and an id of 10 MB',
    provider: (asked, to) =>
      asked.index === 0
        ? reply(to, call('n'.repeat(10_000_000), '{}', 'i'.repeat(2_000_000)) + END_OF_CALLS)
        : reply(to, say('Sorry.') + END),
  },
  {
    kind: 'provider',
    name: 'control sequences in names, errors and intents',
    provider: (asked, to) =>
      asked.index === 0
        ? reply(
            to,
            call('\u001b]0;x\u0007tool', '{}') +
              call(
                'WritePlanTool_begin',
                { intent: '\u001b[2J', target_file: '\u001b[31m', operation: '\u009b' },
                'c2',
                1,
              ) +
              END_OF_CALLS,
          )
        : reply(to, event({ error: { message: '\u001b]52;c;AAAA\u0007\u202e' } })),
  },
  {
    kind: 'provider',
    name: 'begins outside of the workspace',
    provider: beginsEach([
      '../outside/a',
      '/etc/cron.d/a',
      '..\\a',
      '%2e%2e/a',
      'a/../../b',
      '~/.profile',
    ]),
    mayWrite: [],
  },
  {
    kind: 'provider',
    name: "begins in git's folder and in the state",
    provider: beginsEach([
      '.git/hooks/pre-commit',
      '.GIT/config',
      '.orion/orion.db',
      '.g\u200cit/config',
      'git~1/config',
    ]),
    mayWrite: [],
  },
  {
    kind: 'provider',
    name: 'begins files that give programs orders',
    provider: beginsEach([
      '.bash_login',
      '.vimrc',
      '.husky/pre-commit',
      '.devcontainer/devcontainer.json',
      '.yarnrc.yml',
      '.ßh/authorized_keys',
      '.Rprofile',
      '.cargo/config.toml',
      'lefthook.yml',
      '.jj/repo/config.toml',
    ]),
    mayWrite: [],
  },
  {
    kind: 'provider',
    name: 'reads what is not in the workspace',
    provider: (asked, to) => {
      const path = [
        '/etc/passwd',
        '../outside/secret.txt',
        'link',
        '/proc/self/environ',
        '.orion/orion.db',
      ][asked.index];
      return reply(
        to,
        path === undefined ? say('Sorry.') + END : call('read_file', { path }) + END_OF_CALLS,
      );
    },
    plant: async (site) => {
      const { symlink } = await import('node:fs/promises');
      await symlink(`${site.outside}/secret.txt`, `${site.workspace}/link`);
    },
    holds: nothingFrom('a secret of somebody'),
  },
  {
    kind: 'provider',
    name: 'content without an end',
    provider: withinContent((to) => flood(to, say('more and more of it\n'))),
    env: () => ({ WRITE_SESSION_MAX_BYTES: '1048576' }),
    exits: [3],
    holds: says('recover-session'),
  },
  {
    kind: 'provider',
    name: 'content in one line without an end',
    provider: withinContent((to) => flood(to, say(LONG))),
    env: () => ({ WRITE_SESSION_MAX_BYTES: '1048576' }),
    exits: [3],
  },
  {
    kind: 'provider',
    name: 'reasoning without an end',
    provider: async (_asked, to) => {
      to.head(200);
      await flood(to, event(delta({ reasoning_content: LONG })));
    },
    exits: [0, 1, 5],
  },
  {
    kind: 'provider',
    name: 'chat without an end',
    provider: async (_asked, to) => {
      to.head(200);
      await flood(to, say(LONG));
    },
    exits: [0, 1, 5],
  },
  {
    kind: 'provider',
    name: 'white space without an end',
    provider: async (_asked, to) => {
      to.head(200);
      await flood(to, say(' '.repeat(10_000)));
    },
    exits: [0, 1, 5],
  },
  {
    kind: 'provider',
    name: 'numbers that are none',
    provider: (asked, to) =>
      reply(
        to,
        event({
          choices: [],
          usage: { prompt_tokens: 1e308, completion_tokens: -5, total_tokens: 'x' },
        }) +
          event({
            choices: [
              {
                index: 0,
                delta: {
                  tool_calls: [
                    { index: 1e9, id: 'c', function: { name: 'read_file', arguments: '{}' } },
                    { index: -1.5 },
                  ],
                },
              },
            ],
          }) +
          (asked.index === 0 ? END_OF_CALLS : END),
      ),
  },
  {
    kind: 'provider',
    name: 'bytes that are no text',
    provider: withinContent(async (to) => {
      await to.send(
        Buffer.from([0x64, 0x61, 0x74, 0x61, 0x3a, 0x20, 0xff, 0xfe, 0xc0, 0x80, 0x0a, 0x0a]),
      );
    }),
    holds: keptInSession,
    exits: [3],
  },
  {
    kind: 'provider',
    name: 'a reset within content, each time',
    provider: withinContent(async (to) => {
      await new Promise((resolve) => setTimeout(resolve, 50));
      to.socket.resetAndDestroy();
    }),
    exits: [3],
    waits: 20_000,
  },
  {
    kind: 'provider',
    name: 'silence within content',
    provider: withinContent(async (to) => {
      await new Promise((resolve) => to.socket.once('close', resolve));
    }),
    exits: [3],
    waits: 15_000,
  },
  {
    kind: 'provider',
    name: 'asks to wait for thirty years',
    provider: failing(429, () => '{}', { 'retry-after': '999999999' }),
    options: ['--max-seconds', '3'],
    exits: [1, 5],
  },
  {
    kind: 'provider',
    name: 'begins a file for ever',
    provider: (asked, to) =>
      asked.stage === 'content'
        ? reply(to, say(`${HONEST_TEXT}DONE\n`) + END)
        : reply(to, begin('a.txt', { operation: 'overwrite' })),
    exits: [0, 1, 5],
  },
  {
    kind: 'provider',
    name: 'says nothing, whatever it is asked',
    provider: writing('a.txt', { content: (_asked, to) => reply(to, END) }),
    exits: [0, 3],
    mayWrite: [],
  },
  {
    kind: 'provider',
    name: 'a marker whose search never ends',
    provider: writing('b.txt', {
      begin_more: {
        operation: 'insert',
        location: { marker: '(a+)+$', marker_type: 'regex', position: 'after' },
      },
    }),
    plant: async (site) => void (await site.plant('workspace/b.txt', `${'a'.repeat(60)}!\n`)),
    mayWrite: [],
    exits: [0, 1, 3, 5],
    holds: says('MARKER_TIMEOUT'),
  },
];

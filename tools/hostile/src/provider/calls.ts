import { symlink } from 'node:fs/promises';

import type { AttackOf } from '../attack.ts';
import { nothingFrom, says } from '../holds.ts';
import {
  beginsEach,
  call,
  delta,
  END,
  END_OF_CALLS,
  event,
  flood,
  reply,
  say,
  writing,
} from '../provider.ts';
import { answering, callingOnce, DEEP, LONG } from './manners.ts';

/** Calls of tools: their size and shape, and what they ask for. */
export const CALLS: readonly AttackOf[] = [
  {
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
    name: 'arguments that are 100,000 levels deep',
    provider: callingOnce(() => call('read_file', `{"path":${DEEP}}`)),
  },
  {
    name: 'arguments that reach for a prototype',
    provider: callingOnce(
      () =>
        call('read_file', '{"path":"a.txt","__proto__":{"toString":1}}') +
        call('__proto__', '{}', 'c2', 1) +
        call('constructor', '{}', 'c3', 2),
    ),
  },
  {
    name: 'a name and an id of 10 MB',
    provider: callingOnce(() => call('n'.repeat(10_000_000), '{}', 'i'.repeat(2_000_000))),
  },
  {
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
    plant: (site) => symlink(`${site.outside}/secret.txt`, `${site.workspace}/link`),
    holds: nothingFrom('a secret of somebody'),
  },
  {
    name: 'a marker whose search never ends',
    provider: writing('b.txt', {
      begin_more: {
        operation: 'insert',
        location: { marker: '(a+)+$', marker_type: 'regex', position: 'after' },
      },
    }),
    plant: (site) => site.plant('workspace/b.txt', `${'a'.repeat(60)}!\n`),
    mayWrite: [],
    exits: [0, 1, 3, 5],
    holds: says('MARKER_TIMEOUT'),
  },
];

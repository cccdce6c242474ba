import { expect, test } from 'vitest';

import { mcpEnvironmentOf, mcpServersOf, readMcpEntries } from './mcp-servers.ts';

const read = (entry: unknown, name = 'made'): unknown =>
  readMcpEntries({ [name]: entry }, 'config.json');

test.each([
  [{ command: '' }, 'mcpServers.made.command must be a program'],
  [{ command: 'x', args: 'y' }, 'mcpServers.made.args must be a list of texts'],
  [{ command: 'x', env: { A: 1 } }, 'mcpServers.made.env must be an object of texts'],
  [{ command: 'x', cwd: 1 }, 'mcpServers.made.cwd must be a text'],
  [{ command: 'x', autoApprove: ['y'] }, 'mcpServers.made.autoApprove is no key of a server'],
  [{ url: 'ws://example.com/mcp' }, 'mcpServers.made.url must be an https URL'],
  [{ url: 'file:///etc/passwd' }, 'mcpServers.made.url must be an https URL'],
  [{ url: 'https://example.com', command: 'x' }, 'mcpServers.made.command is no key of a server'],
  [[], 'mcpServers.made must be an object'],
])('refuses %j', (entry, message) => {
  expect(() => read(entry)).toThrow(message);
});

test.each([0, 301, 1.5, '9', null])('refuses %j seconds to start', (startSeconds) => {
  expect(() => read({ command: 'x', startSeconds })).toThrow(
    'mcpServers.made.startSeconds must be a whole number from 1 to 300',
  );
});

test.each(['a__b', '_a', 'a_', 'a b', 'x'.repeat(33), '\u202e'])(
  'refuses a server of the name %j',
  (name) => {
    expect(() => read({ command: 'x' }, name)).toThrow('is not a name of a server');
  },
);

test('fills in listed variables alone, and leaves out a server that names others', () => {
  const entries = readMcpEntries(
    {
      web: { url: 'http://localhost:1/mcp', headers: { Authorization: 'Bearer ${WEB_TOKEN}' } },
      made: {
        type: 'stdio',
        command: './x',
        args: ['--in', '${PLACE}'],
        env: { API_KEY: 'fixed' },
      },
      greedy: { command: 'x', env: { A: '${OPENAI_API_KEY}${UNSET}' } },
    },
    'config.json',
  );
  const environment = { WEB_TOKEN: 'secret', PLACE: '/p', OPENAI_API_KEY: 'sk' };
  const found = mcpServersOf(entries, '/w', environment, {
    variables: ['WEB_TOKEN', 'PLACE', 'UNSET'],
    hosts: [],
  });
  expect(found.servers).toEqual([
    {
      kind: 'http',
      name: 'web',
      place: 'http://localhost:1/mcp',
      url: 'http://localhost:1/mcp',
      headers: { Authorization: 'Bearer secret' },
    },
    {
      kind: 'stdio',
      name: 'made',
      place: '["./x","--in","${PLACE}"]',
      command: './x',
      args: ['--in', '/p'],
      environment: { API_KEY: 'fixed' },
      folder: '/w',
    },
  ]);
  expect(found.secrets).toEqual(['secret', 'fixed']);
  expect(found.leftOut).toEqual([
    expect.stringContaining('greedy was left out: ${OPENAI_API_KEY}, ${UNSET} is unset'),
  ]);
});

test('gives a server the time to start that its entry names', () => {
  const entries = readMcpEntries(
    {
      made: { command: 'x', startSeconds: 300 },
      web: { url: 'https://example.com/mcp', startSeconds: 1 },
    },
    'config.json',
  );
  const found = mcpServersOf(entries, '/w', {}, { variables: [], hosts: [] });
  expect(found.servers).toMatchObject([{ startMs: 300_000 }, { startMs: 1_000 }]);
});

test('passes on what programs need, and no key', () => {
  const environment = { PATH: '/bin', HOME: '/h', OPENAI_API_KEY: 'sk', NODE_OPTIONS: '-r x' };
  expect(mcpEnvironmentOf(environment)).toEqual({ PATH: '/bin', HOME: '/h' });
});

test.each([
  ['http://example.com/mcp', [], false],
  ['http://127.0.0.1.nip.io/', ['127.0.0.1'], false],
  ['http://example.com/mcp', ['example.com'], true],
  ['http://EXAMPLE.com:8080/mcp', ['Example.com'], true],
  ['http://example.com:8080/mcp', ['example.com:8080'], true],
  ['http://example.com:8081/mcp', ['example.com:8080'], false],
  ['http://example.com.evil.org/', ['example.com'], false],
  ['http://evil.org/example.com', ['example.com'], false],
  ['http://example.com@evil.org/', ['example.com'], false],
  ['http://sub.example.com/', ['example.com'], false],
  ['http://[::1]:3000/', [], true],
  ['https://example.com/', [], true],
])('asks %s with the allowed hosts %j: %s', (url, hosts, isAsked) => {
  const entries = readMcpEntries({ made: { url } }, 'config.json');
  const { servers, leftOut } = mcpServersOf(entries, '/w', {}, { variables: [], hosts });
  expect(servers).toHaveLength(isAsked ? 1 : 0);
  expect(leftOut).toEqual(
    isAsked
      ? []
      : [
          expect.stringContaining(
            'made was left out: its URL is neither https nor on this machine',
          ),
        ],
  );
});

// `orion serve --approve ask` as a process: what its turns ask over HTTP, and what becomes of the answers.
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import type { Script } from '@orion/llm-adapters/scripted';
import { expect } from 'vitest';

import type { Approval, RunEvent } from '@orion/contracts';

import { configureUser, madeServer } from './support/mcp.ts';
import { lastToolMessage } from './support/requests.ts';
import { at } from './support/sandbox.ts';
import type { Sandbox } from './support/sandbox.ts';
import { LAST_WORD, writeDocument } from './support/scripts.ts';
import { say, serve, told } from './support/serve.ts';
import type { HttpAnswer, ServedProcess } from './support/serve.ts';
import { longTest, test } from './support/test.ts';
import { waitFor } from './support/wait.ts';

const TEXT = 'one\ntwo\n';

async function asking(machine: Sandbox, script: Script, args: readonly string[] = []) {
  const provider = await machine.provider(script);
  const options = [...at(provider), '--approve', 'ask', ...args];
  // Longer than a test: a stop that waited for a person would not end in time.
  const env = { ORION_DRAIN_SECONDS: '600' };
  return { provider, options, server: await serve(machine, options, { env }) };
}

function writing(operation = 'create'): Script {
  return writeDocument({ target: 'a.txt', content: TEXT }, { operation });
}

async function begin({ ask }: Pick<ServedProcess, 'ask'>, content = 'Do it.'): Promise<string> {
  const headers = { accept: 'application/json' };
  const { json } = await ask('/api/chat/messages', { json: { content }, headers });
  return (json as { readonly turnId: string }).turnId;
}

type Shown = Approval & {
  readonly diffs: readonly { readonly diff: string | null; readonly cut: boolean }[];
};

/** The one that waits, as a person reads it. */
async function pending({ ask }: Pick<ServedProcess, 'ask'>, but = ''): Promise<Shown> {
  const { approvalId } = await waitFor('an approval', async () => {
    const { json } = await ask('/api/approvals?state=pending');
    const { approvals } = json as { readonly approvals: readonly Approval[] };
    return approvals.find((one) => one.approvalId !== but) ?? null;
  });
  return (await ask(`/api/approvals/${approvalId}`)).json as Shown;
}

function decide(
  { ask }: Pick<ServedProcess, 'ask'>,
  { approvalId, hash }: Pick<Approval, 'approvalId' | 'hash'>,
  decision: string,
  more: object = {},
): Promise<HttpAnswer> {
  return ask(`/api/approvals/${approvalId}`, { json: { decision, hash, ...more } });
}

/** The events of a turn, to its end. */
async function eventsOf(
  { ask }: Pick<ServedProcess, 'ask'>,
  turnId: string,
): Promise<readonly RunEvent[]> {
  const headers = { accept: 'application/json' };
  const events: RunEvent[] = [];
  for (let after = ''; ;) {
    const { json } = await ask(`/api/turns/${turnId}/events?wait=5&after=${after}`, { headers });
    const answer = json as { events: readonly RunEvent[]; next: string; done: boolean };
    events.push(...answer.events);
    if (answer.done) return events;
    after = answer.next;
  }
}

const kindsOf = (events: readonly RunEvent[]): readonly string[] =>
  events
    .filter(({ type }) => type.startsWith('approval'))
    .map((event) => (event.type === 'approval_decided' ? event.decision : event.type));

test.concurrent('R256: a change is shown whole, and written after a yes', async ({ machine }) => {
  await writeFile(machine.path('a.txt'), 'old\n');
  const { server } = await asking(machine, writing('overwrite'));
  const turnId = await begin(server);
  const shown = await pending(server);
  expect(shown).toMatchObject({
    turnId,
    state: 'pending',
    action: {
      kind: 'write',
      changes: [
        {
          real_path: machine.path('a.txt'),
          operation: 'overwrite',
          protected: false,
          hard_link: false,
        },
      ],
    },
    diffs: [{ target_file: 'a.txt', cut: false, diff: expect.stringContaining('-old\n+one\n') }],
  });
  expect(shown.expiresAt - shown.createdAt).toBe(86_400_000);
  expect((await server.ask('/api/status')).json).toMatchObject({ pendingApprovals: 1 });
  expect((await server.ask('/metrics')).text).toMatch(/^orion_approvals_pending\{.*\} 1$/mu);
  expect(String(await machine.read('a.txt'))).toBe('old\n');
  const answer = await decide(server, shown, 'yes');
  expect([answer.status, answer.json]).toMatchObject([200, { state: 'yes', reason: null }]);
  const events = await eventsOf(server, turnId);
  expect(events.at(-1)).toMatchObject({ type: 'done', status: 'complete' });
  expect(kindsOf(events)).toEqual(['approval_requested', 'yes']);
  expect(String(await machine.read('a.txt'))).toBe(TEXT);
  expect(told(await decide(server, shown, 'no'))).toBe('409 APPROVAL_DECIDED');
});

longTest(
  'a no leaves the file alone and the text saved, and the model reads the reason',
  async ({ machine }) => {
    const { server, provider } = await asking(machine, writing());
    const turnId = await begin(server);
    const shown = await pending(server);
    const reason = 'Not in this folder.';
    expect((await decide(server, shown, 'no', { reason })).status).toBe(200);
    const events = await eventsOf(server, turnId);
    expect(events.at(-1)).toMatchObject({ type: 'done', status: 'paused' });
    expect(await machine.exists('a.txt')).toBe(false);
    const { json } = await server.ask(`/api/write-sessions/${shown.sessionId}`);
    expect(json).toMatchObject({ status: 'paused', code: 'APPROVAL_REFUSED', bytes: TEXT.length });
    await say(server, { content: 'And now?' });
    expect(JSON.stringify(provider.requests.at(-1)?.body)).toContain(reason);
  },
);

longTest('B18: what was changed after it was shown is shown anew', async ({ machine }) => {
  await writeFile(machine.path('a.txt'), 'old\n');
  const { server } = await asking(machine, writing('overwrite'));
  const turnId = await begin(server);
  const first = await pending(server);
  await writeFile(machine.path('a.txt'), 'of somebody else\n');
  expect(told(await decide(server, first, 'yes'))).toBe('409 APPROVAL_STALE');
  const second = await pending(server, first.approvalId);
  expect(second.hash).not.toBe(first.hash);
  expect(second.diffs[0]?.diff).toContain('-of somebody else\n+one\n');
  expect(told(await decide(server, first, 'yes'))).toBe('409 APPROVAL_DECIDED');
  expect(told(await decide(server, { ...second, hash: first.hash }, 'yes'))).toBe(
    '409 APPROVAL_STALE',
  );
  expect(String(await machine.read('a.txt'))).toBe('of somebody else\n');
  await decide(server, second, 'yes');
  expect(kindsOf(await eventsOf(server, turnId))).toEqual([
    'approval_requested',
    'withdrawn',
    'approval_requested',
    'yes',
  ]);
  expect(String(await machine.read('a.txt'))).toBe(TEXT);
});

longTest('of two who decide at once one is first', async ({ machine }) => {
  const { server } = await asking(machine, writing());
  const turnId = await begin(server);
  const shown = await pending(server);
  const answers = await Promise.all(['yes', 'no'].map((word) => decide(server, shown, word)));
  expect(answers.map(told).toSorted()).toEqual(['200', '409 APPROVAL_DECIDED']);
  await eventsOf(server, turnId);
  expect(await machine.exists('a.txt')).toBe(answers[0]?.status === 200);
});

for (const [signal, tags] of [
  ['SIGTERM', ['long']],
  ['SIGKILL', []],
] as const) {
  const title = `the same question outlives ${signal}, and the yes is acted on without a model`;
  test.concurrent(title, { tags: [...tags] }, async ({ machine }) => {
    const { server, options, provider } = await asking(machine, writing());
    const turnId = await begin(server);
    const shown = await pending(server);
    const requests = provider.requests.length;
    server.running.kill(signal);
    const { stderr } = await server.running.finished;
    if (signal === 'SIGTERM')
      expect(stderr).toContain(
        '\nStopping. The next start continues 1 turn that waits for a person.\n',
      );
    expect(await machine.exists('a.txt')).toBe(false);
    const next = await serve(machine, options);
    const again = await pending(next);
    expect(again).toEqual(shown);
    expect((await decide(next, shown, 'yes')).status).toBe(200);
    const events = await eventsOf(next, turnId);
    expect(events.at(-1)).toMatchObject({ type: 'done', status: 'complete' });
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
    expect(kindsOf(events)).toEqual(['approval_requested', 'yes']);
    expect(String(await machine.read('a.txt'))).toBe(TEXT);
    // What follows the receipt alone.
    expect(provider.requests).toHaveLength(requests + 1);
    const left = (await readdir(machine.workspace)).filter((name) => name !== '.orion');
    expect(left).toEqual(['a.txt']);
  });
}

longTest('a turn that waits can be cancelled, and its question is closed', async ({ machine }) => {
  const { server } = await asking(machine, writing());
  const turnId = await begin(server);
  const shown = await pending(server);
  await server.ask(`/api/turns/${turnId}/cancel`, { json: {} });
  const events = await eventsOf(server, turnId);
  expect(events.at(-1)).toMatchObject({ type: 'done', stopReason: 'cancelled' });
  expect(kindsOf(events)).toEqual(['approval_requested', 'withdrawn']);
  expect(told(await decide(server, shown, 'yes'))).toBe('409 APPROVAL_DECIDED');
  expect((await server.ask('/api/status')).json).toMatchObject({ pendingApprovals: 0 });
  expect(await machine.exists('a.txt')).toBe(false);
});

longTest(
  'R255: a protected path is asked about like any change, also after "turn"',
  async ({ machine }) => {
    const script = writeDocument({ target: '.env', content: 'A=1\n' });
    const { server } = await asking(machine, script);
    const turnId = await begin(server);
    const shown = await pending(server);
    expect(shown.action).toMatchObject({ changes: [{ target_file: '.env', protected: true }] });
    await decide(server, shown, 'turn');
    await eventsOf(server, turnId);
    expect(String(await machine.read('.env'))).toBe('A=1\n');
  },
);

longTest(
  'R283: shell lines and tools of MCP servers run after a yes, whole as they were shown',
  async ({ machine }) => {
    await configureUser(machine, { mcpServers: { made: await madeServer(machine, '') } });
    const line = `touch made${' '.repeat(10_000)}; echo done`;
    const call = (name: string, args: object, after: number) => ({
      name,
      when: { toolResults: after },
      reply: { toolCalls: [{ name, arguments: { ...args } }] },
    });
    const { server, provider } = await asking(
      machine,
      {
        behaviours: [
          call('run_command', { command: line }, 0),
          call('mcp__made__act', { what: 'x' }, 1),
          LAST_WORD,
        ],
      },
      ['--sandbox', 'off'],
    );
    const turnId = await begin(server);
    const command = await pending(server);
    expect(command).toMatchObject({
      sessionId: null,
      action: { kind: 'command', command: line, folder: machine.workspace, sandbox: 'off' },
      diffs: [],
    });
    expect(told(await decide(server, command, 'turn'))).toBe('400 USAGE');
    expect(await machine.exists('made')).toBe(false);
    await decide(server, command, 'yes');
    const tool = await pending(server, command.approvalId);
    expect(tool.action).toMatchObject({
      kind: 'mcp',
      server: 'made',
      tool: 'act',
      arguments: { what: 'x' },
    });
    expect(await machine.exists('made')).toBe(true);
    await decide(server, tool, 'no', { reason: 'not today' });
    const events = await eventsOf(server, turnId);
    expect(kindsOf(events)).toEqual(['approval_requested', 'yes', 'approval_requested', 'no']);
    expect(lastToolMessage(provider.requests)).toContain('not today');
  },
);

longTest(
  'what is sent without a turn needs no approval, but for a protected path',
  async ({ machine }) => {
    const server = await serve(machine, ['--approve', 'ask']);
    const upload = async (target_file: string): Promise<HttpAnswer> => {
      const json = { intent: 't', target_file, operation: 'create' };
      const begun = await server.ask('/api/write-sessions', { json });
      const { session_id: id } = begun.json as { readonly session_id: string };
      const headers = { 'content-type': 'application/octet-stream' };
      const path = `/api/write-sessions/${id}`;
      await server.ask(`${path}/content?offset=0`, { method: 'PUT', headers, body: TEXT });
      return server.ask(`${path}/finalize`, { json: {} });
    };
    expect((await upload('a.txt')).status).toBe(200);
    expect(told(await upload('.env'))).toBe('403 APPROVAL_REFUSED');
    expect(await machine.exists(join('.env'))).toBe(false);
  },
);

import { expect } from 'vitest';

import { sent } from './support/requests.ts';
import { at } from './support/sandbox.ts';
import { beginCall, LAST_WORD, numbered, writeDocument } from './support/scripts.ts';
import { conversations } from './support/stored.ts';
import { longTest, test } from './support/test.ts';

const CANARY = 'canary line';
const ROWS = numbered(CANARY, 1, 60, 2);

test.concurrent('R253: a second process continues the conversation, and the file is a receipt in it', async ({
  machine,
}) => {
  const provider = await machine.provider(writeDocument({ target: 'rows.txt', content: ROWS }));
  expect((await machine.ask(provider)).exitCode).toBe(0);
  const before = provider.requests.length;

  const second = await machine.run(['run', 'And now?', '--continue', ...at(provider)]);

  expect(second.exitCode, second.stderr).toBe(0);
  const [request] = sent(provider.requests.slice(before));
  expect(request?.messages.map((message) => message.role)).toEqual([
    'system',
    'user',
    'assistant',
    'tool',
    'assistant',
    'user',
  ]);
  expect(request?.messages[1]?.content).toBe('Write it.');
  expect(request?.messages[3]?.content).toMatch(/"status":"written".*"sha256":"[0-9a-f]{64}"/u);
  expect(request?.messages[4]?.content).toBe('All written.');
  expect(request?.messages[5]?.content).toBe('And now?');
  expect(JSON.stringify(request)).not.toContain(CANARY);
});

longTest(
  'R253: --resume continues any conversation, and refuses one that is not there',
  async ({ machine }) => {
    const provider = await machine.provider({
      behaviours: [{ name: 'a', reply: { text: 'Yes.' } }],
    });
    const run = async (prompt: string, ...args: string[]): Promise<string> => {
      const ended = await machine.run(['run', prompt, '--json', ...args, ...at(provider)]);
      expect(ended.exitCode, ended.stderr).toBe(0);
      return ended.events()[0]?.conversationId ?? '';
    };
    const first = await run('first');
    const second = await run('second');
    expect(second).not.toBe(first);

    expect(await run('third', '--resume', first)).toBe(first);

    const last = sent(provider.requests).at(-1);
    expect(last?.messages.slice(1).map((message) => message.content)).toEqual([
      'first',
      'Yes.',
      'third',
    ]);
    expect(await conversations(machine)).toMatchObject([
      { conversationId: first, messages: 4 },
      { conversationId: second, messages: 2 },
    ]);
    // ORION_CONTINUE is the same as --continue: the latest is the one that was spoken in last.
    const twin = await machine.run(['run', 'fourth', '--json', ...at(provider)], {
      env: { ORION_CONTINUE: 'true' },
    });
    expect(twin.events()[0]?.conversationId).toBe(first);

    const unknown = await machine.run(['run', 'x', '--resume', 'nobody', ...at(provider)]);
    expect(unknown.exitCode).toBe(1);
    expect(unknown.stderr).toContain(
      'orion: CONVERSATION_NOT_FOUND: There is no conversation "nobody".\n',
    );
    const shown = await machine.run(['conversations', 'show', first]);
    expect(shown.stdout).toMatch(/user:\nfirst\n\nassistant:\nYes\.\n\nuser:\nthird\n/u);
  },
);

longTest('a conversation of more than a MiB is shown whole on a terminal', async ({ machine }) => {
  const text = numbered('a line of the prompt', 1, 45_000, 5);
  const provider = await machine.provider({ behaviours: [LAST_WORD] });
  const ended = await machine.run(['run', '-', ...at(provider)], { stdin: text });
  expect(ended.exitCode, ended.stderr).toBe(0);
  const [stored] = await conversations(machine);
  const terminal = machine.terminal(['conversations', 'show', stored?.conversationId ?? '']);
  const { exitCode, output } = await terminal.finished;
  expect(exitCode).toBe(0);
  expect(output).not.toContain('left out');
  expect(output.match(/a line of the prompt \d{5}\r\n/gu)).toHaveLength(45_000);
});

longTest(
  'R068: --continue with nothing stored begins anew and says so once',
  async ({ machine }) => {
    const provider = await machine.provider({ behaviours: [LAST_WORD] });
    const ended = await machine.run(['run', 'hello', '--continue', ...at(provider)]);
    expect(ended.exitCode).toBe(0);
    expect(ended.stderr.match(/this is a new one/gu)).toHaveLength(1);
  },
);

longTest(
  'a conversation cut by SIGKILL opens again and continues with its open file',
  async ({ machine }) => {
    const provider = await machine.provider(
      writeDocument(
        { target: 'rows.txt', content: ROWS },
        { shape: { chunk: 7 }, faults: [{ kind: 'stall', reply: 1, at: { lines: 30 } }] },
      ),
    );
    const writer = machine.startAsking(provider, ['--json'], {
      env: { WRITE_SESSION_SAVE_MS: '100' },
    });
    const session = await machine.savedSession(200);
    const begun = await writer.waitForEvent(
      'the session',
      (event) => event.type === 'write_session',
    );
    writer.kill('SIGKILL');
    await writer.finished;

    expect(await conversations(machine)).toMatchObject([
      { conversationId: begun.conversationId, openSessionId: session.id },
    ]);
    // What is stored is true: nothing was written.
    const stored = await machine.run(['conversations', 'show', begun.conversationId]);
    expect(stored.stdout).toMatch(/"status":"interrupted","target_file":"rows.txt"/u);
    expect(stored.stderr).toContain(`orion recover-session ${session.id}`);

    // Without a terminal it is named on stderr, and the conversation continues beside it.
    const named = await machine.run([
      'run',
      'First tell me.',
      '--continue',
      '--json',
      ...at(provider),
    ]);
    expect(named.exitCode, named.stderr).toBe(0);
    expect(named.stderr).toContain(`orion recover-session ${session.id}`);
    expect(named.events()[0]?.conversationId).toBe(begun.conversationId);

    const terminal = machine.terminal(['run', 'Go on.', '--continue', ...at(provider)]);
    await terminal.waitForOutput('Recover previous write session? (Y/n)');
    terminal.type('\r');
    const ended = await terminal.finished;

    expect(ended.exitCode, ended.output).toBe(0);
    expect(String(await machine.read('rows.txt'))).toBe(ROWS);
    expect(await conversations(machine)).toMatchObject([
      { conversationId: begun.conversationId, openSessionId: null },
    ]);
    const last = sent(provider.requests).at(-1);
    expect(last?.messages.at(-1)?.content).toBe('Go on.');
    expect(last?.messages[3]?.content).toContain('"status":"written"');
    // What was said meanwhile is still there.
    expect(last?.messages.map((message) => message.content)).toContain('First tell me.');
    expect(JSON.stringify(last)).not.toContain(`${CANARY} 40`);
  },
);

longTest(
  'a file that is written by hand becomes a receipt in its conversation too',
  async ({ machine }) => {
    const provider = await machine.provider({
      behaviours: [
        {
          name: 'no end',
          when: { toolChoice: 'none' },
          reply: { text: `${CANARY} 1\n` },
        },
        beginCall({ target_file: 'a.txt' }),
        LAST_WORD,
      ],
    });
    const paused = await machine.ask(provider, [], { env: { WRITE_SESSION_IDLE_MS: '0' } });
    expect(paused.exitCode, paused.stderr).toBe(3);
    const [session] = await machine.sessions();
    expect(await conversations(machine)).toMatchObject([{ openSessionId: session?.id }]);

    const ended = await machine.run(['recover-session', session?.id ?? '', '--finalize']);
    expect(ended.exitCode, ended.stderr).toBe(0);

    const [conversation] = await conversations(machine);
    expect(conversation?.openSessionId).toBeNull();
    const shown = await machine.run(['conversations', 'show', conversation?.conversationId ?? '']);
    expect(shown.stdout).toMatch(/^\{"status":"written","target_file":"a\.txt",/mu);
    expect(shown.stdout).not.toContain(CANARY);
  },
);

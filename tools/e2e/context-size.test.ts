import { expect } from 'vitest';

import { codeDocument } from './support/documents.ts';
import { sent } from './support/requests.ts';
import { beginCall, LAST_WORD, writeDocument } from './support/scripts.ts';
import { longTest, test } from './support/test.ts';

longTest(
  'R257, R010: after a committed file of 2,000 lines a request is at most 4 kB larger than before',
  async ({ machine }) => {
    const { text } = codeDocument();
    const provider = await machine.provider(
      writeDocument({ target: 'src/program.ts', content: text }, { shape: { chunk: 200 } }),
    );
    const ended = await machine.ask(provider);
    expect(ended.exitCode, ended.stderr).toBe(0);
    const [begin, content, last, ...more] = sent(provider.requests);
    expect(more).toEqual([]);
    expect((last?.bytes ?? Infinity) - (begin?.bytes ?? 0)).toBeLessThan(4096);
    expect((last?.bytes ?? Infinity) - (content?.bytes ?? 0)).toBeLessThan(4096);
    const result = last?.messages.find((message) => message.role === 'tool')?.content ?? '';
    expect(JSON.parse(result)).toMatchObject({
      status: 'written',
      target_file: 'src/program.ts',
      lines: 2000,
    });
    expect(JSON.stringify(last)).not.toContain('function step7(');
    // R160: the same tools all along, so that the provider's prompt cache holds.
    expect(content?.tools).toEqual(begin?.tools);
    expect(last?.tools).toEqual(begin?.tools);
    expect(content?.messages.slice(0, begin?.messages.length)).toEqual(begin?.messages);
  },
);

longTest('R257: while a short file is continued the model sees all of it', async ({ machine }) => {
  const text =
    'The text of a short file.\nIts second line.\nIts third and longest line.\nThe end.\n';
  const provider = await machine.provider(
    writeDocument(
      { target: 'a.txt', content: text },
      { faults: [{ kind: 'length', reply: 1, at: { lines: 3 } }] },
    ),
  );
  await machine.ask(provider);
  const continued = sent(provider.requests)[2]?.messages ?? [];
  expect(continued.slice(-2)).toMatchObject([
    { role: 'assistant', content: text.split('\n').slice(0, 3).join('\n') + '\n' },
    { role: 'user' },
  ]);
});

test.concurrent('R257: of a long one it sees the beginning and the end, and the user says what is left out', async ({
  machine,
}) => {
  const { text } = codeDocument();
  const provider = await machine.provider(
    writeDocument(
      { target: 'src/program.ts', content: text },
      { shape: { chunk: 200 }, faults: [{ kind: 'length', reply: 1, at: { lines: 1500 } }] },
    ),
  );
  const ended = await machine.ask(provider, [], { env: { WRITE_SESSION_CONTEXT_BYTES: '8192' } });
  expect(ended.exitCode, ended.stderr).toBe(0);
  const [, , continued] = sent(provider.requests);
  const [head, elision, tail, prompt] = (continued?.messages ?? []).slice(-4);
  expect([head?.role, elision?.role, tail?.role, prompt?.role]).toEqual([
    'assistant',
    'user',
    'assistant',
    'user',
  ]);
  expect(text.startsWith(head?.content ?? '?')).toBe(true);
  const [, first, last] = /Lines (\d+) to (\d+) of the file/u.exec(elision?.content ?? '') ?? [];
  const lines = text.split('\n');
  expect(head?.content).toBe(`${lines.slice(0, Number(first) - 1).join('\n')}\n`);
  expect(tail?.content).toBe(`${lines.slice(Number(last), 1500).join('\n')}\n`);
  expect((head?.content.length ?? 0) + (tail?.content.length ?? 0)).toBeLessThanOrEqual(8192);
  expect(String(await machine.read('src/program.ts'))).toBe(text);
});

longTest(
  'R252: AGENTS.md and the list of files are part of the system prompt, and traced',
  async ({ machine }) => {
    await machine.write('AGENTS.md', 'Always write in verse.\n');
    await machine.write('src/one.ts', 'export {};\n');
    const provider = await machine.provider({
      behaviours: [beginCall({ target_file: '../x' }), LAST_WORD],
    });
    const ended = await machine.ask(provider, ['--verbose']);
    const system = sent(provider.requests)[0]?.messages[0];
    expect(system).toMatchObject({ role: 'system' });
    expect(system?.content).toContain('Always write in verse.');
    expect(system?.content).toContain('"src/one.ts"');
    expect(system?.content).not.toContain('.orion');
    expect(ended.stderr).toContain(
      'project_instructions {"file":"AGENTS.md","characters":23,"truncated":false}',
    );
    // R140: an assistant message with its calls, then one tool message for each.
    const roles = sent(provider.requests)[1]?.messages.map((message) => message.role);
    expect(roles).toEqual(['system', 'user', 'assistant', 'tool']);
  },
);

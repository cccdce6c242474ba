import type { Behaviour } from '@orion/llm-adapters/scripted';
import { expect } from 'vitest';

import { sent } from './support/requests.ts';
import { LAST_WORD } from './support/scripts.ts';
import { test } from './support/test.ts';

const readFile = (path: string, text?: string): Behaviour['reply'] => ({
  ...(text === undefined ? {} : { text }),
  toolCalls: [{ name: 'read_file', arguments: { path } }],
});
/** The request that asks for an answer without tools. */
const asksForAnswer = { system: 'Answer now', tools: false } as const;

test.concurrent('A7: two-stage reads once, refuses three duplicates and answers in the fifth call', async ({
  machine,
}) => {
  await machine.write('a.txt', 'the content\n');
  const provider = await machine.provider({
    behaviours: [
      { when: asksForAnswer, reply: { text: 'Answer.\n' } },
      { when: { toolResults: 0 }, reply: readFile('a.txt', 'Look. ') },
      { reply: readFile('./a.txt') },
    ],
  });

  const ended = await machine.ask(provider, ['--protocol', 'two_stage', '--json']);

  expect(ended.exitCode, ended.stderr).toBe(5);
  const requests = sent(provider.requests);
  expect(requests).toHaveLength(5);
  expect(requests[4]?.tools).toBeUndefined();
  expect(requests[4]?.messages.at(-1)).toMatchObject({
    role: 'system',
    content: 'Maximum duplicate attempts reached. Answer now with existing results.',
  });
  const [assistant, tool] = requests[1]?.messages.slice(-2) ?? [];
  expect(assistant).toMatchObject({ role: 'assistant', content: 'Look. ' });
  expect(tool).toMatchObject({ role: 'tool', tool_call_id: assistant?.tool_calls?.[0]?.id });
  expect(tool?.content).toContain('the content');
  // The tool ran once; the others were refused.
  const results = ended.events().filter((event) => event.type === 'tool_result');
  expect(results.map((event) => event.ok)).toEqual([true, false, false, false]);
  const dones = ended.events().filter((event) => event.type === 'done');
  expect(dones).toHaveLength(1);
  expect(ended.events().at(-1)).toMatchObject({
    type: 'done',
    fullContent: 'Look. Answer.\n',
    status: 'stopped',
    stopReason: 'duplicates',
    protocol: 'two-stage',
    protocolReason: '--protocol',
  });
  for (const event of ended.events()) {
    expect(event).toMatchObject({ requestId: expect.any(String), phaseIndex: expect.any(Number) });
    expect(event.cycleIndex).toBeTypeOf('number');
  }
  expect(ended.result()).toMatchObject({ status: 'stopped', stopReason: 'duplicates' });
});

test.concurrent('A7: a model that only ever emits a broken call ends after at most 4 calls', async ({
  machine,
}) => {
  const provider = await machine.provider({
    behaviours: [
      { reply: { toolCalls: [{ name: 'read_file', arguments: '{"pa' }], finishReason: 'stop' } },
    ],
  });

  const ended = await machine.ask(provider, ['--protocol', 'two-stage', '--json']);

  expect(provider.requests.length).toBeLessThanOrEqual(4);
  expect(ended.events().filter((event) => event.type === 'done')).toHaveLength(1);
  expect(ended.events().at(-1)).toMatchObject({ type: 'done', status: 'incomplete' });
  expect(ended.exitCode).toBe(5);
});

test.concurrent.for([
  ['standard', 6],
  ['two-stage', 5],
] as const)(
  '%s: a model that repeats one call for ever ends with an answer and exit code 5',
  async ([protocol, bound], { machine }) => {
    await machine.write('a.txt', 'the content\n');
    const provider = await machine.provider({
      behaviours: [
        { when: asksForAnswer, reply: { text: 'It says: the content.' } },
        { reply: readFile('a.txt') },
      ],
    });

    const ended = await machine.ask(provider, ['--protocol', protocol]);

    expect(ended.exitCode, ended.stderr).toBe(5);
    expect(provider.requests.length).toBeLessThanOrEqual(bound);
    expect(ended.stdout).toContain('It says: the content.');
    expect(ended.stderr).toContain('The turn was stopped (duplicates).\n');
  },
);

test.concurrent('two-stage writes several files: a begin that was committed uses no cycle (R160)', async ({
  machine,
}) => {
  const files = ['one.txt', 'two.txt', 'three.txt', 'four.txt', 'five.txt'];
  const provider = await machine.provider({
    behaviours: [
      { when: { toolChoice: 'none' }, reply: { text: 'a line\nDONE' } },
      ...files.map((target_file, index): Behaviour => ({
        when: { toolResults: index },
        reply: {
          toolCalls: [
            {
              name: 'WritePlanTool_begin',
              arguments: { intent: 'test', target_file, operation: 'create' },
            },
          ],
        },
      })),
      LAST_WORD,
    ],
  });

  const ended = await machine.ask(provider, ['--json'], { env: { TWO_STAGE_ENABLED: 'true' } });

  expect(ended.exitCode, ended.stderr).toBe(0);
  for (const file of files) expect(String(await machine.read(file))).toBe('a line\n');
  expect(ended.events().at(-1)).toMatchObject({
    protocol: 'two-stage',
    protocolReason: 'TWO_STAGE_ENABLED',
  });
});

test.concurrent('A8: PLAN runs neither begin nor what only begins like an allowed tool', async ({
  machine,
}) => {
  const provider = await machine.provider({
    behaviours: [
      { when: { toolResults: 2 }, reply: { text: 'ok' } },
      {
        reply: {
          toolCalls: [
            {
              name: 'WritePlanTool_begin',
              arguments: { intent: 't', target_file: 'd/a.txt', operation: 'create' },
            },
            { name: 'read_file_and_delete', arguments: { path: 'a.txt' } },
          ],
        },
      },
    ],
  });

  const ended = await machine.ask(provider, ['--mode', 'plan', '--json']);

  expect(ended.exitCode, ended.stderr).toBe(0);
  const events = ended.events();
  const notices = events.filter((event) => event.type === 'chunk' && event.source === 'notice');
  expect(notices).toHaveLength(1);
  expect(JSON.stringify(notices)).toMatch(/WritePlanTool_begin, read_file_and_delete.*ACT mode/);
  expect(events.filter((event) => event.type === 'tool_result')).toMatchObject([
    { toolName: 'WritePlanTool_begin', ok: false },
    { toolName: 'read_file_and_delete', ok: false },
  ]);
  expect(
    sent(provider.requests)[1]?.messages.filter((message) => message.role === 'tool'),
  ).toHaveLength(2);
  expect(events.at(-1)).toMatchObject({ type: 'done', fullContent: 'ok', status: 'complete' });
  expect(await machine.exists('d')).toBe(false);
  expect(await machine.sessions()).toEqual([]);
});

test.concurrent('an unknown protocol is a usage error that names the known ones', async ({
  machine,
}) => {
  const ended = await machine.run(['run', 'x', '--model', 'm', '--protocol', 'loop']);
  expect(ended.exitCode).toBe(2);
  expect(ended.stderr).toBe(
    'orion: PROTOCOL_UNSUPPORTED: --protocol: there is no protocol "loop".\n  Choose one of: standard, two-stage, controller.\n',
  );
});

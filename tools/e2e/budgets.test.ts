// @module-tag long
import { expect } from 'vitest';

import { beginCall, LAST_WORD } from './support/scripts.ts';
import { test } from './support/test.ts';

test.concurrent('--max-turns stops with exit code 5 and asks nothing more (R251)', async ({
  machine,
}) => {
  await machine.write('a.txt', 'x\n');
  const provider = await machine.provider({
    behaviours: [
      { reply: { text: 'Hm. ', toolCalls: [{ name: 'read_file', arguments: { path: 'a.txt' } }] } },
    ],
  });
  const ended = await machine.ask(provider, ['--max-turns', '2', '--json']);
  expect(ended.exitCode, ended.stderr).toBe(5);
  expect(provider.requests).toHaveLength(2);
  expect(ended.events().at(-1)).toMatchObject({
    type: 'done',
    status: 'stopped',
    stopReason: 'max_turns',
    fullContent: 'Hm. Hm. ',
  });
});

test.concurrent('a budget that ends while a file streams leaves the session recoverable (R170, R251)', async ({
  machine,
}) => {
  const lines = Array.from({ length: 400 }, (_, index) => `this is line number ${index}\n`).join(
    '',
  );
  const provider = await machine.provider({
    behaviours: [
      { when: { toolChoice: 'none' }, shape: { chunk: 40 }, reply: { text: `${lines}DONE` } },
      beginCall({ target_file: 'long.txt' }),
      LAST_WORD,
    ],
  });

  const ended = await machine.ask(provider, ['--max-tokens', '1000', '--json']);

  expect(ended.exitCode, ended.stderr).toBe(3);
  expect(ended.events().at(-1)).toMatchObject({
    type: 'done',
    status: 'paused',
    stopReason: 'max_tokens',
  });
  expect(ended.result().paused).toMatchObject([
    { target_file: 'long.txt', code: 'BUDGET_EXHAUSTED' },
  ]);
  // No model call follows the one that was cut.
  expect(provider.requests).toHaveLength(2);
  expect(await machine.exists('long.txt')).toBe(false);
  const [session] = await machine.sessions();
  const saved = String(await session?.content());
  expect(saved.length).toBeGreaterThan(1000);
  expect(lines.startsWith(saved)).toBe(true);

  const recovered = await machine.run(['recover-session', session?.id ?? '', '--out', 'out.txt']);
  expect(recovered.exitCode, recovered.stderr).toBe(0);
  expect(String(await machine.read('out.txt'))).toBe(saved);
});

test.concurrent('--max-seconds ends a provider that has gone silent in the middle of a file', async ({
  machine,
}) => {
  const provider = await machine.provider({
    behaviours: [
      {
        when: { toolChoice: 'none' },
        reply: { text: 'first line\nsecond line\nDONE' },
        faults: [{ kind: 'stall', at: { lines: 1 } }],
      },
      beginCall({ target_file: 'a.txt' }),
    ],
  });
  const ended = await machine.ask(provider, ['--json'], { env: { ORION_MAX_SECONDS: '3' } });
  expect(ended.exitCode, ended.stderr).toBe(3);
  expect(ended.events().at(-1)).toMatchObject({ status: 'paused', stopReason: 'max_seconds' });
  const [session] = await machine.sessions();
  expect(String(await session?.content())).toBe('first line\n');
});

test.concurrent('the stop policy ends a model that streams without end, and it still answers (R169)', async ({
  machine,
}) => {
  const provider = await machine.provider({
    behaviours: [
      { when: { system: 'Answer now' }, reply: { text: 'In short: no.' } },
      { shape: { chunk: 200 }, reply: { text: 'blah '.repeat(20_000) } },
    ],
  });
  const ended = await machine.ask(provider, ['--json'], { env: { ORION_STOP_TOKENS: '500' } });
  expect(ended.exitCode, ended.stderr).toBe(5);
  expect(ended.events().at(-1)).toMatchObject({ status: 'stopped', stopReason: 'tokens' });
  expect(JSON.stringify(ended.events().at(-1))).toContain('In short: no.');
});

test.concurrent('a budget that leaves no call for a correction pauses the session, and replaces nothing', async ({
  machine,
}) => {
  const provider = await machine.provider({
    behaviours: [
      { when: { toolChoice: 'none' }, reply: { text: 'one\u0000two\nDONE' } },
      beginCall({ target_file: 'a.txt' }),
    ],
  });
  const ended = await machine.ask(provider, ['--max-turns', '2', '--json']);
  expect(ended.exitCode, ended.stderr).toBe(3);
  expect(provider.requests).toHaveLength(2);
  expect(ended.result()).toMatchObject({
    status: 'paused',
    stopReason: 'max_turns',
    receipts: [],
    paused: [{ target_file: 'a.txt', code: 'BUDGET_EXHAUSTED' }],
  });
  expect(await machine.exists('a.txt')).toBe(false);
});

test.concurrent('a model that falls silent is left after ORION_STOP_SECONDS, and the turn still has its answer (R169)', async ({
  machine,
}) => {
  const provider = await machine.provider({
    behaviours: [
      { when: { system: 'Answer now' }, reply: { text: 'In short: no.' } },
      { reply: { text: 'Let me think.' }, faults: [{ kind: 'stall', at: { characters: 8 } }] },
    ],
  });
  const ended = await machine.ask(provider, ['--json', '--protocol', 'two-stage'], {
    env: { ORION_STOP_SECONDS: '2' },
  });
  expect(ended.exitCode, ended.stderr).toBe(5);
  expect(provider.requests).toHaveLength(2);
  expect(ended.events().at(-1)).toMatchObject({
    status: 'stopped',
    stopReason: 'time',
    fullContent: expect.stringMatching(/^Let me.*In short: no\.$/),
  });
});

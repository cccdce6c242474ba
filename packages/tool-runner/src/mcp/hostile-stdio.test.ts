import type { OrionError } from '@orion/contracts';
import { expect, test } from 'vitest';

import { call, client, never, program } from './testing/made-servers.ts';

/** Hazard: a program that does not do what the protocol says, in the middle of a call. */

const KEY = 'canary-0123456789';
const LIMITS = { idleMs: 500, callMs: 1_000, messageBytes: 1 << 20, messages: 200 };

const ENDLESS = 'const more = () => process.stdout.write(TEXT, more); more();';

const ACTS: Readonly<Record<string, readonly [act: string, error: RegExp]>> = {
  'a flood of messages': [
    ENDLESS.replace('TEXT', `'{"jsonrpc":"2.0","method":"notifications/x"}\\n'.repeat(100)`),
    /it sent more than 200 messages in one call/u,
  ],
  'a flood of other lines': [
    ENDLESS.replace('TEXT', String.raw`'hello\n'.repeat(100)`),
    /it sent more than 200 messages in one call/u,
  ],
  'an endless line': [
    ENDLESS.replace('TEXT', "'x'.repeat(10_000)"),
    /it sent a message of more than 1048576 bytes/u,
  ],
  silence: ['', /it did not answer: 0.5 s passed without progress/u],
  'broken JSON': [
    String.raw`process.stdout.write('{"jsonrpc": "2.0", oops\n')`,
    /it sent a line that is not a JSON-RPC message/u,
  ],
  'a message of another version': [
    String.raw`process.stdout.write('{"jsonrpc": "1.0", "id":' + id + ',"result":{"content":[]}}\n')`,
    /it sent a line that is not a JSON-RPC message/u,
  ],
  'JSON that is nested too deeply': [
    `send({ id, result: { content: [], x: JSON.parse('['.repeat(600) + ']'.repeat(600)) } })`,
    /it sent a line that is not a JSON-RPC message/u,
  ],
  'a list of messages': [
    String.raw`process.stdout.write('[{"jsonrpc":"2.0","id":' + id + ',"result":{}}]\n')`,
    /it did not answer/u,
  ],
  'a result of another kind': [
    'send({ id, result: { content: [{ type: 7 }] } })',
    /it answered with what is not a result of the request/u,
  ],
  'no result': ['send({ id, result: 7 })', /it (?:answered|did not answer)/u],
  'the answer to another call': [
    `send({ id: 4711, result: { content: [] } })`,
    /it did not answer: 0.5 s passed without progress/u,
  ],
  'progress without end': [
    `setInterval(() => send({ method: 'notifications/progress', params: { progressToken: token, progress: 1 } }), 50)`,
    /it did not answer: 0.5 s passed without progress, or 1 s in all/u,
  ],
  'an exit': ['process.exit(3)', /it ended with exit code 3/u],
  'an exit in the middle of its answer': [
    `process.stdout.write('{"jsonrpc":"2.0","id":', () => process.exit(0))`,
    /it ended with exit code 0/u,
  ],
  'a signal': ["process.kill(process.pid, 'SIGKILL')", /it was ended by SIGKILL/u],
  'standard output closed': [
    "require('node:fs').closeSync(1)",
    /it did not answer: 0.5 s passed without progress/u,
  ],
  'an error with its key': [
    `send({ id, error: { code: -32000, message: 'no: ' + 'x'.repeat(990) + '${KEY}' } })`,
    /it answered with an error: no: x{990}\[REDAC\.$/u,
  ],
};

test.for(Object.entries(ACTS))('fails a call with a reason: %s', async ([, [act, error]]) => {
  const called = client(program({ ACT: act }), LIMITS);
  await called.offer(never);
  const began = performance.now();
  const failed = await call(called, 'act').then(
    () => null,
    (cause: unknown) => cause as OrionError,
  );
  expect(failed?.message).toMatch(error);
  expect(failed?.message).not.toContain(KEY.slice(0, 6));
  const isRefused = error.source.includes('with an error');
  expect(failed?.hint?.includes('had any effect is not known') ?? false).toBe(!isRefused);
  expect(performance.now() - began).toBeLessThan(3_000);
});

test.for([
  [1_000, null],
  [1_001, 'it sent a message of more than 1000 bytes'],
] as const)('takes a line of %i bytes: %s', async ([length, why]) => {
  const act = `const text = JSON.stringify({ jsonrpc: '2.0', id, result: { content: [] } });
    process.stdout.write(text + ' '.repeat(${length} - text.length) + '\\n');`;
  // The list of tools is longer.
  const limits = { ...LIMITS, messageBytes: 1_000 };
  const called = call(client(program({ ACT: act, FEW: '1' }), limits), 'act');
  await (why === null
    ? expect(called).resolves.toBeDefined()
    : expect(called).rejects.toThrow(why));
});

test.for([
  [200, null],
  [201, 'it sent more than 200 messages in one call'],
] as const)('takes %i messages in a call: %s', async ([count, why]) => {
  const act = `for (let at = 1; at < ${count}; at += 1) send({ method: 'notifications/x' }); answer('');`;
  const called = call(client(program({ ACT: act }), LIMITS), 'act');
  await (why === null
    ? expect(called).resolves.toBeDefined()
    : expect(called).rejects.toThrow(why));
});

test('joins a message that arrives byte by byte', async () => {
  const act = `
    const result = { content: [{ type: 'text', text: 'gr\u00fc\u00df \u{1F30D}' }] };
    const bytes = [...Buffer.from(JSON.stringify({ jsonrpc: '2.0', id, result }) + '\\n')];
    const next = () => bytes.length > 0 && process.stdout.write(Buffer.from([bytes.shift()]), () => setTimeout(next));
    next();`;
  const called = client(program({ ACT: act }), { ...LIMITS, idleMs: 4_000 });
  expect(await call(called, 'act')).toMatchObject({ data: 'gr\u00fc\u00df \u{1F30D}' });
});

test('skips what a program logs to its standard output as JSON, from its start on', async () => {
  const lines = [
    JSON.stringify({ level: 'info', message: 'hello' }),
    JSON.stringify({ level: 'debug', received: { jsonrpc: '2.0', id: 1, method: 'x' } }),
    "{ level: 'info' }",
    `{ ${JSON.stringify('{"jsonrpc":"2.0"}')}`,
  ];
  const log = `${lines.join('\n')}\n`;
  const act = `process.stdout.write(${JSON.stringify(log)}, () => answer('done'));`;
  const called = client(program({ FIRST: log, ACT: act }), LIMITS);
  expect(await call(called, 'act')).toMatchObject({ data: 'done' });
});

test('takes the first of two answers to a call', async () => {
  const act = "answer('first'); answer('second');";
  expect(await call(client(program({ ACT: act }), LIMITS), 'act')).toMatchObject({ data: 'first' });
});

test('is not held up by a program that floods its standard error', async () => {
  const lines: string[] = [];
  const act = `
    process.stderr.write('0123456789'.repeat(1_000_000) + '\\n', () => {
      process.stderr.write('${KEY.slice(0, 9)}');
      setTimeout(() => process.stderr.write('${KEY.slice(9)}\\u00e9\\nlast', () => answer('done')), 50);
    });`;
  const called = client(program({ ACT: act }), { ...LIMITS, idleMs: 5_000 }, (_server, text) => {
    lines.push(text);
  });
  expect(await call(called, 'act')).toMatchObject({ data: 'done' });
  await called.close();
  expect(lines.join('').length).toBe(10_000_000 + `\n${KEY}\u00e9\nlast\n`.length);
  expect(Math.max(...lines.map(({ length }) => length))).toBeLessThan(100_000);
  // A key in whole, so that it can be found.
  expect(lines.some((line) => line.includes(`${KEY}\u00e9\n`))).toBe(true);
  expect(lines.at(-1)).toBe('last\n');
});

test('is closed only when nothing of a program is left that broke a limit before', async () => {
  let said = '';
  const act = String.raw`
    process.on('SIGTERM', () => setTimeout(process.exit, 300));
    process.stderr.write(process.pid + '\n', () => process.stdout.write('{"jsonrpc": oops\n'));
    setInterval(() => undefined, 1_000);`;
  const called = client(program({ ACT: act }), LIMITS, (_server, text) => {
    said += text;
  });
  await expect(call(called, 'act')).rejects.toThrow('it sent a line');
  await called.close();
  const pid = Number.parseInt(said, 10);
  expect(pid).toBeGreaterThan(1);
  expect(() => process.kill(pid, 0)).toThrow('ESRCH');
});

// @module-tag long
import type { TraceEvent } from '@orion/contracts';
import { expect } from 'vitest';

import { numbered, writeDocument } from './support/scripts.ts';
import { test } from './support/test.ts';

const CANARY = 'canary line';
const ROWS = numbered(CANARY, 1, 300, 3);

type Listed = { readonly request_id: string; readonly status: string; readonly task: string };

test('a turn of an earlier process can be listed, drawn at 80 columns and exported', async ({
  machine,
}) => {
  const provider = await machine.provider(
    writeDocument({ target: 'docs/rows.txt', content: ROWS }),
  );
  const ended = await machine.ask(provider, ['--json']);
  expect(ended.exitCode, ended.stderr).toBe(0);
  const requestId = ended.result().requestId ?? '';

  const listed = await machine.run(['trace', 'list', '--json']);
  const { traces } = JSON.parse(listed.stdout) as { readonly traces: readonly Listed[] };
  expect(traces).toMatchObject([{ request_id: requestId, task: 'message', status: 'complete' }]);
  expect((await machine.run(['trace', 'list'])).stdout).toMatch(/^REQUEST .*\n.* complete /u);

  const shown = await machine.run(['trace', 'show', requestId]);
  expect(shown.exitCode, shown.stderr).toBe(0);
  const lines = shown.stdout.split('\n');
  expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(80);
  expect(shown.stdout).toMatch(
    /write docs\/rows\.txt {2}finalized, 300 lines, 4,800 bytes {2,}\d+ m?s$/mu,
  );
  // oxlint-disable-next-line no-control-regex -- what must not be there
  expect(shown.stdout).not.toMatch(/[\u0000-\u0009\u000b-\u001f]/u);

  const exported = await machine.run(['trace', 'export', '--request', requestId]);
  const events = exported.stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as TraceEvent);
  const types = events.map((event) => event.type);
  expect(types[0]).toBe('turn_started');
  expect(types).toContain('write_session_finalized');
  expect(types.at(-1)).toBe('turn_ended');
  expect(new Set(events.map((event) => event.requestId))).toEqual(new Set([requestId]));
  expect(exported.stdout).not.toContain(CANARY);
  const all = await machine.run(['trace', 'export']);
  expect(all.stdout).toContain(exported.stdout);

  const unknown = await machine.run(['trace', 'show', 'nobody']);
  expect(unknown.exitCode).toBe(1);
  expect(unknown.stderr).toContain(
    'orion: TRACE_NOT_FOUND: There is no trace of a turn "nobody".\n',
  );
});

test('commands that read only what lies on the disk make no database', async ({ machine }) => {
  for (const args of [['--version'], ['list-sessions'], ['clean-sessions'], ['--help']]) {
    expect((await machine.run(args)).exitCode).toBe(0);
  }
  expect(await machine.exists('.orion')).toBe(false);
});

test('a workspace without turns has neither traces nor conversations, which is no failure', async ({
  machine,
}) => {
  for (const args of [
    ['trace', 'list'],
    ['trace', 'export'],
    ['conversations', 'list'],
  ]) {
    const ended = await machine.run(args);
    expect(ended.exitCode, ended.stderr).toBe(0);
    expect(ended.stdout).toBe('');
  }
  for (const args of [
    ['conversations', 'show', 'nobody'],
    ['trace', 'show', 'nobody'],
    ['trace', 'export', '--request', 'nobody'],
  ]) {
    const ended = await machine.run(args);
    expect(ended.exitCode, ended.stderr).toBe(1);
    expect(ended.stderr).toMatch(/^orion: [A-Z]+_NOT_FOUND: There is no .* "nobody"\.$/mu);
  }
  // To look leaves nothing behind.
  expect(await machine.exists('.orion')).toBe(false);
});

import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import {
  existsSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { systemClock } from '@orion/contracts';
import type {
  Clock,
  JsonObject,
  ProtectedChange,
  Tool,
  ToolOutput,
  ToolResult,
} from '@orion/contracts';
import { afterEach, beforeEach, expect, it } from 'vitest';

import { createToolRegistry } from '../registry/tool-registry.ts';
import { commandEnvironment } from './environment.ts';
import { createRunCommandTool } from './run-command.ts';
import type { RunCommandOptions } from './run-command.ts';
import { findSandbox } from './sandbox.ts';

/** Whether there can be a sandbox, decided without the code under test. */
const isPossible =
  spawnSync('bwrap', ['--ro-bind', '/', '/', '--unshare-all', 'true']).status === 0;

let root = '';
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'orion-run-command-')));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

function tool(options: Partial<RunCommandOptions> = {}): Tool {
  return createRunCommandTool({
    root,
    environment: commandEnvironment(process.env, []),
    sandboxMode: 'auto',
    findSandbox: async () => ({ kind: 'none', because: 'it is not installed' }),
    guard: async () => ({
      scope: { root, hidden: [], readOnly: [], allowNetwork: false },
      settle: async () => ({ changes: [], truncated: false }),
    }),
    clock: systemClock,
    createId: randomUUID,
    ...options,
  });
}

async function call(
  args: JsonObject,
  options: Partial<RunCommandOptions> = {},
): Promise<ToolResult> {
  const registry = createToolRegistry([tool(options)], { clock: systemClock });
  const [result] = await registry.executeToolCalls(
    [{ id: '1', name: 'run_command', arguments: JSON.stringify(args), state: 'complete' }],
    { projectId: 'p', requestId: 'r', mode: 'act', signal: new AbortController().signal },
  );
  if (result === undefined) throw new Error('no result');
  return result;
}

function output(args: JsonObject): Promise<ToolOutput> {
  return tool().execute(args, {
    projectId: 'p',
    requestId: 'r',
    toolCallId: '1',
    mode: 'act',
    signal: new AbortController().signal,
  });
}

it('runs a line in the workspace, and says that there was no sandbox', async () => {
  expect(await call({ command: 'pwd; exit 3' })).toMatchObject({
    success: true,
    result: {
      command: 'pwd; exit 3',
      exit_code: 3,
      duration_ms: expect.any(Number),
      protections: { sandbox: 'none', because: 'it is not installed' },
      output: `${root}\n`,
    },
  });
});

it.runIf(isPossible).each([
  [false, false, 'off', 'kept'],
  [true, true, 'on', 'some_kept'],
])(
  'runs it in a sandbox, with the network: %s, and says which protections held',
  async (allowNetwork, truncated, network, kept) => {
    const settled: boolean[] = [];
    const result = await call(
      { command: `echo $TMPDIR; cat seen secret; echo x > seen; echo x > new; echo x > ../beside` },
      {
        findSandbox: (signal) =>
          findSandbox(process.env['PATH'] ?? '', { root, clock: systemClock, signal }),
        sandboxMode: 'require',
        guard: async () => {
          writeFileSync(join(root, 'seen'), 'seen\n');
          writeFileSync(join(root, 'secret'), 'canary\n');
          const [hidden, readOnly] = [[join(root, 'secret')], [join(root, 'seen')]];
          return {
            scope: { root, hidden, readOnly, allowNetwork },
            async settle({ undo }) {
              settled.push(undo);
              return { changes: [], truncated };
            },
          };
        },
      },
    );
    expect(result).toMatchObject({
      success: true,
      result: {
        output: expect.stringMatching(/^\/tmp\nseen\n/u),
        protections: { sandbox: 'bubblewrap', network, protected_paths: kept },
      },
    });
    expect(JSON.stringify(result)).not.toContain('canary');
    expect(settled).toEqual([true]);
    expect(readFileSync(join(root, 'seen'), 'utf8')).toBe('seen\n');
    expect([join(root, 'new'), join(root, '../beside')].map((path) => existsSync(path))).toEqual([
      true,
      false,
    ]);
  },
);

it('refuses a line without a sandbox where one is required', async () => {
  expect(await call({ command: 'touch x' }, { sandboxMode: 'require' })).toMatchObject({
    success: false,
    error: {
      code: 'TOOL_NOT_ALLOWED',
      message: 'The command was not run: a sandbox is required, and it is not installed.',
      hint: 'Go on without commands, or ask the user to allow them without a sandbox.',
    },
  });
  expect(existsSync(join(root, 'x'))).toBe(false);
});

it('does not look for a sandbox that is switched off', async () => {
  const result = await call(
    { command: 'true' },
    { sandboxMode: 'off', findSandbox: () => Promise.reject(new Error('asked')) },
  );
  expect(result).toMatchObject({
    result: { protections: { sandbox: 'none', because: 'it is switched off' } },
  });
});

it.each([{ command: '' }, { command: ' \n' }, { command: 'a\0b' }, {}, { command: 'a', x: 1 }])(
  'refuses the arguments %j',
  async (args) => {
    expect(await call(args)).toMatchObject({
      error: {
        code: 'INVALID_TOOL_ARGUMENTS',
        message: expect.stringMatching(/^The arguments of run_command do not fit: \S/u),
        hint: 'Correct the named arguments and call again.',
      },
    });
  },
);

it('ends a line at the limit that the model sets, and never later than the own one', async () => {
  expect(await call({ command: 'sleep 60', timeout_seconds: 1 })).toMatchObject({
    result: { timed_out: true, exit_code: null, signal: 'SIGTERM' },
  });
  expect(await call({ command: 'sleep 60' }, { timeoutMs: 200 })).toMatchObject({
    result: { timed_out: true },
  });
  expect(await call({ command: 'true', timeout_seconds: 121 })).toMatchObject({
    error: { code: 'INVALID_TOOL_ARGUMENTS' },
  });
});

it('shows up to 4,000 characters whole, and of more both ends', async () => {
  const print = (count: number): string => `printf '%0${count}d' 7`;
  const whole = await output({ command: print(4_000) });
  expect(whole.result).toMatchObject({ output: '7'.padStart(4_000, '0') });
  const cut = await output({ command: print(4_001) });
  expect(cut.result).toMatchObject({
    output_start: '0'.repeat(2_000),
    output_end: '7'.padStart(2_000, '0'),
    output_bytes: 4_001,
  });
  expect(cut.stored).toMatchObject({
    command: print(4_001),
    exit_code: 0,
    protections: { sandbox: 'none' },
    output: '7'.padStart(4_001, '0'),
  });
});

it('says how a long line ended, and keeps the line whole', async () => {
  const line = `exit 3 # ${'"\u0001'.repeat(20_000)}`;
  const { result, stored } = await output({ command: line });
  expect(result).toMatchObject({ exit_code: 3, output: '', command: expect.stringMatching(/…$/u) });
  expect((result as { command: string }).command.length).toBeLessThanOrEqual(1_001);
  expect(JSON.stringify(result).length).toBeLessThan(16_384);
  expect(stored).toMatchObject({ command: line, exit_code: 3 });
});

it.each([
  ['control characters', "head -c 4000 /dev/zero | tr '\\0' '\\1'"],
  ['emojis', 'i=0; while [ $i -lt 2000 ]; do printf 😀; i=$((i+1)); done'],
])('shows an output of %s in a result that is not too large', async (name, line) => {
  const { result, stored } = await output({ command: line });
  expect(JSON.stringify(result).length).toBeLessThan(16_384);
  expect(result).toHaveProperty(name === 'emojis' ? 'output' : 'output_end');
  expect((stored as { output: string }).output).toHaveLength(4_000);
});

it('leaves the middle of an output beyond 16 MiB out, and counts it', async () => {
  const { stored } = await output({ command: 'yes | head -c 17000000' });
  const limit = 16 * 1024 * 1024;
  expect(stored).toMatchObject({ omitted_bytes: 17_000_000 - limit, output_bytes: 17_000_000 });
  const { output_start: start, output_end: end } = stored as Record<string, string>;
  expect([start?.length, end?.length]).toEqual([limit / 2, limit / 2]);
});

it('does not cut a character of an output in two', async () => {
  const line = (before: string, after: string): string =>
    `printf '${before}'; printf '😀%.0s' $(seq 2001); printf '${after}'`;
  expect((await output({ command: line('a', 'b') })).result).toMatchObject({
    output_start: `a${'😀'.repeat(999)}`,
    output_end: `${'😀'.repeat(999)}b`,
  });
  expect((await output({ command: line('', '') })).result).toMatchObject({
    output_start: '😀'.repeat(1_000),
    output_end: '😀'.repeat(1_000),
  });
});

it('names the processes that a line has left running', async () => {
  const result = await call({ command: 'sleep 60 & sleep 0.1' });
  if (process.platform === 'linux')
    expect(result).toMatchObject({
      result: { ended_processes: [expect.stringMatching(/^sleep \(\d+\)$/)] },
    });
});

it('is cancelled with its turn', async () => {
  const turn = new AbortController();
  const registry = createToolRegistry([tool()], { clock: systemClock });
  const running = registry.executeToolCalls(
    [{ id: '1', name: 'run_command', arguments: '{"command":"sleep 60"}', state: 'complete' }],
    { projectId: 'p', requestId: 'r', mode: 'act', signal: turn.signal },
  );
  setTimeout(() => turn.abort(), 50);
  expect(await running).toMatchObject([{ success: false, error: { code: 'ABORTED' } }]);
});

it('is not run when its turn ends before it has begun, and looks at protected paths all the same', async () => {
  const turn = new AbortController();
  let settled = 0;
  const running = tool({
    async guard() {
      turn.abort();
      return {
        scope: { root, hidden: [], readOnly: [], allowNetwork: false },
        async settle() {
          settled += 1;
          return { changes: [], truncated: false };
        },
      };
    },
  }).execute(
    { command: 'touch ran; sleep 60' },
    { projectId: 'p', requestId: 'r', toolCallId: '1', mode: 'act', signal: turn.signal },
  );
  await expect(running).rejects.toMatchObject({ code: 'ABORTED' });
  expect(settled).toBe(1);
  expect(existsSync(join(root, 'ran'))).toBe(false);
});

const CHANGES: readonly ProtectedChange[] = [
  { path: '.npmrc', change: 'created', movedTo: '.orion/set_aside/1/.npmrc', restored: false },
  { path: '.git', change: 'removed', movedTo: null, restored: true },
  { path: 'a\u202e/.envrc', change: 'created', movedTo: null, restored: false },
  ...Array.from({ length: 20 }, (_, at): ProtectedChange => ({
    path: `${at}/.env`,
    change: 'changed',
    movedTo: null,
    restored: false,
  })),
];
const SENTENCE =
  'Protected paths: .npmrc (created, moved to .orion/set_aside/1/.npmrc), .git (removed, restored), ' +
  'a\\u{202e}/.envrc (created) and 20 more.';

function guarded(
  changes: readonly ProtectedChange[],
  order: string[] = [],
): RunCommandOptions['guard'] {
  return async () => ({
    scope: { root, hidden: [], readOnly: [], allowNetwork: false },
    async settle({ undo }) {
      order.push(existsSync(join(root, 'last')) ? `settled, undo ${undo}` : 'too early');
      return { changes, truncated: true };
    },
  });
}

it('names what a line did to protected paths, once nothing of it runs', async () => {
  const order: string[] = [];
  const result = await call(
    { command: '(sleep 0.2; touch last) & sleep 0.3' },
    { guard: guarded(CHANGES, order) },
  );
  expect(order).toEqual(['settled, undo false']);
  expect(result).toMatchObject({
    success: true,
    result: {
      protected_changes: [
        { path: '.npmrc', change: 'created', moved_to: '.orion/set_aside/1/.npmrc' },
        { path: '.git', change: 'removed', restored: true },
        { path: 'a\u202e/.envrc', change: 'created' },
        ...CHANGES.slice(3, 20).map(({ path, change }) => ({ path, change })),
      ],
      more_protected_changes: 3,
      protected_hint: expect.stringContaining('ask the user'),
    },
  });
  const summary = result.success ? tool().summarize?.(result.result) : undefined;
  expect(summary?.slice(0, SENTENCE.length + 18)).toBe(`${SENTENCE} exit code 0 after`);
  expect((await output({ command: 'true' })).result).not.toHaveProperty('protected_hint');
  const twenty = await call({ command: 'true' }, { guard: guarded(CHANGES.slice(0, 20)) });
  expect(twenty).not.toHaveProperty('result.more_protected_changes');
  const four = await call({ command: 'true' }, { guard: guarded(CHANGES.slice(0, 4)) });
  expect(four).not.toHaveProperty('result.more_protected_changes');
  expect(four.success && tool().summarize?.(four.result)).toMatch(
    / and 1 more\. exit code 0 after \d+\.\d s: true$/u,
  );
});

it('names it, too, when the line is ended with its turn', async () => {
  const turn = new AbortController();
  setTimeout(() => turn.abort(), 200);
  const running = tool({ guard: guarded(CHANGES.slice(0, 1)) }).execute(
    { command: 'touch last; sleep 60' },
    { projectId: 'p', requestId: 'r', toolCallId: '1', mode: 'act', signal: turn.signal },
  );
  await expect(running).rejects.toMatchObject({
    code: 'ABORTED',
    message:
      'The command was ended with the turn. Protected paths: .npmrc (created, moved to .orion/set_aside/1/.npmrc).',
  });
});

it('looks at protected paths, too, when a line could not be started', async () => {
  writeFileSync(join(root, 'last'), '');
  const order: string[] = [];
  const guard = guarded([], order);
  await expect(
    call({ command: 'true' }, { guard, root: join(root, 'none') }),
  ).resolves.toMatchObject({
    success: false,
    error: { code: 'TOOL_FAILED' },
  });
  expect(order).toEqual(['settled, undo false']);
});

it('shows a person where a line runs, before they agree', () => {
  expect(tool().action?.({ command: 'npm test' })).toEqual({
    kind: 'command',
    command: 'npm test',
    folder: root,
  });
});

it('is not run in PLAN mode', async () => {
  const registry = createToolRegistry([tool()]);
  expect(registry.definitions('plan')).toEqual([]);
});

it('passes on of the environment what programs need, and no key', () => {
  const given = {
    PATH: '/bin',
    HOME: '/h',
    LANG: 'C',
    LC_ALL: 'C',
    TMPDIR: '/t',
    TERM: 'xterm',
    TZ: undefined,
    OPENAI_API_KEY: 'canary',
    SSH_AUTH_SOCK: 'canary',
    NODE_OPTIONS: 'canary',
    MINE: 'm',
  };
  const needed = { PATH: '/bin', HOME: '/h', LANG: 'C', LC_ALL: 'C', TMPDIR: '/t' };
  expect(commandEnvironment(given, [])).toStrictEqual({ ...needed, TERM: 'dumb', NO_COLOR: '1' });
  expect(commandEnvironment(given, ['MINE', 'TERM'])).toStrictEqual({
    ...needed,
    MINE: 'm',
    TERM: 'dumb',
    NO_COLOR: '1',
  });
});

it.each<[JsonObject, string]>([
  [{ exit_code: 0, duration_ms: 1_240 }, 'exit code 0 after 1.2 s: npm test'],
  [
    { exit_code: null, signal: 'SIGKILL', duration_ms: 0 },
    'ended by SIGKILL after 0.0 s: npm test',
  ],
  [
    { timed_out: true, signal: 'SIGTERM', duration_ms: 9 },
    'ended at its time limit after 0.0 s: npm test',
  ],
])('sums %j up', (facts, summary) => {
  expect(tool().summarize?.({ command: 'npm test', ...facts })).toBe(summary);
});

it('begins each line in the workspace, wherever the one before went', async () => {
  expect(await call({ command: 'mkdir sub && cd sub && cd / && pwd' })).toMatchObject({
    result: { output: '/\n' },
  });
  expect(await call({ command: 'pwd; cd sub; rmdir ../sub; pwd' })).toMatchObject({
    result: { output: `${root}\n${root}/sub\n` },
  });
  expect(await call({ command: 'pwd' })).toMatchObject({ result: { output: `${root}\n` } });
});

it('has an empty standard input, so that what asks goes on', async () => {
  const asking = 'read -r answer; echo "[$answer]"; cat; [ -t 0 ] || echo no terminal';
  expect(await call({ command: asking })).toMatchObject({
    result: { exit_code: 0, output: '[]\nno terminal\n' },
  });
});

it('passes a reported line on while it runs, and none when it has ended', async () => {
  const messages: string[] = [];
  const pending = new Set<symbol>();
  const clock: Clock = {
    ...systemClock,
    schedule(milliseconds, callback) {
      const timer = Symbol('timer');
      pending.add(timer);
      const cancel = systemClock.schedule(milliseconds, () => {
        pending.delete(timer);
        callback();
      });
      return () => {
        pending.delete(timer);
        cancel();
      };
    },
  };
  const registry = createToolRegistry([tool({ clock })], { clock: systemClock });
  const running = registry.executeToolCalls(
    [
      {
        id: '1',
        name: 'run_command',
        arguments: '{"command":"echo one; sleep 1.2"}',
        state: 'complete',
      },
    ],
    {
      projectId: 'p',
      requestId: 'r',
      mode: 'act',
      signal: new AbortController().signal,
      onProgress: ({ message }) => messages.push(message),
    },
  );
  expect((await running)[0]).toMatchObject({ success: true });
  expect(messages).toEqual(['1 s, 4 B: one']);
  expect(pending.size).toBe(0);
});

it('redacts what a line prints before it is cut', async () => {
  const key = 'a-key-in-use-0123456789';
  const redact = (text: string) => text.replaceAll(key, '[REDACTED]');
  const line = `i=0; while [ $i -lt 500 ]; do echo ${key}; i=$((i+1)); done`;
  const { result } = (await call({ command: line }, { redact })) as { result: JsonObject };
  expect(result['output_start']).toMatch(/^\[REDACTED\]\n/);
  expect(JSON.stringify([result['output_start'], result['output_end']])).not.toMatch(/a-key|6789/);
  expect((await call({ command: `printf '${key}'` }, { redact })) as object).toMatchObject({
    result: { output: '[REDACTED]' },
  });
});

it('refuses a line that is too long for the system, and says what to do', async () => {
  const longest = `: ${'x'.repeat(131_069)}`;
  expect(await call({ command: longest }, { sandboxMode: 'off' })).toMatchObject({ success: true });
  expect(await call({ command: `${longest}x` }, { sandboxMode: 'off' })).toMatchObject({
    error: {
      code: 'INVALID_TOOL_ARGUMENTS',
      message: 'The line has 131072 bytes; at most 131071 can be run.',
      hint: 'Write a script with WritePlanTool_begin, and run that.',
    },
  });
});

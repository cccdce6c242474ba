import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { systemClock } from '@orion/contracts';
import type { JsonObject, Workspace } from '@orion/contracts';
import { createToolRegistry } from '@orion/tool-runner';
import { beforeEach, describe, expect, it } from 'vitest';

import { DEFAULT_SETTINGS } from '../config/settings.ts';
import type { Settings } from '../config/settings.ts';
import { openWorkspace, temporaryDirectory } from '../testing/set-up.ts';
import { createCommandTool } from './command-tool.ts';

let root = '';
let home = '';
let userDirectory = '';
let programs = '';
let workspace: Workspace;
beforeEach(async () => {
  root = await temporaryDirectory();
  home = await temporaryDirectory();
  userDirectory = await temporaryDirectory();
  programs = await temporaryDirectory();
  workspace = await openWorkspace(root, systemClock);
});

/** Stands for bubblewrap: notes what it is asked for, and runs the command without any protection. */
function installSandbox(trial = ''): void {
  const script = [
    '#!/bin/sh',
    `printf '%s\\n' "$@" > '${programs}/asked'; echo x >> '${programs}/count'`,
    trial,
    'while [ "$1" != -- ]; do shift; done; shift; exec "$@"',
  ];
  writeFileSync(join(programs, 'bwrap'), `${script.join('\n')}\n`, { mode: 0o700 });
}
const asked = (): string => readFileSync(join(programs, 'asked'), 'utf8').replaceAll('\n', ' ');
const trials = (): number => readFileSync(join(programs, 'count'), 'utf8').length / 2;

function commandTool(settings: Partial<Settings> = {}, owned = true) {
  return createCommandTool({
    commands: {
      environment: { PATH: `${programs}:/usr/bin:/bin`, GIVEN: 'given' },
      home: owned ? home : null,
    },
    settings: { ...DEFAULT_SETTINGS, ...settings },
    workspace,
    userDirectory: owned ? userDirectory : undefined,
    clock: systemClock,
    redact: (text) => text.replaceAll('canary', '[REDACTED]'),
  });
}

async function run(command: string, tool = commandTool(), signal?: AbortSignal) {
  const registry = createToolRegistry([tool], { clock: systemClock });
  const [result] = await registry.executeToolCalls(
    [{ id: '1', name: 'run_command', arguments: JSON.stringify({ command }), state: 'complete' }],
    {
      projectId: 'p',
      requestId: 'r',
      mode: 'act',
      signal: signal ?? new AbortController().signal,
    },
  );
  if (result === undefined) throw new Error('no result');
  return result;
}

async function resultOf(...call: Parameters<typeof run>): Promise<JsonObject> {
  const result = await run(...call);
  if (!result.success) throw new Error(result.error.message);
  return result.result as JsonObject;
}

it('runs in the workspace with the environment that it is given', async () => {
  expect(await resultOf('pwd; echo $GIVEN', commandTool({ sandbox: 'off' }))).toMatchObject({
    output: `${root}\ngiven\n`,
    protections: { sandbox: 'none', because: 'it is switched off' },
  });
});

it('redacts what a line prints', async () => {
  expect(await resultOf('echo a canary', commandTool({ sandbox: 'off' }))).toMatchObject({
    output: 'a [REDACTED]\n',
  });
});

it('ends at the limit of the settings', async () => {
  const result = await resultOf('sleep 60', commandTool({ sandbox: 'off', commandSeconds: 1 }));
  expect(result).toMatchObject({ timed_out: true });
  expect(result['duration_ms']).toBeGreaterThanOrEqual(900);
});

describe.skipIf(process.platform !== 'linux')('the sandbox', () => {
  it('keeps what is protected, hides what is secret, and is tried once', async () => {
    installSandbox();
    mkdirSync(join(root, '.git'));
    writeFileSync(join(root, '.env'), '');
    mkdirSync(join(home, '.ssh'));
    const tool = commandTool();
    expect(await resultOf('echo one', tool)).toMatchObject({
      output: 'one\n',
      protections: { sandbox: 'bubblewrap', network: 'off', protected_paths: 'kept' },
    });
    for (const path of [join(root, '.git'), join(root, '.env')])
      expect(asked()).toContain(`--ro-bind ${path} ${path} `);
    // It exists before the first command, which could make it otherwise.
    for (const path of [join(root, '.orion'), userDirectory, join(home, '.ssh')])
      expect(asked()).toContain(`--tmpfs ${path} --remount-ro ${path} `);
    expect(asked()).not.toContain(`--ro-bind ${join(root, '.orion')}`);
    expect(asked()).toContain(`--bind ${root} ${root} --chdir ${root} `);
    expect(asked()).toContain('--unshare-net');
    await resultOf('echo two', tool);
    expect(trials()).toBe(3);
  });

  it('hides no home where there is none, and allows the network where the settings do', async () => {
    installSandbox();
    mkdirSync(join(home, '.ssh'));
    const result = await resultOf('true', commandTool({ allowNetwork: true }, false));
    expect(result).toMatchObject({ protections: { network: 'on' } });
    expect(asked()).not.toContain('--unshare-net');
    expect(asked()).not.toContain(home);
    expect(asked()).not.toContain(userDirectory);
  });

  it('takes a protected file that a line makes away, and leaves it without a sandbox', async () => {
    installSandbox();
    expect(await resultOf('echo x > .npmrc')).toMatchObject({
      protected_changes: [{ path: '.npmrc', change: 'created' }],
    });
    expect(existsSync(join(root, '.npmrc'))).toBe(false);
    expect(readdirSync(join(root, '.orion/set_aside'))).toHaveLength(1);
    expect(await resultOf('echo x > .npmrc', commandTool({ sandbox: 'off' }))).toMatchObject({
      protected_changes: [{ path: '.npmrc', change: 'created' }],
    });
    expect(existsSync(join(root, '.npmrc'))).toBe(true);
  });

  it('is looked for again for another turn if the one that tried it ends', async () => {
    installSandbox(`[ -e '${programs}/ready' ] || sleep 60`);
    const tool = commandTool();
    const turn = new AbortController();
    const running = run('true', tool, turn.signal);
    while (!existsSync(join(programs, 'asked')))
      await new Promise((settle) => setTimeout(settle, 5));
    const another = resultOf('true', tool);
    writeFileSync(join(programs, 'ready'), '');
    turn.abort();
    expect(await running).toMatchObject({ success: false, error: { code: 'ABORTED' } });
    expect(await another).toMatchObject({ protections: { sandbox: 'bubblewrap' } });
  });

  it('is required by the settings alone', async () => {
    installSandbox('exit 1');
    expect(await resultOf('true')).toMatchObject({ protections: { sandbox: 'none' } });
    expect(await run('true', commandTool({ sandbox: 'require' }))).toMatchObject({
      success: false,
      error: { code: 'TOOL_NOT_ALLOWED' },
    });
  });
});

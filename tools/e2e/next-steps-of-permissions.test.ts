// @module-tag long
import { execFileSync } from 'node:child_process';
import { link } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect } from 'vitest';

import type { Sandbox } from './support/sandbox.ts';
import { writeMessages } from './support/scripts.ts';
import { test } from './support/test.ts';

/** Hazard: what a person allowed for one command is refused by the next one, which is printed as the next step. */

const TEXT = 'A=1\nB=2\n';

async function paused(
  machine: Sandbox,
  target: string,
  options: readonly string[],
  operation = 'create',
): Promise<readonly string[]> {
  const provider = await machine.provider(writeMessages(target, [TEXT], { operation }));
  const ended = await machine.ask(provider, [...options, '--json'], {
    env: { WRITE_SESSION_IDLE_MS: '0' },
  });
  expect(ended.exitCode, ended.stderr).toBe(3);
  return ended.result().paused[0]?.commands ?? [];
}

/** A command as a shell divides it. */
function wordsOf(command: string): readonly string[] {
  const said = execFileSync('/bin/sh', ['-c', `printf '%s\\0' ${command}`], { encoding: 'utf8' });
  return said.split('\0').slice(0, -1);
}

async function runPrinted(machine: Sandbox, commands: readonly string[], option: string) {
  const command = commands.find((each) => each.includes(option)) ?? '';
  const [name, ...args] = wordsOf(command);
  expect(name).toBe('orion');
  return machine.run(args);
}

describe('R048, R074, R255: the commands of a session whose target needed a yes', () => {
  test.concurrent.for([
    ['.env', '.env'],
    [".github/it's [one].yml", '.github/**'],
  ] as const)('%s: --finalize as it is printed', async ([target, glob], { machine }) => {
    await machine.write('.github/other.yml', '');
    const commands = await paused(machine, target, ['--allow-path', glob]);
    const ended = await runPrinted(machine, commands, '--finalize');
    expect(ended.exitCode, ended.stderr).toBe(0);
    expect(String(await machine.read(target))).toBe(TEXT);
  });

  test.concurrent('the recovery by the model, and what is put aside needs nothing', async ({
    machine,
  }) => {
    const commands = await paused(machine, '.env', ['--allow-path', '.env']);
    expect(commands[0]).toMatch(/^orion recover-session \S+ --allow-path \.env$/u);
    expect(commands.at(-1)).toMatch(/--discard$/u);
    const ended = await runPrinted(machine, commands, '--discard');
    expect(ended.exitCode, ended.stderr).toBe(0);
  });

  test.concurrent('a file with more than one name', async ({ machine }) => {
    await machine.write('a.txt', 'old\n');
    await link(join(machine.workspace, 'a.txt'), join(machine.workspace, 'b.txt'));
    const commands = await paused(machine, 'a.txt', ['--allow-hard-link'], 'overwrite');
    const ended = await runPrinted(machine, commands, '--finalize');
    expect(ended.exitCode, ended.stderr).toBe(0);
    expect(String(await machine.read('a.txt'))).toBe(TEXT);
  });

  test.concurrent('a target that needed none', async ({ machine }) => {
    const commands = await paused(machine, 'a.txt', ['--allow-path', '.env']);
    expect(commands.join('\n')).not.toContain('--allow');
  });
});

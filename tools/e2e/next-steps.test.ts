import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect } from 'vitest';

import type { Sandbox } from './support/sandbox.ts';
import { numbered, writeMessages } from './support/scripts.ts';
import { longTest, test } from './support/test.ts';

/** Hazard: a next step that fails, that is meant for the model, or that has to be completed by guessing. */

const TEXT = numbered('const value', 1, 3);

/** A session that is paused with this text. */
async function paused(
  machine: Sandbox,
  text: string,
): Promise<{
  readonly id: string;
  readonly directory: string;
  readonly commands: readonly string[];
}> {
  const provider = await machine.provider(writeMessages('a.ts', [text]));
  const ended = await machine.ask(provider, ['--json'], { env: { WRITE_SESSION_IDLE_MS: '0' } });
  expect(ended.exitCode, ended.stderr).toBe(3);
  const [session] = ended.result().paused;
  return {
    id: session?.session_id ?? '',
    directory: session?.session_dir ?? '',
    commands: session?.commands ?? [],
  };
}

/** What `--finalize` says went wrong, and below it the next step. */
async function refused(
  machine: Sandbox,
  id: string,
  ...options: readonly string[]
): Promise<{ readonly message: string; readonly hint: string }> {
  const { stderr } = await machine.run(['recover-session', id, '--finalize', ...options]);
  const lines = stderr.split('\n');
  const at = lines.findIndex((line) => line.startsWith('orion: '));
  expect(at, stderr).not.toBe(-1);
  expect(stderr).not.toContain('<id>');
  return { message: lines[at] ?? '', hint: (lines[at + 1] ?? '').trim() };
}

describe('R074: the next step that is printed names this session and can be taken', () => {
  test.concurrent('nothing is saved: no command writes it, the model may', async ({ machine }) => {
    const { id, commands } = await paused(machine, '');
    expect(commands).toEqual([
      `orion recover-session ${id}`,
      `orion recover-session ${id} --discard`,
    ]);
    const { message, hint } = await refused(machine, id);
    expect(message).toContain('EMPTY_CONTENT');
    expect(hint).toContain(`\`orion recover-session ${id}\``);
    expect(hint).not.toContain('DONE');
  });

  longTest('--end-at where nothing is asked: all of it, or a copy to cut', async ({ machine }) => {
    const { id } = await paused(machine, TEXT);
    const { message, hint } = await refused(machine, id, '--end-at', '2');
    expect(message).toContain('No question is open');
    expect(hint).toContain(`orion recover-session ${id} --finalize`);
    expect(hint).toContain(`orion recover-session ${id} --out saved.txt`);
  });

  test.concurrent('an open question: the session itself, and its options', async ({ machine }) => {
    const { id } = await paused(machine, `${TEXT}**DONE**`);
    const { message, hint } = await refused(machine, id);
    expect(message).toContain('--answer keep');
    expect(hint).toContain(`orion recover-session ${id} --finalize`);
  });

  longTest(
    'another file in its place: --on-conflict, not another operation',
    async ({ machine }) => {
      const { id } = await paused(machine, TEXT);
      await machine.write('a.ts', 'somebody else\n');
      const { message, hint } = await refused(machine, id);
      expect(message).toContain('FILE_EXISTS');
      expect(hint).toContain('--on-conflict=overwrite');
      expect(hint).toContain('--on-conflict=keep-both');
      expect(hint).not.toContain('append');
    },
  );

  longTest('damaged: a copy', async ({ machine }) => {
    const damaged = await paused(machine, TEXT);
    await rm(join(damaged.directory, 'metadata.json'));
    const { message, hint } = await refused(machine, damaged.id);
    expect(message).toContain('SESSION_DAMAGED');
    expect(hint).toContain(`orion recover-session ${damaged.id} --out saved.txt`);
  });

  test.concurrent('foreign: a copy, and the reason once', async ({ machine }) => {
    const foreign = await paused(machine, TEXT);
    const metadata = join(foreign.directory, 'metadata.json');
    await writeFile(metadata, (await readFile(metadata, 'utf8')).replaceAll('a.ts', 'b.ts'));
    const { message, hint } = await refused(machine, foreign.id);
    expect(message).toContain('SESSION_FOREIGN');
    expect(`${message} ${hint}`.match(/made by you/gu)).toHaveLength(1);
    expect(hint).toContain(`orion recover-session ${foreign.id} --out saved.txt`);
  });
});

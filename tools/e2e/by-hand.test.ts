// @module-tag long
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect } from 'vitest';

import type { Sandbox } from './support/sandbox.ts';
import { numbered, writeMessages } from './support/scripts.ts';
import { longTest, test } from './support/test.ts';

const TEXT = numbered('const value', 1, 12);

/** A session that waits for a person; the text has no marker. */
async function paused(
  machine: Sandbox,
  { target = 'a.ts', text = TEXT, operation = 'create' } = {},
): Promise<string> {
  const provider = await machine.provider(writeMessages(target, [text], { operation }));
  const ended = await machine.ask(provider, ['--json'], { env: { WRITE_SESSION_IDLE_MS: '0' } });
  expect(ended.exitCode, ended.stderr).toBe(3);
  const id = ended.result().paused[0]?.session_id ?? '';
  expect(ended.result().paused[0]?.commands).toContain(`orion recover-session ${id} --finalize`);
  return id;
}

describe('R074: recover-session', () => {
  test.concurrent('--finalize writes what is saved, without a provider', async ({ machine }) => {
    const id = await paused(machine);
    const ended = await machine.run(['recover-session', id, '--finalize', '--json']);
    expect(ended.exitCode, ended.stderr).toBe(0);
    expect(ended.result().receipts).toMatchObject([{ bytes: Buffer.byteLength(TEXT), lines: 12 }]);
    expect(String(await machine.read('a.ts'))).toBe(TEXT);
    expect(await machine.sessions()).toEqual([]);
  });

  longTest('--out copies the raw text and leaves the session as it is', async ({ machine }) => {
    const id = await paused(machine);
    const out = join(machine.root, 'copy.txt');
    const ended = await machine.run(['recover-session', id, '--out', out]);
    expect(ended.exitCode, ended.stderr).toBe(0);
    expect(await readFile(out, 'utf8')).toBe(TEXT);
    expect(await machine.sessions()).toHaveLength(1);
    const again = await machine.run(['recover-session', id, '--out', out]);
    expect(again.exitCode).toBe(1);
    expect(again.stderr).toMatch(
      /^orion: OUT_FILE_EXISTS: .*copy\.txt exists already and was not changed\.$/mu,
    );
  });

  longTest('--discard moves it to the attic, where it is still found', async ({ machine }) => {
    const id = await paused(machine);
    const ended = await machine.run(['recover-session', id, '--discard']);
    expect(ended.exitCode, ended.stderr).toBe(0);
    expect(await machine.sessions()).toEqual([]);
    expect(await machine.attic()).toEqual([id]);
    const finalized = await machine.run(['recover-session', id, '--finalize']);
    expect(finalized.exitCode, finalized.stderr).toBe(0);
    expect(String(await machine.read('a.ts'))).toBe(TEXT);
    expect(await machine.attic()).toEqual([]);
  });

  longTest(
    'an id that is unknown or no id at all: exit 1, SESSION_NOT_FOUND',
    async ({ machine }) => {
      for (const id of ['3f0c6b5e-8d4a-4c1b-9d57-0a1b2c3d4e5f', '../../etc', 'x']) {
        const ended = await machine.run(['recover-session', id, '--finalize', '--json']);
        expect(ended.exitCode, id).toBe(1);
        expect(ended.stderr).toContain('orion: SESSION_NOT_FOUND: Session not found or expired.');
        expect(ended.result()).toMatchObject({ status: 'error', exitCode: 1 });
      }
    },
  );

  longTest('options that exclude each other: exit 2', async ({ machine }) => {
    for (const options of [
      ['--finalize', '--discard'],
      ['--end-at', '3'],
      ['--finalize', '--end-at', '0'],
    ]) {
      const ended = await machine.run(['recover-session', 'x', ...options]);
      expect(ended.exitCode, options.join(' ')).toBe(2);
    }
  });

  longTest('--answer without an open question: exit 2, the session stays', async ({ machine }) => {
    const id = await paused(machine);
    const ended = await machine.run(['recover-session', id, '--finalize', '--answer', 'keep']);
    expect(ended.exitCode, ended.stderr).toBe(2);
    expect((await machine.sessions()).map((session) => session.id)).toEqual([id]);
    const finalized = await machine.run(['recover-session', id, '--finalize']);
    expect(finalized.exitCode, finalized.stderr).toBe(0);
  });
});

describe('R247: a target that changed since begin', () => {
  test.concurrent('is not overwritten; --on-conflict=keep-both writes beside it', async ({
    machine,
  }) => {
    const id = await paused(machine);
    await machine.write('a.ts', 'somebody else\n');
    const refused = await machine.run(['recover-session', id, '--finalize', '--json']);
    expect(refused.exitCode, refused.stderr).toBe(3);
    expect(refused.result().paused[0]?.code).toMatch(/^(FILE_EXISTS|TARGET_CHANGED)$/u);
    expect(refused.result().paused[0]?.commands.join('\n')).toContain('--on-conflict=keep-both');
    expect(String(await machine.read('a.ts'))).toBe('somebody else\n');

    const both = await machine.run([
      'recover-session',
      id,
      '--finalize',
      '--on-conflict=keep-both',
      '--json',
    ]);
    expect(both.exitCode, both.stderr).toBe(0);
    const beside = `a.orion-${id.slice(0, 4)}.ts`;
    expect(both.result().receipts[0]?.target_file).toBe(beside);
    expect(String(await machine.read(beside))).toBe(TEXT);
    expect(String(await machine.read('a.ts'))).toBe('somebody else\n');
  });

  longTest(
    '--on-conflict=overwrite replaces it and keeps the version that was there',
    async ({ machine }) => {
      await machine.write('a.ts', 'at begin\n');
      const id = await paused(machine, { operation: 'overwrite' });
      await machine.write('a.ts', 'changed since\n');
      const refused = await machine.run(['recover-session', id, '--finalize', '--json']);
      expect(refused.result().paused).toMatchObject([{ code: 'TARGET_CHANGED' }]);

      const ended = await machine.run([
        'recover-session',
        id,
        '--finalize',
        '--on-conflict=overwrite',
        '--json',
      ]);
      expect(ended.exitCode, ended.stderr).toBe(0);
      expect(String(await machine.read('a.ts'))).toBe(TEXT);
      const backup = ended.result().receipts[0]?.backup_id ?? '';
      expect(backup).not.toBe('');
    },
  );
});

describe('clean-sessions', () => {
  test.concurrent('moves only old ones, and with --all --yes all of them', async ({ machine }) => {
    const id = await paused(machine);
    const young = await machine.run(['clean-sessions']);
    expect(young.stdout).toContain('0 write sessions');
    const unconfirmed = await machine.run(['clean-sessions', '--all']);
    expect(unconfirmed.exitCode).toBe(2);
    expect(await machine.sessions()).toHaveLength(1);
    const all = await machine.run(['clean-sessions', '--all', '--yes', '--json']);
    expect(JSON.parse(all.stdout)).toMatchObject({
      version: 1,
      bytes: Buffer.byteLength(TEXT),
      moved: [{ session_id: id, target_file: 'a.ts', lines: 12 }],
    });
    expect(await machine.attic()).toEqual([id]);
    const none = await machine.run(['list-sessions']);
    expect(none).toMatchObject({ exitCode: 0, stdout: '' });
  });
});

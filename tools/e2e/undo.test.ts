import { readdir } from 'node:fs/promises';

import { describe, expect } from 'vitest';

import type { Sandbox } from './support/sandbox.ts';
import { sha256, writeMessages } from './support/scripts.ts';
import { longTest, test } from './support/test.ts';

async function write(
  machine: Sandbox,
  path: string,
  text: string,
  operation: 'create' | 'overwrite' | 'append',
): Promise<{ readonly session_id: string; readonly backup_id?: string }> {
  const provider = await machine.provider(writeMessages(path, [`${text}DONE`], { operation }));
  const ended = await machine.ask(provider, ['--json']);
  expect(ended.exitCode, ended.stderr).toBe(0);
  const [receipt] = ended.result().receipts;
  if (receipt === undefined) throw new Error('nothing was written');
  return receipt;
}

describe('R246: orion undo', () => {
  test.concurrent('gives back the exact bytes, in a folder without git, and can be undone', async ({
    machine,
  }) => {
    const old = Buffer.from('\ufeffold\r\nno newline at the end \r');
    await machine.write('docs/a.md', old);
    const written = await write(machine, 'docs/a.md', 'new\n', 'overwrite');
    const after = await machine.read('docs/a.md');
    const undone = await machine.run(['undo', '--json']);
    expect(undone.exitCode, undone.stderr).toBe(0);
    const report = JSON.parse(undone.stdout) as { change_id: string; undo_id: string };
    expect(report).toMatchObject({
      version: 1,
      change_id: written.session_id,
      files: [{ target_file: 'docs/a.md', outcome: 'restored', sha256: sha256(old) }],
    });
    expect(await machine.read('docs/a.md')).toEqual(old);
    const again = await machine.run(['undo', report.undo_id]);
    expect(again.exitCode, again.stderr).toBe(0);
    expect(again.stdout).toMatch(/^Restored docs\/a\.md; \d+ bytes; sha256 [0-9a-f]{12}\n$/u);
    expect(again.stderr).toMatch(/`orion undo [0-9a-f-]{36}` brings it back\./u);
    expect(await machine.read('docs/a.md')).toEqual(after);
  });

  longTest(
    'takes back the latest change that happened, not one that a kill kept from happening',
    async ({ machine }) => {
      const planOf = (path: string): string =>
        JSON.stringify({
          intent: 'test',
          operations: [{ type: 'append', target_file: path, content: 'new\n' }],
        });
      for (const path of ['a.txt', 'b.txt']) await machine.write(path, 'old\n');
      const done = await machine.run(['apply-plan', '-'], { stdin: planOf('a.txt') });
      expect(done.exitCode, done.stderr).toBe(0);
      await machine.write('plan.json', planOf('b.txt'));
      // While the question is open everything is prepared, also the record of a change that never comes.
      const terminal = machine.terminal(['apply-plan', 'plan.json', '--approve', 'ask']);
      await terminal.waitForOutput('(y/N');
      terminal.kill('SIGKILL');
      await terminal.finished;
      const undone = await machine.run(['undo']);
      expect(undone).toMatchObject({ exitCode: 0 });
      expect(undone.stdout).toMatch(/^Restored a\.txt; 4 bytes/u);
      expect(String(await machine.read('a.txt'))).toBe('old\n');
      expect(await readdir(machine.workspace)).toEqual(['.orion', 'a.txt', 'b.txt', 'plan.json']);
    },
  );

  longTest('removes what a change made, and lists what can be taken back', async ({ machine }) => {
    const none = await machine.run(['undo', '--list']);
    expect(none).toMatchObject({ exitCode: 0, stdout: '' });
    expect(await machine.exists('.orion')).toBe(false);
    const made = await write(machine, 'new.txt', 'text\n', 'create');
    const undone = await machine.run(['undo', made.session_id]);
    expect(undone).toMatchObject({ exitCode: 0, stdout: 'Removed new.txt\n' });
    expect(await machine.exists('new.txt')).toBe(false);
    const listed = await machine.run(['undo', '--list']);
    expect(listed.stdout).toMatch(/^ID +AGE +STATUS +FILES\n/u);
    expect(listed.stdout).toMatch(new RegExp(`${made.session_id}.* undone +create new.txt`, 'u'));
    const json = await machine.run(['undo', '--list', '--json']);
    expect(JSON.parse(json.stdout)).toMatchObject({
      version: 1,
      changes: [{ status: 'in_effect' }, { change_id: made.session_id, status: 'undone' }],
    });
  });

  longTest('refuses after a later edit; --force keeps that version, too', async ({ machine }) => {
    await machine.write('a.txt', 'old\n');
    await write(machine, 'a.txt', 'new\n', 'append');
    await machine.write('a.txt', 'mine');
    const refused = await machine.run(['undo']);
    expect(refused.exitCode).toBe(1);
    expect(refused.stderr).toContain(
      'orion: TARGET_CHANGED: "a.txt" was edited after the change that is to be undone; nothing was undone.\n',
    );
    expect(refused.stderr).toContain(
      '--force restores the previous bytes anyway and keeps the present ones as a backup.\n',
    );
    expect(String(await machine.read('a.txt'))).toBe('mine');
    const forced = await machine.run(['undo', '--force', '--json']);
    expect(String(await machine.read('a.txt'))).toBe('old\n');
    const { undo_id } = JSON.parse(forced.stdout) as { undo_id: string };
    await machine.run(['undo', undo_id]);
    expect(String(await machine.read('a.txt'))).toBe('mine');
  });

  longTest('says so when there is nothing to undo', async ({ machine }) => {
    for (const args of [['undo'], ['undo', 'unknown']]) {
      const ended = await machine.run(args);
      expect(ended.exitCode).toBe(1);
      expect(ended.stderr).toContain('orion: CHANGE_NOT_FOUND: There is no change ');
    }
  });
});

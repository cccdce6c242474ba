import { chmod, readdir, readFile, stat } from 'node:fs/promises';
import type { PlanReport } from '@orion/contracts';
import { describe, expect } from 'vitest';

import type { Finished } from './support/run.ts';
import type { Sandbox } from './support/sandbox.ts';
import { numbered, sha256 } from './support/scripts.ts';
import { longTest, test } from './support/test.ts';

/** Hazard: a plan that changes something although one of its operations cannot be done. */

const HELPERS = 'module.exports = {};\n';
const FIFTEEN = numbered('helper', 1, 15);

async function apply(
  machine: Sandbox,
  plan: unknown,
  ...args: readonly string[]
): Promise<Finished & { readonly report: PlanReport }> {
  const ended = await machine.run(['apply-plan', '-', '--json', ...args], {
    stdin: JSON.stringify(plan),
  });
  return { ...ended, report: JSON.parse(ended.stdout || '{}') as PlanReport };
}

test.concurrent('R237, C4: one operation by itself is a plan; --json has the receipt of its file', async ({
  machine,
}) => {
  await machine.write('a.txt', 'last');
  const single = { operation: 'append', path: 'a.txt', content: 'more\n' };
  const ended = await apply(machine, single);
  expect(ended.exitCode, ended.stderr).toBe(0);
  expect(String(await machine.read('a.txt'))).toBe('lastmore\n');
  expect(ended.report.receipts).toMatchObject([
    {
      target_file: 'a.txt',
      operation: 'append',
      bytes: 5,
      lines: 1,
      sha256: sha256('lastmore\n'),
      warnings: ['joined_without_newline'],
    },
  ]);
  const failing = await apply(machine, { ...single, operation: 'create' });
  expect(failing.exitCode).toBe(1);
  expect(failing.stderr).toContain('orion: FILE_EXISTS: `a.txt` exists already.');
});

describe('A10', () => {
  const plan = {
    intent: 'add',
    target_file: 'helpers.js',
    operations: [{ type: 'append', content_block: FIFTEEN }],
    safety_checks: { backup_required: true, must_exist: true },
  };

  longTest('appends, reports in words, and numbers the copies', async ({ machine }) => {
    await machine.write('helpers.js', HELPERS);
    await chmod(machine.path('helpers.js'), 0o640);
    await machine.write('plan.json', JSON.stringify(plan));
    const first = await machine.run(['apply-plan', 'plan.json']);
    expect(first.exitCode, first.stderr).toBe(0);
    expect(first.stdout).toBe(
      'Appended 15 lines to `helpers.js`. Backup saved to `helpers.js.bak`.\n',
    );
    expect(String(await machine.read('helpers.js'))).toBe(HELPERS + FIFTEEN);
    expect(String(await machine.read('helpers.js.bak'))).toBe(HELPERS);
    expect((await stat(machine.path('helpers.js.bak'))).mode & 0o777).toBe(0o640);
    const second = await apply(machine, plan);
    expect(second.exitCode, second.stderr).toBe(0);
    expect(second.report.results).toEqual([
      {
        operation_index: 0,
        type: 'append',
        target_file: 'helpers.js',
        status: 'done',
        error: null,
        bytes: FIFTEEN.length,
        lines: 15,
        backup_path: 'helpers.js.bak.1',
        warnings: [],
      },
    ]);
    expect(String(await machine.read('helpers.js.bak.1'))).toBe(HELPERS + FIFTEEN);
    expect(second.report.changes).toMatchObject([
      { status: 'done', after: sha256(await machine.read('helpers.js')) },
    ]);
  });

  test.concurrent('changes no byte when a later operation is refused', async ({ machine }) => {
    await machine.write('a.txt', 'two\nx\ntwo\n');
    await machine.write('b.txt', 'b\n');
    const { exitCode, report } = await apply(machine, {
      intent: 'both',
      operations: [
        { type: 'append', target_file: 'b.txt', content: 'more\n' },
        { type: 'append', target_file: 'a.txt', content: 'two\n' },
        {
          type: 'insert',
          target_file: 'a.txt',
          location_marker: 'two',
          position: 'after',
          content: 'x\n',
        },
        { type: 'append', target_file: 'a.txt', content: 'never\n' },
      ],
    });
    expect(exitCode).toBe(1);
    expect(report.status).toBe('failed');
    expect(report.results.map(({ status }) => status)).toEqual([
      'skipped',
      'skipped',
      'failed',
      'skipped',
    ]);
    // The line that the plan itself would have added counts.
    expect(report.results[2]?.error).toMatchObject({ code: 'MARKER_NOT_UNIQUE' });
    expect(report.results[2]?.error?.message).toContain(
      'matches 3 places of a.txt, at lines 1, 3, 4',
    );
    expect(report.text).toContain('nothing was changed');
    expect(String(await machine.read('a.txt'))).toBe('two\nx\ntwo\n');
    expect(String(await machine.read('b.txt'))).toBe('b\n');
    expect((await readdir(machine.workspace)).toSorted()).toEqual(['.orion', 'a.txt', 'b.txt']);
  });

  longTest('replaces literally, and stays inside the workspace', async ({ machine }) => {
    await machine.write('x.txt', 'aXb');
    const all = { type: 'replace_all', target_file: 'x.txt', find: 'X', content: '[$&]' };
    expect((await apply(machine, { intent: 'i', operations: [all] })).exitCode).toBe(0);
    expect(String(await machine.read('x.txt'))).toBe('a[$&]b');
    for (const target of ['../x', 'a\0b', `${'n'.repeat(300)}/x`, '/etc/hostname']) {
      const { exitCode, report } = await apply(machine, {
        intent: 'out',
        target_file: target,
        operations: [{ type: 'create', content: '' }],
      });
      expect(report.results[0]?.error?.code, target).toBe('INVALID_TARGET');
      expect(exitCode).toBe(1);
    }
  });
});

test.concurrent('several files, one of them twice, and one undo for all', async ({ machine }) => {
  await machine.write('a.txt', 'one\r\ntwo\r\n');
  const { exitCode, report, stderr } = await apply(machine, {
    intent: 'three files',
    operations: [
      { type: 'create', target_file: 'new/b.txt', content: 'b\n' },
      {
        type: 'insert',
        target_file: 'new/b.txt',
        location: { marker: 'b', position: 'before' },
        content: 'a',
      },
      {
        type: 'insert',
        target_file: 'a.txt',
        location_marker: 'two',
        position: 'before',
        content: 'new\n',
      },
      { type: 'replace_all', target_file: 'a.txt', find: 'new\ntwo', content: 'NEW\nTWO' },
      { type: 'overwrite', target_file: 'c.txt', content: '' },
    ],
  });
  expect(exitCode, stderr).toBe(0);
  expect(String(await machine.read('a.txt'))).toBe('one\r\nNEW\r\nTWO\r\n');
  expect(String(await machine.read('new/b.txt'))).toBe('a\nb\n');
  expect(String(await machine.read('c.txt'))).toBe('');
  expect(report.changes.map((change) => change.operations)).toEqual([[0, 1], [2, 3], [4]]);
  expect(report.results[4]?.warnings).toEqual(['created_missing']);
  expect(await readdir(machine.path('.orion', 'plans'))).toEqual([]);
  const undone = await machine.run(['undo', report.plan_id]);
  expect(undone.exitCode, undone.stderr).toBe(0);
  expect(String(await machine.read('a.txt'))).toBe('one\r\ntwo\r\n');
  expect(await machine.exists('new/b.txt')).toBe(false);
  expect(await machine.exists('c.txt')).toBe(false);
});

test.concurrent('reports all that is wrong at once, each with its own code', async ({
  machine,
}) => {
  await machine.write('there.txt', 'text\n');
  await machine.write('folder/x.txt', '');
  const { exitCode, report } = await apply(machine, {
    intent: 'wrong',
    safety_checks: { must_exist: true },
    operations: [
      { type: 'create', target_file: 'there.txt', content: '' },
      { type: 'append', target_file: 'none.txt', content: '' },
      { type: 'overwrite', target_file: 'none too.txt', content: '' },
      { type: 'overwrite', target_file: 'folder', content: '' },
      { type: 'create', target_file: '.git/config', content: '' },
      { type: 'create', target_file: '.orion/x', content: '' },
      { type: 'create', target_file: 'there.txt/x', content: '' },
      { type: 'append', target_file: 'folder/x.txt', content: 'fine' },
    ],
  });
  expect(exitCode).toBe(1);
  expect(report.results.map(({ status, error }) => error?.code ?? status)).toEqual([
    'FILE_EXISTS',
    'FILE_NOT_FOUND',
    'FILE_NOT_FOUND',
    'IS_DIRECTORY',
    'PROTECTED_PATH',
    'PROTECTED_PATH',
    'DIR_CREATE_FAILED',
    'skipped',
  ]);
  expect(report.results[4]?.error?.hint).toBe('Allow it with --allow-path <glob>.');
  expect(String(await machine.read('folder/x.txt'))).toBe('');
});

longTest('a dry run shows a diff and changes nothing', async ({ machine }) => {
  await machine.write('a.txt', numbered('line', 1, 9));
  const plan = {
    intent: 'look',
    target_file: 'a.txt',
    operations: [{ type: 'insert', location_marker: 'line 5', position: 'after', content: 'new' }],
  };
  const ended = await machine.run(['apply-plan', '-', '--dry-run'], {
    stdin: JSON.stringify(plan),
  });
  expect(ended.exitCode, ended.stderr).toBe(0);
  expect(ended.stdout).toBe(
    'Would insert 1 line into `a.txt`.\n--- a/a.txt\n+++ b/a.txt\n@@ -3,6 +3,7 @@\n line 3\n line 4\n line 5\n+new\n line 6\n line 7\n line 8\n',
  );
  const { report } = await apply(machine, { ...plan, dry_run: true });
  expect(report).toMatchObject({ status: 'planned', results: [{ status: 'planned', lines: 1 }] });
  expect(String(await machine.read('a.txt'))).toBe(numbered('line', 1, 9));
  expect(await machine.exists('.orion/backups')).toBe(false);
});

test.concurrent('B21: an expression that would take for ever ends the plan, not the program', async ({
  machine,
}) => {
  await machine.write('a.txt', `${'a'.repeat(40)}!\n`);
  const { exitCode, report } = await apply(machine, {
    intent: 'slow',
    target_file: 'a.txt',
    operations: [
      {
        type: 'insert',
        location_marker: '(a+)+$',
        marker_type: 'regex',
        position: 'after',
        content: 'x',
      },
    ],
  });
  expect(exitCode).toBe(1);
  expect(report.results[0]?.error?.code).toBe('MARKER_TIMEOUT');
});

longTest('the plan of the guide does what the guide says', async ({ machine }) => {
  const guide = await readFile(
    new URL('../../docs/guides/write-plans.md', import.meta.url),
    'utf8',
  );
  const plan = /```json\n([^]*?)```/u.exec(guide)?.[1] ?? '';
  const said = /\n((?:(?:Appended|Inserted) .*\n)+)/u.exec(guide)?.[1];
  await machine.write('src/helpers.js', 'module.exports = {\n};\n');
  const ended = await machine.run(['apply-plan', '-'], { stdin: plan });
  expect(ended.exitCode, ended.stderr).toBe(0);
  expect(ended.stdout).toBe(said);
  expect(String(await machine.read('src/helpers.js'))).toBe(
    'module.exports = {\n  double,\n};\nfunction double(n) {\n  return 2 * n;\n}\n',
  );
});

describe('what is no plan', () => {
  test.concurrent.for<[string, string, string, number]>([
    ['no JSON', '{', 'is not valid JSON', 2],
    ['no object', '[]', 'A plan must be a JSON object', 2],
    ['no intent', '{"operations":[]}', 'intent is required', 2],
    ['no operations', '{"intent":"i","operations":[]}', 'operations is required', 2],
    [
      'an unknown check',
      '{"intent":"i","operations":[{}],"safety_checks":{"backup":true}}',
      'safety_checks has no "backup"',
      2,
    ],
    [
      'an unknown type',
      '{"intent":"i","operations":[{"type":"move","target_file":"a"}]}',
      'INVALID_OPERATION',
      1,
    ],
    [
      'no position',
      '{"intent":"i","operations":[{"type":"insert","target_file":"a","location_marker":"m","content":"c"}]}',
      'position is required',
      1,
    ],
    [
      'no target',
      '{"intent":"i","operations":[{"type":"create","content":""}]}',
      'INVALID_TARGET',
      1,
    ],
    [
      'no text',
      '{"intent":"i","target_file":"a","operations":[{"type":"create","content":5}]}',
      'INVALID_CONTENT',
      1,
    ],
    [
      'two texts',
      '{"intent":"i","target_file":"a","operations":[{"type":"create","content":"a","content_block":"b"}]}',
      'content and content_block differ',
      1,
    ],
  ])('%s', { tags: ['long'] }, async ([, stdin, said, code], { machine }) => {
    const ended = await machine.run(['apply-plan', '-'], { stdin });
    expect(ended.stdout + ended.stderr).toContain(said);
    expect(ended.exitCode).toBe(code);
    expect(ended.stderr).not.toContain('INTERNAL_ERROR');
    expect(await machine.exists('a')).toBe(false);
  });

  longTest('a file that is not there', async ({ machine }) => {
    const ended = await machine.run(['apply-plan', 'none.json']);
    expect(ended.exitCode).toBe(2);
    expect(ended.stderr).toContain('"none.json" cannot be read (ENOENT)');
  });
});

/**
 * Commits under the system's own eyes, in a process of its own (A1, A3, A4). Every call fails in `npm run faults`,
 * and every call is the last one in `npm run crash`.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ownerProcessArguments } from '../testing/other-process.ts';
import { openTestWorkspace, temporaryDirectory } from '../testing/temp-workspace.ts';

const hasStrace = spawnSync('strace', ['-e', 'trace=none', '--', 'true']).status === 0;
if (!hasStrace)
  console.warn('SKIPPED: strace may not be used here, so no call can be made to fail');

type Run = { readonly answer: string; readonly trace: string };

/** Runs one commit; `inject` are strace's rules, which count the calls of the commit alone. */
function commitUnder(root: string, operation: string, inject: readonly string[]): Run {
  const log = join(root, '..', 'trace.log');
  const result = spawnSync(
    'strace',
    [
      '-f',
      '-y',
      '-o',
      log,
      '-e',
      'trace=openat,write,pwrite64,fsync,fdatasync,rename,link,unlink,chmod,fchmod,fsetxattr',
      ...inject.flatMap((rule) => ['-e', `inject=${rule}`]),
      process.execPath,
      ...ownerProcessArguments({ root }),
    ],
    {
      input: `${JSON.stringify({ do: 'commit', target: 'a.txt', operation })}\n`,
      encoding: 'utf8',
      timeout: 20_000,
      // strace counts calls per thread: with one worker thread the Nth call is the Nth call.
      env: { ...process.env, UV_THREADPOOL_SIZE: '1' },
    },
  );
  return {
    answer: result.stdout.split('\n')[1] ?? '',
    trace: existsSync(log) ? readFileSync(log, 'utf8') : '',
  };
}

const OLD = 'old bytes\n';

async function rootFor(operation: string): Promise<string> {
  const root = join(await temporaryDirectory(), 'ws');
  const { mkdirSync } = await import('node:fs');
  mkdirSync(root);
  if (operation !== 'create') writeFileSync(join(root, 'a.txt'), OLD);
  return root;
}

function targetOf(root: string): string | null {
  const path = join(root, 'a.txt');
  return existsSync(path) ? readFileSync(path, 'utf8') : null;
}

describe.skipIf(!hasStrace)('a commit', () => {
  it('syncs the new bytes before they get their name, and the name after (A1)', async () => {
    const root = await rootFor('overwrite');
    const { trace, answer } = commitUnder(root, 'overwrite', []);
    expect(answer).toContain('"sha256"');
    const lines = trace.split('\n').filter((line) => !line.includes('ENOENT'));
    const at = (pattern: RegExp): number => lines.findIndex((line) => pattern.test(line));
    const last = (pattern: RegExp): number => lines.findLastIndex((line) => pattern.test(line));
    const made = at(/openat\(.*\.orion-[0-9a-f]{16}\.tmp", .*O_CREAT\|O_EXCL.*0600/u);
    const written = last(/write.*\.orion-[0-9a-f]{16}\.tmp>/u);
    const synced = last(/fsync\(\d+<.*\.orion-[0-9a-f]{16}\.tmp>/u);
    const backup = last(/fsync\(\d+<.*\/backups>/u);
    const renamed = at(/rename\(.*\.tmp", ".*\/a\.txt"\)/u);
    const confirmed = last(new RegExp(`fsync\\(\\d+<${root}>`, 'u'));
    const order = [made, written, synced, backup, renamed, confirmed];
    expect(order, trace).toEqual(order.toSorted((a, b) => a - b));
    expect(order).not.toContain(-1);
    expect(trace).not.toMatch(/ p?write\w*\([^\n]*<[^>]*\/a\.txt>/u);
  }, 30_000);

  it.each([
    ['fsync', 'EIO', 'WRITE_FAILED'],
    ['fsync', 'EDQUOT', 'DISK_FULL'],
    ['rename', 'EROFS', 'READ_ONLY'],
    ['rename', 'EBUSY', 'RESOURCE_BUSY'],
  ])(
    'says what went wrong at %s with %s, and leaves nothing (A3)',
    async (call, error, code) => {
      const root = await rootFor('overwrite');
      const temporary = `${root}/a.txt`;
      expect(temporary).not.toBe('');
      // Every such call of the commit fails: those of the state directory first, then the target's.
      const run = commitUnder(root, 'overwrite', [`${call}:error=${error}`]);
      expect(JSON.parse(run.answer)).toEqual({ error: code });
      expect(targetOf(root)).toBe(OLD);
      expect(readdirSync(root).filter((name) => name.endsWith('.tmp'))).toEqual([]);
      const { workspace } = await openTestWorkspace({ root });
      const expected = await workspace.checkTarget('a.txt', 'overwrite');
      expect(expected.exists).toBe(true);
    },
    30_000,
  );

  it.each(['EPERM', 'EOPNOTSUPP'])(
    'is made where no mode can be set (%s), and says what is not kept (A6)',
    async (error) => {
      const root = await rootFor('overwrite');
      // Those of the program that copies access lists, too.
      const calls = 'chmod,fchmod,fsetxattr';
      const run = commitUnder(root, 'overwrite', [`${calls}:error=${error}`]);
      expect(JSON.parse(run.answer)).toMatchObject({ mode: '0600', not_kept: ['acls', 'mode'] });
      expect(targetOf(root)).toBe('new bytes\n');
      const { workspace } = await openTestWorkspace({ root });
      expect((await workspace.undo({})).files).toMatchObject([{ outcome: 'restored' }]);
      expect(targetOf(root)).toBe(OLD);
    },
    30_000,
  );

  it('creates exclusively where links are not supported, and says so', async () => {
    const root = await rootFor('create');
    const run = commitUnder(root, 'create', ['link:error=EOPNOTSUPP']);
    expect(JSON.parse(run.answer)).toMatchObject({ warnings: ['created_without_link'] });
    expect(targetOf(root)).toBe('new bytes\n');
    expect(readdirSync(root).filter((name) => name.endsWith('.tmp'))).toEqual([]);
  }, 30_000);
});

const hasPrlimit = spawnSync('prlimit', ['--version']).status === 0;
if (!hasPrlimit) console.warn('SKIPPED: no prlimit, so no write can be made to fall short');

it.skipIf(!hasPrlimit)('a write that falls short is noticed (A4)', async () => {
  const root = await rootFor('append');
  writeFileSync(join(root, 'a.txt'), 'x'.repeat(100_000));
  const result = spawnSync(
    'prlimit',
    ['--fsize=100004', process.execPath, ...ownerProcessArguments({ root })],
    { input: `${JSON.stringify({ do: 'commit', target: 'a.txt', operation: 'append' })}\n` },
  );
  expect(JSON.parse(result.stdout.toString().split('\n')[1] ?? '')).toEqual({
    error: 'WRITE_FAILED',
  });
  expect(readFileSync(join(root, 'a.txt')).length).toBe(100_000);
  expect(readdirSync(root).filter((name) => name.endsWith('.tmp'))).toEqual([]);
});

import { createServer } from 'node:net';
import { spawn, spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import {
  chownSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

import { systemClock } from '@orion/contracts';
import type { Clock } from '@orion/contracts';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { runInGroup } from './process-group.ts';
import type { GroupEnd } from './process-group.ts';
import { findSandbox, sandboxed, secretPlaces } from './sandbox.ts';
import type { SandboxScope } from './sandbox.ts';

const PATH = '/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin';
const never = new AbortController().signal;
const sandbox = await findSandbox(PATH, { root: tmpdir(), clock: systemClock, signal: never });
/** Whether there could be one, decided without the code under test. */
const { status } = spawnSync('bwrap', ['--ro-bind', '/', '/', '--unshare-all', 'true']);
const isPossible = status === 0;
/** `/dev` and `/tmp` are made anew inside: of a folder in them nothing would be seen, however little is hidden. */
const SEEN_INSIDE = isPossible ? '/var/tmp' : tmpdir();

let folder = '';
let root = '';
let home = '';
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(SEEN_INSIDE, 'orion-sandbox-')));
  root = join(folder, 'work space');
  home = join(folder, 'home');
  mkdirSync(root);
  mkdirSync(home);
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

async function run(
  line: string,
  scope: Partial<SandboxScope> = {},
  timeoutMs = 20_000,
): Promise<GroupEnd> {
  if (sandbox.kind === 'none') throw new Error(sandbox.because);
  return runInGroup({
    command: await sandboxed(
      sandbox.program,
      { root, hidden: [], readOnly: [], allowNetwork: false, ...scope },
      ['/bin/sh', '-c', line],
    ),
    isSandbox: true,
    cwd: root,
    environment: { PATH, HOME: home },
    id: randomUUID(),
    timeoutMs,
    maxOutputBytes: 64 * 1024,
    signal: never,
    clock: systemClock,
  });
}

it('says why there is no sandbox', async () => {
  const empty = await findSandbox(folder, { root, clock: systemClock, signal: never });
  expect(empty.kind).toBe('none');
  expect(empty.kind === 'none' && empty.because).toMatch(/not installed|Linux only/);
});

it.skipIf(process.platform !== 'linux')(
  'does not take a sandbox that fails its trial',
  async () => {
    const script = '#!/bin/sh\necho "no user namespaces for $PATH, ${HOME-nobody}" >&2\nexit 1\n';
    writeFileSync(join(folder, 'bwrap'), script, { mode: 0o700 });
    const path = `${folder}:${PATH}`;
    expect(await findSandbox(path, { root, clock: systemClock, signal: never })).toEqual({
      kind: 'none',
      because: `bubblewrap does not work here: no user namespaces for ${path}, nobody`,
    });
  },
);

it.skipIf(process.platform !== 'linux')('does not wait longer than 5 s for its trial', async () => {
  writeFileSync(join(folder, 'bwrap'), '#!/bin/sh\nexec sleep 60\n', { mode: 0o700 });
  const clock: Clock = {
    ...systemClock,
    schedule: (milliseconds, callback) =>
      systemClock.schedule(milliseconds === 5_000 ? 100 : milliseconds, callback),
  };
  await expect(
    findSandbox(`${folder}:${PATH}`, { root, clock, signal: never }),
  ).rejects.toMatchObject({ code: 'TOOL_FAILED', message: expect.stringContaining('5 s') });
});

it.skipIf(process.platform !== 'linux')('is found while another trial ends', async () => {
  const look = async (name: string, script: string) => {
    mkdirSync(join(folder, name));
    writeFileSync(join(folder, name, 'bwrap'), `#!/bin/sh\n${script}\n`, { mode: 0o700 });
    return findSandbox(`${join(folder, name)}:${PATH}`, {
      root,
      clock: systemClock,
      signal: never,
    });
  };
  const [slow] = await Promise.all([look('slow', 'sleep 0.4'), look('quick', 'exit 0')]);
  expect(slow.kind).toBe('bubblewrap');
});

it('is not looked for where there is no bubblewrap', async () => {
  const platform = Object.getOwnPropertyDescriptor(process, 'platform') ?? {};
  Object.defineProperty(process, 'platform', { ...platform, value: 'darwin' });
  try {
    expect(await findSandbox(PATH, { root, clock: systemClock, signal: never })).toEqual({
      kind: 'none',
      because: 'bubblewrap is available on Linux only',
    });
  } finally {
    Object.defineProperty(process, 'platform', platform);
  }
});

it.runIf(isPossible)('shows a workspace in a hidden place, and nothing beside it', async () => {
  const hidden = [join(home, '.codex'), join(home, '.codex/worktrees')];
  const inside = join(home, '.codex/worktrees/x');
  mkdirSync(join(inside, '.orion'), { recursive: true });
  writeFileSync(join(inside, '.orion/state'), 'canary\n');
  writeFileSync(join(home, '.codex/auth.json'), 'canary\n');
  const line = 'ls -A . .. ../.. .orion; echo x > new; echo x > ../beside; cat ../../auth.json';
  const scope = { root: inside, hidden: [...hidden, join(inside, '.orion')] };
  const { output, exitCode } = await run(line, scope);
  expect(exitCode).not.toBe(null);
  expect(output.head).toMatch(/^\.:\n\.orion\n\n\.\.:\nx\n\n\.\.\/\.\.:\nworktrees\n\n\.orion:\n/u);
  expect(output.head).not.toContain('canary');
  expect(readFileSync(join(inside, 'new'), 'utf8')).toBe('x\n');
  expect(existsSync(join(home, '.codex/worktrees/beside'))).toBe(false);
  const itself = await run('ls -A .orion; ls -A', {
    ...scope,
    hidden: [inside, join(inside, '.orion')],
  });
  expect(itself.output.head).toBe('.orion\nnew\n');
});

it('does not look for a program in the folder it is in', async () => {
  writeFileSync(join(root, 'bwrap'), '#!/bin/sh\nexit 0\n', { mode: 0o700 });
  expect((await findSandbox('.::bin', { root, clock: systemClock, signal: never })).kind).toBe(
    'none',
  );
});

it('shows the configuration of a name service where the network is allowed, and only then', async () => {
  const scope = { root, hidden: [], readOnly: [] };
  const place = '--ro-bind-try /run/systemd/resolve /run/systemd/resolve';
  for (const allowNetwork of [true, false]) {
    const line = (await sandboxed('bwrap', { ...scope, allowNetwork }, ['true'])).join(' ');
    expect([line.includes(place), line.includes('--unshare-net')]).toEqual([
      allowNetwork,
      !allowNetwork,
    ]);
  }
});

it.runIf(isPossible)('is found where bubblewrap works', () => {
  expect(sandbox).toEqual({ kind: 'bubblewrap', program: expect.stringMatching(/^\/.*\/bwrap$/u) });
});

describe.runIf(isPossible)('bubblewrap', () => {
  it('is not said to be missing by a turn that ended before it was found', async () => {
    const signal = AbortSignal.abort();
    await expect(findSandbox(PATH, { root, clock: systemClock, signal })).rejects.toMatchObject({
      code: 'ABORTED',
    });
  });

  it('lets a command change the workspace, and a temporary folder of its own', async () => {
    const end = await run(
      'echo a > file && echo b > /tmp/orion-own && cat file /tmp/orion-own && pwd',
    );
    expect(end).toMatchObject({ exitCode: 0, output: { head: `a\nb\n${root}\n` } });
    expect(readFileSync(join(root, 'file'), 'utf8')).toBe('a\n');
    expect(existsSync('/tmp/orion-own')).toBe(false);
  });

  it('lets it change nothing else', async () => {
    const outside = join(folder, 'outside');
    writeFileSync(outside, 'before');
    symlinkSync(outside, join(root, 'link'));
    const end = await run(
      `echo x > link; echo x > ../new; echo x > /etc/orion-x; echo x > ~/x; mv . ../moved; true`,
    );
    expect(end.exitCode).toBe(0);
    expect(readFileSync(outside, 'utf8')).toBe('before');
    for (const path of [
      join(folder, 'new'),
      '/etc/orion-x',
      join(home, 'x'),
      join(folder, 'moved'),
    ])
      expect(existsSync(path)).toBe(false);
  });

  it('hides files and folders, also behind a link', async () => {
    mkdirSync(join(home, '.ssh'));
    writeFileSync(join(home, '.ssh/id'), 'canary');
    writeFileSync(join(home, '.npmrc'), 'canary');
    mkdirSync(join(folder, 'keys'));
    writeFileSync(join(folder, 'keys/id'), 'canary');
    symlinkSync(join(folder, 'keys'), join(home, '.aws'));
    mkdirSync(join(root, '.orion'));
    writeFileSync(join(root, '.orion/state'), 'canary');
    const hidden = [...secretPlaces(home), join(root, '.orion')];
    const end = await run(
      'cat ~/.ssh/id ~/.npmrc ~/.aws/id .orion/state; ls -A ~/.ssh .orion; echo x > .orion/new; echo x > ~/.npmrc; echo end',
      { hidden },
    );
    expect(end.output.head).not.toContain('canary');
    expect(end.output.head).toContain('end');
    expect(readFileSync(join(home, '.npmrc'), 'utf8')).toBe('canary');
    expect(existsSync(join(root, '.orion/new'))).toBe(false);
    // Outside of the sandbox they are there.
    expect(readFileSync(join(root, '.orion/state'), 'utf8')).toBe('canary');
  });

  it('hides every usual place of keys', async () => {
    const folders =
      '.ssh .aws .azure .gnupg .kube .docker .password-store .terraform.d .config/gcloud .config/gh .config/op ' +
      '.config/hub .config/rclone .config/sops .local/share/keyrings .mozilla .config/google-chrome .config/chromium ' +
      '.claude .codex .gemini';
    const files =
      '.npmrc .netrc .pypirc .git-credentials .vault-token .pgpass .my.cnf .cargo/credentials ' +
      '.cargo/credentials.toml .gem/credentials .config/git/credentials .bash_history .zsh_history .python_history ' +
      '.node_repl_history .psql_history .mysql_history .sqlite_history .rediscli_history ' +
      '.local/share/fish/fish_history .gradle/gradle.properties .m2/settings.xml .m2/settings-security.xml .claude.json';
    const places = [...folders.split(' ').map((place) => `${place}/key`), ...files.split(' ')];
    for (const place of [...places, 'seen']) {
      mkdirSync(dirname(join(home, place)), { recursive: true });
      writeFileSync(join(home, place), `canary of ${place}\n`);
    }
    const end = await run('grep -rhs canary ~', { hidden: secretPlaces(home) });
    expect(end.output.head).toBe('canary of seen\n');
  });

  it('keeps what is read-only inside of the workspace', async () => {
    mkdirSync(join(root, '.git/hooks'), { recursive: true });
    writeFileSync(join(root, '.git/config'), 'before');
    writeFileSync(join(root, '.env'), 'before');
    const readOnly = [join(root, '.git'), join(root, '.env'), join(root, '.missing')];
    const line =
      'cat .env; echo x > .git/config; echo x > .git/hooks/pre-commit; echo x > .env; mv .git g; rm -rf .git .env; echo end';
    const end = await run(line, { readOnly });
    expect(end.output.head).toMatch(/^before/);
    expect(readFileSync(join(root, '.git/config'), 'utf8')).toBe('before');
    expect(readFileSync(join(root, '.env'), 'utf8')).toBe('before');
    expect(existsSync(join(root, '.git/hooks/pre-commit'))).toBe(false);
    expect(existsSync(join(root, '.missing'))).toBe(false);
  });

  it('cannot be undone from inside, not even by root', async () => {
    const outside = join(folder, 'outside');
    writeFileSync(outside, 'before');
    writeFileSync(join(home, '.npmrc'), 'canary');
    writeFileSync(join(root, '.env'), 'before');
    const undo = [
      'mount -o remount,rw,bind /',
      `mount -o remount,rw,bind ${join(folder, 'home')}`,
      'umount "$PWD/.env"; umount -l "$PWD/.env"',
      'umount ~/.npmrc; umount -l ~/.npmrc',
      'umount -l /proc; umount -l /tmp',
      'mknod disk b 254 0',
      'mount -t tmpfs none /mnt && echo mounted',
      'echo /bin/false > /proc/sys/kernel/core_pattern',
    ];
    const attack = `${undo.join('; ')}; echo x > ../outside; echo x > .env; cat ~/.npmrc`;
    writeFileSync(join(root, 'attack'), attack);
    const end = await run(
      'sh ./attack; unshare -rm sh ./attack; unshare -m sh ./attack; echo end',
      {
        hidden: [join(home, '.npmrc')],
        readOnly: [join(root, '.env')],
      },
    );
    expect(end.output.head).toContain('end\n');
    expect(end.output.head).not.toMatch(/canary/);
    expect(readFileSync(outside, 'utf8')).toBe('before');
    expect(readFileSync(join(root, '.env'), 'utf8')).toBe('before');
    expect(existsSync(join(root, 'disk'))).toBe(false);
  });

  it.skipIf(process.getuid?.() !== 0)('lets root change files of other users', async () => {
    mkdirSync(join(root, 'theirs'), { mode: 0o700 });
    writeFileSync(join(root, 'theirs/file'), 'before', { mode: 0o600 });
    for (const path of ['theirs/file', 'theirs']) chownSync(join(root, path), 1234, 1234);
    const end = await run('echo x > theirs/file && chmod 644 theirs/file && touch theirs/new');
    expect(end.exitCode).toBe(0);
    expect(readFileSync(join(root, 'theirs/file'), 'utf8')).toBe('x\n');
  });

  it('has no network, unless it is allowed', async () => {
    const server = createServer((socket) => socket.end('answer'));
    await new Promise<void>((settle) => server.listen(0, '127.0.0.1', settle));
    const address = server.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    const script = `const s=require('net').connect(${port},'127.0.0.1');s.on('data',d=>console.log(String(d)));s.on('error',e=>console.log(e.code))`;
    // The temporary folder of the machine, in which this Node may lie, is not there inside.
    copyFileSync(process.execPath, join(root, 'node'));
    const line = `./node -e "${script}"`;
    try {
      expect((await run(line)).output.head).toMatch(/ECONNREFUSED|ENETUNREACH/);
      expect((await run(line, { allowNetwork: true })).output.head).toBe('answer\n');
    } finally {
      server.close();
    }
  });

  it('does not show the processes and sockets of the machine', async () => {
    const end = await run(
      `ls /proc | grep -c '^[0-9]'; ls -A /run; kill -0 ${process.pid} || echo unseen`,
    );
    expect(Number(end.output.head.split('\n')[0])).toBeLessThan(10);
    expect(end.output.head).toContain('unseen');
  });

  it('does not show them either where the workspace is the whole machine', async () => {
    const end = await run(
      `ls /proc | grep -c '^[0-9]'; ls -A /run; kill -0 ${process.pid} || echo unseen; pwd`,
      { root: '/' },
    );
    expect(Number(end.output.head.split('\n')[0])).toBeLessThan(10);
    expect(end.output.head).toMatch(/unseen\n\/\n$/);
  });

  it('shows no process of the machine where the workspace is the whole machine', async () => {
    const outside = spawn('sleep', ['61.4711'], { stdio: 'ignore' });
    try {
      const seen = await run(`cat /proc/[0-9]*/cmdline | tr '\\0' ' '`, { root: '/' });
      expect(seen.output.head).toContain('cmdline');
      expect(seen.output.head).not.toContain('61.4711');
    } finally {
      outside.kill();
    }
  });

  it('asks what is inside to end before it ends it', async () => {
    const end = await run(`trap 'echo asked; exit 0' TERM; while :; do sleep 0.05; done`, {}, 500);
    expect(end.reason).toBe('timeout');
    expect(end.output.head).toMatch(/asked\n$/);
  });

  it('ends a process that has left its group, and its environment, with the command', async () => {
    const end = await run(
      `setsid sleep 61.7531 > /dev/null 2>&1 & env -i setsid sleep 61.7531 > /dev/null 2>&1 & echo end`,
    );
    expect(end.output.head).toBe('end\n');
    const left = await run('true');
    expect(left.ended).toEqual([]);
    const { execFileSync } = await import('node:child_process');
    expect(execFileSync('ps', ['-eo', 'args'], { encoding: 'utf8' })).not.toContain('61.7531');
  });
});

import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';

import { describe, expect } from 'vitest';

import type { Behaviour } from '@orion/llm-adapters/scripted';

import { lastToolMessage } from './support/requests.ts';
import type { Sandbox } from './support/sandbox.ts';
import { LAST_WORD } from './support/scripts.ts';
import { test } from './support/test.ts';

/** Hazard: a shell line that somebody agreed to reaches keys, the network, Orion's state or protected files. B5, B19. */

const hasBubblewrap = works('bwrap --ro-bind / / --dev /dev --proc /proc --unshare-pid true');

function works(line: string): boolean {
  try {
    execFileSync('/bin/sh', ['-c', line], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/** What the model reads about a line that everybody agrees to. */
async function answerTo(
  machine: Sandbox,
  command: string,
  args: readonly string[] = ['--sandbox', 'require'],
  env: Readonly<Record<string, string>> = {},
): Promise<Readonly<Record<string, unknown>>> {
  const call: Behaviour = {
    name: 'line',
    when: { toolResults: 0 },
    reply: { toolCalls: [{ name: 'run_command', arguments: { command } }] },
  };
  const provider = await machine.provider({ behaviours: [call, LAST_WORD] });
  const ended = await machine.ask(provider, ['--json', '--approve-commands', 'auto', ...args], {
    env: { OPENAI_API_KEY: 'sk-canary-0123456789abcdef', ...env },
  });
  expect(ended.exitCode, ended.stderr).toBe(0);
  return JSON.parse(lastToolMessage(provider.requests)) as Record<string, unknown>;
}

async function put(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, text);
}

describe.skipIf(!hasBubblewrap).concurrent('in bubblewrap', () => {
  test('a line sees no key, no state of Orion and no configuration of the user', async ({
    machine,
    onTestFinished,
  }) => {
    const places = ['.ssh/id_ed25519', '.aws/credentials', '.npmrc', '.config/gh/hosts.yml'];
    // The sandbox has temporary folders of its own: only elsewhere is there a home to hide something in.
    const home = await mkdtemp('/var/tmp/orion-home-');
    onTestFinished(() => rm(home, { recursive: true }));
    for (const place of places) await put(join(home, place), 'canary');
    await put(join(home, '.config/orion/config.json'), '{"model":"canary"}');
    await put(join(home, 'notes'), 'of the home');
    await machine.write('.orion/kept', 'canary');
    await machine.write('.env', 'readable');
    const found = await answerTo(
      machine,
      `env; cd ~ && cat notes ${places.join(' ')} .config/orion/*; cd - && cat .orion/* .orion/orion.db .env; ls -A .orion`,
      ['--sandbox', 'require'],
      { HOME: home, XDG_CONFIG_HOME: join(home, '.config') },
    );
    expect(JSON.stringify(found)).toContain('of the home');
    expect(JSON.stringify(found)).not.toContain('canary');
    expect(JSON.stringify(found)).toContain('readable');
    expect(found['protections']).toEqual({
      sandbox: 'bubblewrap',
      network: 'off',
      protected_paths: 'kept',
    });
  });

  test('a line changes no protected path, whether or not it exists, and says so', async ({
    machine,
  }) => {
    const before = ['.git/config', '.env', 'packages/a/.vscode/settings.json', 'real-hooks/x'];
    for (const path of before) await put(machine.path(path), 'before');
    await symlink('real-hooks', machine.path('.husky'));
    const found = await answerTo(
      machine,
      [
        ...before.slice(0, 3).map((path) => `echo x > ${path}`),
        'echo x > .git/hooks/pre-commit || mkdir .git/hooks',
        'rm -rf .git .env; mv .git moved; ln -sf /dev/null .env',
        'rm .husky; mkdir .husky; echo x > .husky/pre-commit',
        'echo x > real-hooks/x',
        'echo x > .npmrc; echo x > .EnvRc; mkdir -p new/.github/workflows; echo x > new/.github/workflows/w.yml',
        'mkdir -p sub/objects sub/refs; echo x > sub/HEAD; echo x > sub/config',
        'echo x > evil; mv evil packages/a/.mcp.json; ln evil2 .gitattributes; ln -s sub .idea',
        'echo x > package.json; echo x > fine; echo x > .orion/x; true',
      ].join('\n'),
    );
    for (const path of before) expect(await readFile(machine.path(path), 'utf8')).toBe('before');
    expect(await readFile(machine.path('.husky/x'), 'utf8')).toBe('before');
    const made = [
      '.EnvRc',
      '.husky',
      '.idea',
      '.npmrc',
      'new/.github',
      'packages/a/.mcp.json',
      'sub/HEAD',
      'sub/config',
    ];
    const changes = found['protected_changes'] as { path: string; moved_to: string }[];
    expect(changes.map(({ path }) => path).toSorted()).toEqual(made);
    for (const { path, moved_to: to } of changes) {
      if (path !== '.husky') expect(await machine.exists(path)).toBe(false);
      const place = machine.path(to);
      if (path !== '.idea') expect((await readdir(dirname(place))).length).toBe(1);
    }
    expect(
      await readFile(
        machine.path(changes.find(({ path }) => path === '.npmrc')?.moved_to ?? ''),
        'utf8',
      ),
    ).toBe('x\n');
    expect([await machine.exists('package.json'), await machine.exists('fine')]).toEqual([
      true,
      true,
    ]);
    expect(await machine.exists('.orion/x')).toBe(false);
  });

  test('a path that is allowed is an ordinary one', async ({ machine }) => {
    await put(machine.path('.git/config'), 'before');
    const found = await answerTo(machine, 'echo x > .git/config; echo y > .npmrc; echo z > .env', [
      '--sandbox',
      'require',
      '--allow-path',
      '.git/**',
      '--allow-path',
      '.npmrc',
    ]);
    expect(String(await machine.read('.git/config'))).toBe('x\n');
    expect(String(await machine.read('.npmrc'))).toBe('y\n');
    expect(found['protected_changes']).toMatchObject([{ path: '.env', change: 'created' }]);
  });

  test('a line reaches no network, unless it is allowed', async ({ machine }) => {
    const server = createServer((socket) => socket.end('answer'));
    await new Promise<void>((settle) => server.listen(0, '127.0.0.1', settle));
    const address = server.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    // Perl is part of git, and of every Debian.
    const line = `perl -MIO::Socket::INET -e '$s=IO::Socket::INET->new("127.0.0.1:${port}") or print("no: $!"); print <$s> if $s'`;
    try {
      const off = await answerTo(machine, line);
      expect(off).toMatchObject({ protections: { network: 'off' } });
      expect(off['output']).not.toContain('answer');
      const on = await answerTo(machine, line, ['--sandbox', 'require', '--allow-network']);
      expect(on).toMatchObject({ protections: { network: 'on' } });
      if (works('perl -MIO::Socket::INET -e 1')) expect(on['output']).toBe('answer');
    } finally {
      server.close();
    }
  });
});

describe.concurrent('without a sandbox', () => {
  test('a line that changes protected paths is named with them, and nothing is undone', async ({
    machine,
  }) => {
    await put(machine.path('.env'), 'before');
    const found = await answerTo(machine, 'echo x > .npmrc; echo after >> .env; touch fine', [
      '--sandbox',
      'off',
    ]);
    expect(found['protections']).toEqual({ sandbox: 'none', because: 'it is switched off' });
    expect(found['protected_changes']).toEqual([
      { path: '.env', change: 'changed' },
      { path: '.npmrc', change: 'created' },
    ]);
    expect(await machine.exists('.npmrc')).toBe(true);
  });

  test('a line is refused where a sandbox is required and bubblewrap is not there', async ({
    machine,
  }) => {
    const empty = join(machine.root, 'empty');
    await mkdir(empty);
    const call: Behaviour = {
      name: 'line',
      when: { toolResults: 0 },
      reply: { toolCalls: [{ name: 'run_command', arguments: { command: ': > made' } }] },
    };
    const provider = await machine.provider({ behaviours: [call, LAST_WORD] });
    await machine.ask(provider, ['--json', '--approve-commands', 'auto', '--sandbox', 'require'], {
      env: { PATH: empty },
    });
    expect(lastToolMessage(provider.requests)).toContain('a sandbox is required, and bubblewrap');
    expect(await machine.exists('made')).toBe(false);
  });
});

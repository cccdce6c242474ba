import { randomUUID } from 'node:crypto';
import { cp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import type { SessionListing } from '@orion/contracts';

import { at, type Sandbox, type SessionOnDisk } from './support/sandbox.ts';
import { LAST_WORD, numbered, sha256, writeMessages } from './support/scripts.ts';
import { longTest, test } from './support/test.ts';

const TEXT = numbered('const value', 1, 12);

async function orphan(machine: Sandbox): Promise<SessionOnDisk> {
  const provider = await machine.provider(writeMessages('a.ts', [TEXT]));
  const ended = await machine.ask(provider, [], { env: { WRITE_SESSION_IDLE_MS: '0' } });
  expect(ended.exitCode, ended.stderr).toBe(3);
  const [session] = await machine.sessions();
  if (session === undefined) throw new Error('there is no session');
  return session;
}

async function listed(machine: Sandbox): Promise<readonly SessionListing[]> {
  const { stdout } = await machine.run(['list-sessions', '--json']);
  return (JSON.parse(stdout) as { readonly sessions: readonly SessionListing[] }).sessions;
}

describe('R067: a session without usable metadata', () => {
  test.concurrent.for([
    ['missing', null],
    ['cut off', '{"version":1,"session_id":'],
    ['something else', '[]'],
  ] as const)(
    'is listed as damaged and never finalized, its text is readable: metadata %s',
    { tags: ['long'] },
    async ([, metadata], { machine }) => {
      const session = await orphan(machine);
      const file = join(session.directory, 'metadata.json');
      if (metadata === null) await rm(file);
      else await writeFile(file, metadata);

      expect(await listed(machine)).toMatchObject([
        { session_id: session.id, status: 'damaged', recoverable: false, bytes: TEXT.length },
      ]);
      for (const options of [['--finalize'], []]) {
        const refused = await machine.run(['recover-session', session.id, ...options]);
        expect(refused.exitCode).toBe(1);
        expect(refused.stderr).toContain(
          `orion: SESSION_DAMAGED: The write session ${session.id} is damaged: `,
        );
        expect(refused.stderr).toContain(
          `Copy the text out with \`orion recover-session ${session.id} --out saved.txt\`.`,
        );
      }
      const provider = await machine.provider({ behaviours: [LAST_WORD] });
      const other = await machine.run(['run', 'Hello', '--recover', 'yes', ...at(provider)]);
      expect(other.exitCode, other.stderr).toBe(0);
      expect(await machine.exists('a.ts')).toBe(false);

      const out = join(machine.root, 'text');
      const copied = await machine.run(['recover-session', session.id, '--out', out]);
      expect(copied.exitCode, copied.stderr).toBe(0);
      expect(sha256(await readFile(out))).toBe(sha256(TEXT));
      expect(String(await session.content())).toBe(TEXT);
    },
  );
});

test.concurrent('R067: a broken state.json is rebuilt from the content file, which wins', async ({
  machine,
}) => {
  const session = await orphan(machine);
  await writeFile(join(session.directory, 'state.json'), '{"version":1,"buffer_si');
  expect(await listed(machine)).toMatchObject([{ status: 'orphan', lines: 12 }]);
  const ended = await machine.run(['recover-session', session.id, '--finalize']);
  expect(ended.exitCode, ended.stderr).toBe(0);
  expect(String(await machine.read('a.ts'))).toBe(TEXT);
});

longTest(
  'a session that came with the workspace is foreign: not offered, not finalized',
  async ({ machine }) => {
    const session = await orphan(machine);
    const metadata = join(session.directory, 'metadata.json');
    const text = await readFile(metadata, 'utf8');
    await writeFile(metadata, text.replaceAll('a.ts', 'b.ts'));
    expect(await listed(machine)).toMatchObject([{ status: 'foreign', recoverable: false }]);
    const ended = await machine.run(['recover-session', session.id, '--finalize']);
    expect(ended.exitCode).toBe(1);
    expect(ended.stderr).toMatch(
      /^orion: SESSION_FOREIGN: The write session \S+ was not made by you here\.$/mu,
    );
    expect(await machine.exists('b.ts')).toBe(false);
  },
);

for (const [name, status, tags] of [
  ['metadata.json', 'damaged', []],
  ['state.json', 'orphan', ['long']],
  ['turn.json', 'orphan', ['long']],
  ['lease.json', 'orphan', ['long']],
] as const) {
  const title = `a planted ${name} that nests very deeply hides no session and ends no command`;
  test.concurrent(title, { tags: [...tags] }, async ({ machine }) => {
    const session = await orphan(machine);
    const other = join(session.directory, '..', randomUUID());
    await cp(session.directory, other, { recursive: true });
    const file = join(session.directory, name);
    const text = name === 'lease.json' ? '{}' : await readFile(file, 'utf8');
    const deep = `"more":${'[{"a":'.repeat(100_000)}0${'}]'.repeat(100_000)}`;
    await writeFile(file, text.replace(/^\{/u, text === '{}' ? `{${deep}` : `{${deep},`));

    const both = await listed(machine);
    expect(both).toHaveLength(2);
    expect(both).toContainEqual(expect.objectContaining({ session_id: session.id, status }));
    const ended = await machine.run(['recover-session', session.id, '--finalize']);
    expect(ended.stderr).not.toContain('INTERNAL_ERROR');
    expect(ended.exitCode, ended.stderr).toBe(status === 'damaged' ? 1 : 0);
    if (status === 'damaged') expect(ended.stderr).toContain('SESSION_DAMAGED');
  });
}

test.concurrent('R069: what lies beside the sessions is neither listed nor touched', async ({
  machine,
}) => {
  await machine.write('.orion/logs/write_sessions/notes.txt', 'mine\n');
  await machine.write('.orion/logs/write_sessions/not-an-id/content.txt', 'mine too\n');
  expect(await listed(machine)).toEqual([]);
  const cleaned = await machine.run(['clean-sessions', '--all', '--yes']);
  expect(cleaned.stdout).toContain('0 write sessions');
  expect(String(await machine.read('.orion/logs/write_sessions/notes.txt'))).toBe('mine\n');
  expect(await machine.exists('.orion/logs/write_sessions/not-an-id/content.txt')).toBe(true);
});

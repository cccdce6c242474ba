// @module-tag long
import { mkdir } from 'node:fs/promises';
import { createServer, type AddressInfo, type Socket } from 'node:net';

import type { RunEvent } from '@orion/contracts';
import type { ScriptedProvider } from '@orion/llm-adapters/scripted';
import { startPostgres } from '@orion/testkit/postgres';
import type { TestPostgres } from '@orion/testkit/postgres';
import { expect } from 'vitest';

import type { Finished, Running } from './support/run.ts';
import { at } from './support/sandbox.ts';
import type { Sandbox } from './support/sandbox.ts';
import { LAST_WORD, numbered, writeDocument } from './support/scripts.ts';
import { conversations, loggedKinds } from './support/stored.ts';
import { test } from './support/test.ts';
import { waitFor } from './support/wait.ts';

const ROWS = numbered('row', 1, 400, 3);
const NOTICE = /The store does not work \(/gu;

test.concurrent('a database file that is none costs one notice, and not the turn', async ({
  machine,
}) => {
  await machine.write(
    '.orion/orion.db',
    'this was a shopping list and not a database\n'.repeat(50),
  );
  const provider = await machine.provider(writeDocument({ target: 'rows.txt', content: ROWS }));

  const ended = await machine.ask(provider);

  expect(ended.exitCode, ended.stderr).toBe(0);
  expect(String(await machine.read('rows.txt'))).toBe(ROWS);
  expect(ended.stderr.match(NOTICE)).toHaveLength(1);
  expect(ended.stderr).toContain(
    'The store does not work (STORE_UNAVAILABLE: The SQLite database cannot be used: file is not a database). The turn goes on; ',
  );
  // Whatever it is, it is left as it was.
  expect(String(await machine.read('.orion/orion.db'))).toContain('shopping list');
  const listed = await machine.run(['conversations', 'list']);
  expect(listed.exitCode).toBe(1);
  expect(listed.stderr).toContain(
    'orion: STORE_UNAVAILABLE: The SQLite database cannot be used: file is not a database\n',
  );
});

test.concurrent('a database that cannot be made costs one notice, and not the turn', async ({
  machine,
}) => {
  // A folder in its place: to be denied a file is nothing that root can be.
  await mkdir(machine.path('.orion', 'orion.db'), { recursive: true });
  const provider = await machine.provider(writeDocument({ target: 'rows.txt', content: ROWS }));

  const ended = await machine.ask(provider, ['--continue', '--json']);

  expect(ended.exitCode, ended.stderr).toBe(0);
  expect(String(await machine.read('rows.txt'))).toBe(ROWS);
  expect(noticesOf(ended)).toHaveLength(1);
  // The loss that the notice warned of is reported in the end, to a person and to a script.
  const { notStored } = ended.result();
  expect(notStored).toMatchObject({ conversations: 1 });
  expect(notStored?.turnEvents).toBeGreaterThan(10);
  expect(notStored?.traceEvents).toBeGreaterThan(10);
  expect(
    ended.stderr.match(/^Not stored, since the store was away.*: 1 conversation, /gmu),
  ).toHaveLength(1);
  // Whether there was a conversation is not known, so nothing is said of it.
  expect(ended.stderr).not.toContain('no conversation');
});

test.concurrent('a DATABASE_URL that leads nowhere costs one notice without the password', async ({
  machine,
}) => {
  const provider = await machine.provider(writeDocument({ target: 'rows.txt', content: ROWS }));
  for (const url of ['postgres://me:hidden-word@127.0.0.1:1/none', 'mysql://me:hidden-word@h/d']) {
    const ended = await machine.run(['run', 'Write it.', ...at(provider)], {
      env: { DATABASE_URL: url },
    });
    expect(ended.exitCode, ended.stderr).toBe(0);
    expect(ended.stderr.match(NOTICE)).toHaveLength(1);
    expect(ended.stderr).not.toContain('hidden-word');
    await machine.write('rows.txt', '');
  }
});

test.concurrent('R228: TRACE_STRICT makes a trace that cannot be kept a failure', async ({
  machine,
}) => {
  const provider = await machine.provider({ behaviours: [LAST_WORD] });
  const ended = await machine.run(['run', 'hello', ...at(provider)], {
    env: { DATABASE_URL: 'postgres://me@127.0.0.1:1/none', TRACE_STRICT: 'true' },
  });
  expect(ended.exitCode).toBe(1);
  expect(ended.stderr).toContain('orion: STORE_UNAVAILABLE');
});

test.concurrent('C10: a server that takes connections and never answers keeps no turn and no end waiting', async ({
  machine,
}) => {
  const sockets: Socket[] = [];
  const server = createServer((socket) => void sockets.push(socket.on('error', () => undefined)));
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  try {
    const { port } = server.address() as AddressInfo;
    const provider = await machine.provider(writeDocument({ target: 'rows.txt', content: ROWS }));

    const ended = await machine.ask(provider, ['--json'], {
      env: { DATABASE_URL: `postgres://me@127.0.0.1:${port}/none` },
    });

    expect(ended.exitCode, ended.stderr).toBe(0);
    expect(String(await machine.read('rows.txt'))).toBe(ROWS);
    expect(sockets.length).toBeGreaterThan(0);
    // A history that was asked for is waited for, and the turn continues without it.
    const env = { DATABASE_URL: `postgres://me@127.0.0.1:${port}/none` };
    const again = await machine.run(['run', 'And now?', '--continue', ...at(provider)], { env });
    expect(again.exitCode, again.stderr).toBe(0);
    expect(again.stderr.match(NOTICE)).toHaveLength(1);
    const named = await machine.run(['run', 'x', '--resume', 'x', ...at(provider)], { env });
    expect(named.exitCode).toBe(1);
    expect(named.stderr).toContain('orion: STORE_UNAVAILABLE: The store does not answer\n');
    // Silence alone is not reported while the turn runs; what it cost is reported at the end.
    expect(noticesOf(ended)).toEqual([]);
    expect(ended.result().notStored).toMatchObject({ conversations: 1 });
    expect(ended.stderr).toContain('Not stored, since the store was away');
  } finally {
    for (const socket of sockets) socket.destroy();
    server.close();
  }
});

test(
  'a Postgres that is killed in mid-turn does not end the turn; one that is back has the next one',
  { tags: ['long'] },
  async ({ machine }) => {
    const postgres = await startPostgres();
    try {
      const env = { DATABASE_URL: postgres.url };
      const { provider, writer } = await askUntilStoreIsMissed(machine, postgres);

      provider.hurry();
      const first = await writer.finished;

      expect(first.exitCode, first.stderr).toBe(0);
      expect(String(await machine.read('rows.txt'))).toBe(ROWS);
      expect(noticesOf(first)).toHaveLength(1);
      expect(await machine.exists('.orion/orion.db')).toBe(false);

      await postgres.restart();
      const slow = await machine.provider({
        behaviours: [{ ...LAST_WORD, faults: [{ kind: 'stall', at: { characters: 3 } }] }],
      });
      const second = machine.start(['run', 'And now?', '--json', ...at(slow)], { env });
      const { requestId, conversationId } = await second.waitForEvent('the answer', isText);
      // A turn does not wait for a store that has yet to answer, and on a busy machine that takes longer than this one.
      await waitFor('the turn in the log', async () => {
        const logged = await loggedKinds(postgres.url, requestId);
        return logged.length > 0;
      });
      slow.hurry();
      const ended = await second.finished;
      expect(ended.exitCode, ended.stderr).toBe(0);
      const listed = await waitFor('the conversation', () => conversations(machine, env));
      expect(listed[0]).toMatchObject({ conversationId, openSessionId: null });
      const third = await machine.run(['run', 'More.', '--continue', '--json', ...at(provider)], {
        env,
      });
      expect(third.events()[0]?.conversationId).toBe(conversationId);
    } finally {
      await postgres.stop();
    }
  },
);

test('a Postgres that is killed and restarted in mid-turn has the whole turn in the end', async ({
  machine,
}) => {
  const postgres = await startPostgres();
  try {
    const env = { DATABASE_URL: postgres.url };
    const { provider, writer, notice } = await askUntilStoreIsMissed(machine, postgres);
    await postgres.restart();
    // A turn that ends before the writer has found the store again does not wait for it.
    await waitFor('the notice in the log that is back', async () => {
      const logged = await loggedKinds(postgres.url, notice.requestId);
      return logged.some(([seq]) => seq === notice.seq);
    });

    provider.hurry();
    const ended = await writer.finished;

    expect(ended.exitCode, ended.stderr).toBe(0);
    expect(String(await machine.read('rows.txt'))).toBe(ROWS);
    // Traces may have been dropped, and would have been counted; nothing else was.
    const { turnEvents = 0, conversations: unsaved = 0 } = ended.result().notStored ?? {};
    expect([turnEvents, unsaved]).toEqual([0, 0]);
    const shown = ended.events();
    const logged = await loggedKinds(postgres.url, ended.result().requestId ?? '');
    expect(logged.map(([seq]) => seq)).toEqual(logged.map((_, index) => index + 1));
    expect(logged.filter(([, kind]) => kind !== 'write_chunk')).toEqual(
      shown.map(({ seq, type }) => [seq, type]),
    );
    expect(await conversations(machine, env)).toMatchObject([
      { conversationId: shown[0]?.conversationId, openSessionId: null },
    ]);
  } finally {
    await postgres.stop();
  }
});

/**
 * A turn whose database is killed in the middle of the file, when it has noticed that. However slow this machine is,
 * the model does not come to the end of the text before `provider.hurry()`.
 */
async function askUntilStoreIsMissed(
  machine: Sandbox,
  postgres: TestPostgres,
): Promise<{
  readonly provider: ScriptedProvider;
  readonly writer: Running;
  readonly notice: RunEvent;
}> {
  const provider = await machine.provider(
    writeDocument(
      { target: 'rows.txt', content: ROWS },
      {
        faults: [{ kind: 'stall', reply: 1, at: { lines: 300 } }],
        shape: { chunk: 32, eventsPerSecond: 12 },
      },
    ),
  );
  const writer = machine.startAsking(provider, ['--json'], {
    env: { DATABASE_URL: postgres.url, WRITE_SESSION_SAVE_MS: '100' },
  });
  await machine.savedSession(100);
  await postgres.kill();
  const notice = await writer.waitForEvent('the notice', isNotice);
  return { provider, writer, notice };
}

function noticesOf(ended: Finished): readonly RunEvent[] {
  return ended.events().filter(isNotice);
}

function isText(event: RunEvent): boolean {
  return event.type === 'chunk';
}

function isNotice(event: RunEvent): boolean {
  return event.type === 'chunk' && event.content.startsWith('The store does not work');
}

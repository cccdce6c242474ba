// @module-tag long
import { DatabaseSync } from 'node:sqlite';

import { expect } from 'vitest';

import { at } from './support/sandbox.ts';
import { beginCall, LAST_WORD, numbered, writeDocument } from './support/scripts.ts';
import { conversations } from './support/stored.ts';
import { test } from './support/test.ts';
import { waitFor } from './support/wait.ts';

const ROWS = numbered('row', 1, 20);

type Shown = {
  readonly history: readonly {
    readonly role: string;
    readonly content: string;
    readonly toolCallId?: string;
    readonly toolCalls?: readonly { readonly id: string }[];
  }[];
};

test.concurrent('R277: two processes continue one conversation at once, and both turns are in it, whole', async ({
  machine,
}) => {
  const slow = await machine.provider(
    writeDocument(
      { target: 'rows.txt', content: ROWS },
      {
        shape: { chunk: 7 },
        faults: [{ kind: 'stall', reply: 1, at: { lines: 10 }, forMs: 2500 }],
      },
    ),
  );
  const quick = await machine.provider({
    behaviours: [{ name: 'late', reply: { text: 'Yes.' }, shape: { firstDelayMs: 400 } }],
  });
  const begun = await machine.run(['run', 'Begin.', '--json', ...at(quick)]);
  expect(begun.exitCode, begun.stderr).toBe(0);

  const before = slow.requests.length;
  const writer = machine.startAsking(slow, ['--continue', '--json']);
  await waitFor('the writer’s request', () => slow.requests.length > before);
  const others = ['First?', 'Second?'].map((prompt) =>
    machine.start(['run', prompt, '--continue', '--json', ...at(quick)]),
  );
  const ended = await Promise.all([writer, ...others].map((each) => each.finished));

  const [{ conversationId } = { conversationId: '' }, ...more] = await conversations(machine);
  expect(more).toEqual([]);
  for (const each of ended) {
    expect(each.exitCode, each.stderr).toBe(0);
    expect(each.events()[0]?.conversationId).toBe(conversationId);
    expect(each.stdout).not.toContain('"source":"notice"');
  }
  const shown = await machine.run(['conversations', 'show', conversationId, '--json']);
  const { history } = JSON.parse(shown.stdout) as Shown;
  const contents = history.map(({ content }) => content);
  // Each turn once, and each with its answers right behind it.
  expect(
    contents.filter((content) => /Begin|Write it|First|Second/u.test(content)).toSorted(),
  ).toEqual(['Begin.', 'First?', 'Second?', 'Write it.']);
  for (const prompt of ['Begin.', 'First?', 'Second?']) {
    expect(contents[contents.indexOf(prompt) + 1]).toBe('Yes.');
  }
  const written = history.slice(contents.indexOf('Write it.') + 1).slice(0, 3);
  expect(written.map(({ role }) => role)).toEqual(['assistant', 'tool', 'assistant']);
  expect(written[0]?.toolCalls?.map(({ id }) => id)).toEqual([written[1]?.toolCallId]);
  expect(written[1]?.content).toContain('"status":"written"');
  expect(written[2]?.content).toBe('All written.');
  expect(String(await machine.read('rows.txt'))).toBe(ROWS);
});

test.concurrent('R277: a recovery finds its conversation behind 250 newer ones', async ({
  machine,
}) => {
  const provider = await machine.provider({
    behaviours: [
      { name: 'no end', when: { toolChoice: 'none' }, reply: { text: 'line 1\n' } },
      beginCall({ target_file: 'a.txt' }),
      LAST_WORD,
    ],
  });
  const paused = await machine.ask(provider, ['--json'], { env: { WRITE_SESSION_IDLE_MS: '0' } });
  expect(paused.exitCode, paused.stderr).toBe(3);
  const conversationId = paused.events()[0]?.conversationId ?? '';
  const [session] = await machine.sessions();
  const database = new DatabaseSync(machine.path('.orion', 'orion.db'));
  database.exec(
    `with recursive number (n) as (select 1 union all select n + 1 from number where n < 250)
     insert into conversation (conversation_id, project_id, title, messages, created_at, updated_at)
     select 'newer-' || n, 'default', 'newer', 0, created_at, updated_at + n
     from number, conversation where open_session_id is not null`,
  );
  database.close();

  const ended = await machine.run(['recover-session', session?.id ?? '', '--finalize', '--json']);

  expect(ended.exitCode, ended.stderr).toBe(0);
  expect(ended.events()[0]?.conversationId).toBe(conversationId);
  const shown = await machine.run(['conversations', 'show', conversationId]);
  expect(shown.stdout).toContain('"status":"written"');
  expect(shown.stdout).not.toContain('"status":"paused"');
  expect(shown.stderr).not.toContain('was left open');
});

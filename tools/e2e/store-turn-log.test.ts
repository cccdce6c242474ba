import type { RunEvent } from '@orion/contracts';
import { expect } from 'vitest';

import { LAST_WORD, numbered, writeDocument } from './support/scripts.ts';
import { at } from './support/sandbox.ts';
import { ageTurns, loggedEvents, storeBytes } from './support/stored.ts';
import { longTest, test } from './support/test.ts';
import { waitFor } from './support/wait.ts';

const CANARY = 'canary line';
const ROWS = numbered(CANARY, 1, 3000, 4);

test.concurrent('every event of --json is a row of the turn log under the same number', async ({
  machine,
}) => {
  const provider = await machine.provider(writeDocument({ target: 'rows.txt', content: ROWS }));

  const ended = await machine.ask(provider, ['--json']);

  expect(ended.exitCode, ended.stderr).toBe(0);
  const shown = ended.events();
  const turnId = ended.result().requestId ?? '';
  const logged = loggedEvents(machine, turnId);
  // Without a gap: what --json leaves out is the content alone.
  expect(logged.map((row) => row.seq)).toEqual(logged.map((_, index) => index + 1));
  expect(logged.at(-1)?.kind).toBe('done');
  const kept = logged.filter((row) => row.kind !== 'write_chunk');
  expect(kept.map(({ seq, kind }) => [seq, kind])).toEqual(
    shown.map(({ seq, type }) => [seq, type]),
  );
  expect(kept.map(({ seq, kind, data }) => ({ ...data, seq, type: kind }))).toEqual(shown);

  // Content is named by its place, which covers the file, and joined: no row for each piece of a stream.
  const content = logged.filter((row) => row.kind === 'write_chunk').map((row) => row.data);
  let end = 0;
  for (const { offset, length, ...rest } of content) {
    expect(offset).toBe(end);
    expect(rest).not.toHaveProperty('content');
    end += Number(length);
  }
  expect(end).toBe(Buffer.byteLength(ROWS));
  expect(content.length).toBeLessThan(150);
});

test.concurrent('R090: the store never holds the text of a file, not while it is written and not after', async ({
  machine,
}) => {
  const provider = await machine.provider(
    writeDocument(
      { target: 'rows.txt', content: ROWS },
      { faults: [{ kind: 'stall', reply: 1, at: { lines: 1500 } }] },
    ),
  );
  const writer = machine.startAsking(provider, ['--json', '--verbose'], {
    env: { WRITE_SESSION_SAVE_MS: '100' },
  });
  const session = await machine.savedSession(20_000);
  expect(String(await storeBytes(machine))).not.toContain(CANARY);
  writer.kill('SIGKILL');
  await writer.finished;

  const ended = await machine.run(['recover-session', session.id, '--json']);

  expect(ended.exitCode, ended.stderr).toBe(0);
  expect(String(await machine.read('rows.txt'))).toBe(ROWS);
  const bytes = String(await storeBytes(machine));
  expect(bytes).not.toContain(CANARY);
  // The search would find what is stored.
  expect(bytes).toContain('rows.txt');
});

longTest('a turn that is killed has what it had shown in the log', async ({ machine }) => {
  const provider = await machine.provider(
    writeDocument(
      { target: 'rows.txt', content: ROWS },
      { faults: [{ kind: 'stall', reply: 1, at: { lines: 1500 } }] },
    ),
  );
  const writer = machine.startAsking(provider, ['--json']);
  const session = await machine.savedSession(20_000);
  const begun = await writer.waitForEvent('the session', (event) => event.type === 'write_session');
  // The log is written beside the turn, and before the turn is over.
  await waitFor('the session in the log', () =>
    loggedEvents(machine, begun.requestId).some((row) => row.seq === begun.seq),
  );
  writer.kill('SIGKILL');
  await writer.finished;

  const logged = loggedEvents(machine, begun.requestId);
  expect(logged.map((row) => row.seq)).toEqual(logged.map((_, index) => index + 1));
  const kinds = logged.map((row) => row.kind);
  expect(kinds.indexOf('tool_calls')).toBeGreaterThan(-1);
  expect(kinds.indexOf('write_session')).toBeGreaterThan(kinds.indexOf('tool_calls'));
  expect(kinds).not.toContain('done' satisfies RunEvent['type']);

  // Long after, the next turn of anybody folds it, and the file can still be recovered.
  ageTurns(machine, 40);
  const another = await machine.provider({ behaviours: [LAST_WORD] });
  const next = await machine.run(['run', 'And now?', ...at(another)]);
  expect(next.exitCode, next.stderr).toBe(0);
  const left = loggedEvents(machine, begun.requestId).map((row) => row.kind);
  expect(left).toContain('write_session');
  expect(left).not.toContain('write_chunk');
  const recovered = await machine.run(['recover-session', session.id, '--json']);
  expect(recovered.exitCode, recovered.stderr).toBe(0);
  expect(String(await machine.read('rows.txt'))).toBe(ROWS);
});

// @module-tag long
import { expect } from 'vitest';

import { at } from './support/sandbox.ts';
import {
  BEGIN,
  beginCall,
  LAST_WORD,
  numbered,
  sha256,
  writeDocument,
  writeMessages,
} from './support/scripts.ts';
import { test } from './support/test.ts';
import { failedCalls } from './support/outcomes.ts';

/** Hazard: the block of a model lands in another place than the one it named, or nowhere. R259. */

const CODE = 'function one() {\n  return 1;\n}\n\nfunction two() {\n  return 2;\n}\n';

test.concurrent('inserts the streamed lines after the line of the marker', async ({ machine }) => {
  await machine.write('code.js', CODE.replaceAll('\n', '\r\n'));
  const provider = await machine.provider(
    writeMessages('code.js', ['// second\n// line\nDONE'], {
      operation: 'insert',
      begin: { location: { marker: 'function two', position: 'before' } },
    }),
  );
  const ended = await machine.ask(provider, ['--json']);
  expect(ended.exitCode, ended.stderr).toBe(0);
  const bytes = await machine.read('code.js');
  expect(String(bytes)).toBe(
    CODE.replace('function two', '// second\n// line\nfunction two').replaceAll('\n', '\r\n'),
  );
  expect(ended.result().receipts[0]).toMatchObject({
    operation: 'insert',
    bytes: 20,
    lines: 2,
    eol: 'crlf',
    sha256: sha256(bytes),
  });
});

test.concurrent('replaces the lines between two markers', async ({ machine }) => {
  await machine.write('code.js', CODE);
  const provider = await machine.provider(
    writeMessages('code.js', ['  return 22;\nDONE'], {
      operation: 'replace',
      begin: { location: { start_marker: 'function two() {', end_marker: '^}(?!\n)$' } },
    }),
  );
  const refused = await machine.ask(provider, ['--json']);
  // Taken as text, that end marker is nowhere in the file; nothing was streamed for it.
  expect(failedCalls(refused)).toEqual([[BEGIN, 'MARKER_NOT_FOUND']]);
  expect(String(await machine.read('code.js'))).toBe(CODE);
  const again = await machine.provider(
    writeMessages('code.js', ['  return 22;\nDONE'], {
      operation: 'replace',
      begin: {
        location: {
          start_marker: 'function two() {',
          end_marker: 'return 2;',
          include_markers: true,
        },
      },
    }),
  );
  const ended = await machine.ask(again);
  expect(ended.exitCode, ended.stderr).toBe(0);
  expect(ended.stderr).toContain('Replaced a block of code.js');
  expect(String(await machine.read('code.js'))).toBe(
    'function one() {\n  return 1;\n}\n\n  return 22;\n}\n',
  );
});

test.concurrent('a begin without its place is refused, and leaves no session', async ({
  machine,
}) => {
  await machine.write('a.txt', 'two\ntwo\n');
  const places: readonly (object | undefined)[] = [
    undefined,
    { marker: 'two' },
    { marker: 'two', position: 'after' },
    { marker: 'none', position: 'after' },
    { marker: '(', marker_type: 'regex', position: 'after' },
  ];
  const provider = await machine.provider({
    behaviours: [
      ...places.map((location, index) =>
        beginCall({ target_file: 'a.txt', operation: 'insert', location }, index),
      ),
      LAST_WORD,
    ],
  });
  const ended = await machine.ask(provider, ['--json'], { env: { MAX_DUPLICATE_ATTEMPTS: '9' } });
  const results = ended
    .events()
    .flatMap((event) => (event.type === 'tool_result' ? [event.summary] : []));
  expect(results.map((summary) => /\(([A-Z_]+)\)/u.exec(summary)?.[1])).toEqual([
    'INVALID_OPERATION',
    'INVALID_OPERATION',
    'MARKER_NOT_UNIQUE',
    'MARKER_NOT_FOUND',
    'INVALID_OPERATION',
  ]);
  expect(await machine.sessions()).toEqual([]);
});

test.concurrent('the same place twice in one turn is a duplicate, another one is not', async ({
  machine,
}) => {
  await machine.write('a.txt', 'one\ntwo\n');
  const begin = (marker: string, results: number): ReturnType<typeof beginCall> => ({
    ...beginCall(
      { target_file: 'a.txt', operation: 'insert', location: { marker, position: 'after' } },
      results,
    ),
    name: `after ${marker} (${results})`,
  });
  const provider = await machine.provider({
    behaviours: [
      { name: 'text', when: { toolChoice: 'none' }, reply: { text: 'new\nDONE' } },
      begin('one', 0),
      begin('two', 1),
      begin('one', 2),
      LAST_WORD,
    ],
  });
  const ended = await machine.ask(provider, ['--json']);
  expect(ended.exitCode, ended.stderr).toBe(0);
  expect(String(await machine.read('a.txt'))).toBe('one\nnew\ntwo\nnew\n');
  expect(failedCalls(ended)).toEqual([[BEGIN, 'DUPLICATE_BLOCKED']]);
});

test.concurrent('an interrupted edit is finished by hand, in the place that was found at begin', async ({
  machine,
}) => {
  await machine.write('a.txt', 'one\ntwo\n');
  const provider = await machine.provider(
    writeMessages('a.txt', ['new\n'], {
      operation: 'insert',
      begin: { location: { marker: 'one', position: 'after' } },
    }),
  );
  const paused = await machine.ask(provider, ['--json'], { env: { WRITE_SESSION_IDLE_MS: '0' } });
  expect(paused.exitCode).toBe(3);
  const id = paused.result().paused[0]?.session_id ?? '';
  const listed = await machine.run(['list-sessions', '--json']);
  expect(JSON.parse(listed.stdout)).toMatchObject({
    sessions: [{ session_id: id, operation: 'insert', status: 'orphan' }],
  });
  await machine.write('a.txt', 'zero\none\ntwo\n');
  const changed = await machine.run(['recover-session', id, '--finalize']);
  expect(changed.exitCode).toBe(3);
  expect(changed.stderr).toContain('Paused (TARGET_CHANGED): a.txt is not written yet. ');
  const ended = await machine.run(['recover-session', id, '--finalize', '--on-conflict=overwrite']);
  expect(ended.exitCode, ended.stderr).toBe(0);
  expect(String(await machine.read('a.txt'))).toBe('zero\none\nnew\ntwo\n');
});

test.concurrent('a killed edit continues where it stopped, and ends up where it was meant to', async ({
  machine,
}) => {
  const rows = numbered('row', 1, 60, 2);
  await machine.write('a.txt', 'one\ntwo\n');
  const [document] = writeDocument(
    { target: 'a.txt', content: rows },
    { faults: [{ kind: 'stall', reply: 1, at: { lines: 30 } }] },
  ).behaviours;
  if (document === undefined) throw new Error('no document');
  const location = { marker: 'one', position: 'after' };
  const provider = await machine.provider({
    shape: { chunk: 7 },
    behaviours: [
      document,
      beginCall({ target_file: 'a.txt', operation: 'insert', location }),
      LAST_WORD,
    ],
  });
  const { session } = await machine.askUntilKilled(provider, 210);
  expect(String(await machine.read('a.txt'))).toBe('one\ntwo\n');
  const ended = await machine.run(['recover-session', session.id, ...at(provider)]);
  expect(ended.exitCode, ended.stderr).toBe(0);
  expect(String(await machine.read('a.txt'))).toBe(`one\n${rows}two\n`);
});

test.concurrent('the tool asks for the block, not for the whole file', async ({ machine }) => {
  await machine.write('a.txt', 'one\n');
  const provider = await machine.provider(
    writeMessages('a.txt', ['', 'new\nDONE'], {
      operation: 'insert',
      begin: { location: { marker: 'one', position: 'after' } },
    }),
  );
  const ended = await machine.ask(provider);
  expect(ended.exitCode, ended.stderr).toBe(0);
  const sent = JSON.stringify(provider.requests);
  expect(sent).toContain('Write the text to insert into a.txt as your next message');
  expect(sent).not.toContain('complete content of a.txt');
  expect(sent).toContain(BEGIN);
});

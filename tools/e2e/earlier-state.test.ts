// @module-tag long
import { readdir } from 'node:fs/promises';

import { describe, expect } from 'vitest';

import { putEarlierState } from './support/earlier-state.ts';
import { sent } from './support/requests.ts';
import { at, type Sandbox } from './support/sandbox.ts';
import { numbered, sha256 } from './support/scripts.ts';
import { conversations } from './support/stored.ts';
import { test } from './support/test.ts';

/** Hazard: what an earlier version left on the disk is not understood any more. */

const WAITS = 'session_active.awaiting_done_or_more_content';
const PAUSED = 'session_active.paused';
const BODY = numbered('const value', 1, 12);

type Recovery = {
  readonly target: string;
  readonly id: string;
  /** Operation, state, lines and bytes as they are listed. */
  readonly was: readonly [string, string | null, number, number];
  /** By hand; otherwise the model continues it. */
  readonly options?: readonly string[];
  /** What the model says, for ever. */
  readonly says?: string;
  readonly text: string;
};

const RECOVERIES: readonly Recovery[] = [
  {
    target: 'awaiting-content.ts',
    was: ['create', null, 0, 0],
    id: 'd9b09b27-ff11-4e17-bf31-f64d2eb4d54d',
    says: `${BODY}DONE`,
    text: BODY,
  },
  {
    target: 'awaiting-more.ts',
    was: ['create', WAITS, 12, 171],
    id: '86bd5807-13b4-4f76-8f56-957072c8f60f',
    says: 'DONE',
    text: BODY,
  },
  {
    target: 'awaiting-answer.ts',
    was: ['create', WAITS, 13, 176],
    id: '7e7c9815-7c6d-4302-8a9d-d20e7659ba0d',
    says: 'DONE',
    text: BODY,
  },
  {
    target: 'needs-corrections.txt',
    was: ['create', 'session_active.needs_corrections', 1, 6],
    id: 'f32dd43f-3c94-4279-9f3c-3271ab978191',
    says: 'sorry',
    text: 'A\ufffdB\n',
  },
  {
    target: 'paused.ts',
    was: ['create', PAUSED, 12, 171],
    id: '88afb69b-2ab8-417d-b1c8-81ed26ec74ae',
    options: ['--finalize'],
    text: BODY,
  },
  {
    target: 'near-miss.ts',
    was: ['create', PAUSED, 13, 176],
    id: '9a58fd85-b668-4cb1-a397-7c3878beb10e',
    options: ['--finalize', '--answer', 'done'],
    text: BODY,
  },
  {
    target: 'end.txt',
    was: ['create', PAUSED, 8, 121],
    id: '67bec94c-630c-4d84-8d53-98413c40224d',
    options: ['--finalize', '--end-at', '4'],
    text: 'for f in *\ndo\n  ls\n',
  },
  {
    target: 'lead.txt',
    was: ['create', PAUSED, 5, 80],
    id: '684cb52d-3d64-4761-8578-ccd0c2167539',
    options: ['--finalize', '--answer', 'drop'],
    text: 'Dear reader,\n\nthis is the first letter.\n',
  },
  {
    target: 'omission.ts',
    was: ['overwrite', PAUSED, 3, 67],
    id: '59a6d1bf-56b6-41bf-b42f-21e8ae51465e',
    options: ['--finalize', '--answer', 'keep'],
    text: 'const first = 1;\n// ... rest of the code unchanged\nconst last = 2;\n',
  },
  {
    target: 'fence.txt',
    was: ['create', PAUSED, 5, 48],
    id: 'cdcf9dc5-291a-45d1-a8e5-a92d12aff9fa',
    options: ['--finalize', '--answer', 'strip'],
    text: 'const a = 1;\nconst b = 2;\n',
  },
  {
    target: 'finalizing.ts',
    was: ['overwrite', 'session_active.finalizing', 12, 171],
    id: '7347ce5b-8b01-488b-bf1c-df06974c152e',
    options: ['--finalize'],
    text: BODY,
  },
];
const IN_THE_ATTIC: Recovery = {
  target: 'attic.ts',
  was: ['create', PAUSED, 12, 171],
  id: '3db5259c-ac79-4bf1-a4e0-4b92883f7187',
  options: ['--finalize'],
  text: BODY,
};

async function recover(machine: Sandbox, recovery: Omit<Recovery, 'was'>): Promise<void> {
  const { target, id, options, says, text } = recovery;
  const model =
    options ??
    at(await machine.provider({ behaviours: [{ name: 'says', reply: { text: says ?? '' } }] }));
  const ended = await machine.run(['recover-session', id, ...model]);
  expect(ended.exitCode, ended.stderr).toBe(0);
  // What cannot be read is made anew from the saved text, with a note.
  expect(ended.stderr).not.toContain('state.json');
  expect(String(await machine.read(target))).toBe(text);
  expect((await machine.sessions()).map((session) => session.id)).not.toContain(id);
}

describe('sessions', () => {
  test.concurrent('all of them are listed as what can be recovered', async ({ machine }) => {
    await putEarlierState(machine, 'machine');
    const { stdout } = await machine.run(['list-sessions', '--json']);
    const listed = JSON.parse(stdout) as {
      readonly sessions: readonly Record<string, unknown>[];
    };
    const found = new Map(listed.sessions.map((each) => [each['target_file'], each]));
    expect(found.size).toBe(RECOVERIES.length);
    for (const { target, id, was } of RECOVERIES) {
      const [operation, state, lines, bytes] = was;
      expect(found.get(target)).toMatchObject({
        session_id: id,
        operation,
        state,
        lines,
        bytes,
        intent: 'test',
        status: 'orphan',
        recoverable: true,
      });
    }
  });

  // Every second one with every `npm test`.
  for (const [row, recovery] of [...RECOVERIES, IN_THE_ATTIC].entries()) {
    const tags = row % 2 === 0 ? [] : ['long'];
    test.concurrent(`${recovery.target} is recovered`, { tags }, async ({ machine }) => {
      await putEarlierState(machine, 'machine');
      await recover(machine, recovery);
    });
  }

  test.concurrent('what was killed before and behind its change is made once', async ({
    machine,
  }) => {
    for (const name of ['before-the-change', 'behind-the-change']) {
      await putEarlierState(machine, name);
      const [session] = await machine.sessions();
      await recover(machine, {
        target: 'a.txt',
        id: session?.id ?? '',
        options: ['--finalize'],
        text: 'one\r\ntwo\r\n',
      });
    }
  });
});

describe('changes', () => {
  test.concurrent('a change and a plan are undone', async ({ machine }) => {
    await putEarlierState(machine, 'machine');
    const undone = await machine.run(['undo', '32f98927-0229-44fa-bf92-ba416fd005f7']);
    expect(undone.exitCode, undone.stderr).toBe(0);
    expect(await machine.read('notes.md')).toEqual(
      Buffer.from('\ufeffold\r\nno newline at the end \r'),
    );
    const plan = await machine.run(['undo', '1101a463-bef3-4be5-94c3-d5f7adbb96ae']);
    expect(plan.exitCode, plan.stderr).toBe(0);
    expect(String(await machine.read('other.txt'))).toBe('one\ntwo\n');
    expect(await machine.exists('fresh.txt')).toBe(false);
  });

  test.concurrent('half a plan is taken back by the next start, a whole one stays', async ({
    machine,
  }) => {
    const old = 'first\r\nsecond\r\nthird\r\n';
    for (const [name, files] of [
      ['half-a-plan', { 'a.txt': old, 'a.txt.bak': null, 'd/new.txt': null }],
      [
        'whole-plan',
        { 'a.txt': `${old}one\r\ntwo\r\n`, 'a.txt.bak': old, 'd/new.txt': 'one\ntwo\n' },
      ],
    ] as const) {
      await putEarlierState(machine, name);
      const started = await machine.run(['apply-plan', '-'], {
        stdin: JSON.stringify({
          intent: 'test',
          operations: [{ type: 'create', target_file: `${name}.txt`, content: 'x\n' }],
        }),
      });
      expect(started.exitCode, started.stderr).toBe(0);
      for (const [path, text] of Object.entries(files))
        expect((await machine.find(path))?.toString() ?? null, path).toBe(text);
      expect(await readdir(machine.path('.orion', 'plans')).catch(() => [])).toEqual([]);
    }
  });
});

test.concurrent('a conversation continues, and its turn can be inspected', async ({ machine }) => {
  await putEarlierState(machine, 'machine');
  const id = '0ae504fd-ba53-47a2-9355-2f7b2a49dfdb';
  expect(await conversations(machine)).toHaveLength(13);
  const provider = await machine.provider({ behaviours: [{ name: 'a', reply: { text: 'Yes.' } }] });
  const ended = await machine.run([
    'run',
    'And now?',
    '--recover',
    'no',
    '--resume',
    id,
    ...at(provider),
  ]);
  expect(ended.exitCode, ended.stderr).toBe(0);
  const [request] = sent(provider.requests);
  expect(request?.messages.map((message) => message.role)).toEqual([
    'system',
    'user',
    'assistant',
    'tool',
    'assistant',
    'user',
  ]);
  expect(request?.messages[3]?.content).toContain(sha256('\ufeffnew\r\n'));
  const listed = await machine.run(['trace', 'list', '--json']);
  const { traces } = JSON.parse(listed.stdout) as {
    readonly traces: readonly { readonly request_id: string }[];
  };
  expect(traces).toHaveLength(14);
  const shown = await machine.run(['trace', 'show', traces.at(-1)?.request_id ?? '']);
  expect(shown.exitCode, shown.stderr).toBe(0);
  expect(shown.stdout).toContain('notes.md');
});

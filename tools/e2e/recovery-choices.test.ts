import { describe, expect } from 'vitest';

import { prompts, sent } from './support/requests.ts';
import { at, type Sandbox } from './support/sandbox.ts';
import { beginCall, LAST_WORD, numbered, writeDocument, writeMessages } from './support/scripts.ts';
import { longTest, test } from './support/test.ts';

const TEXT = numbered('a line of the document with number', 1, 30);
const HALF = numbered('a line of the document with number', 1, 15);

/** A session for a file of which half is saved. */
async function interrupted(machine: Sandbox, target: string): Promise<string> {
  const provider = await machine.provider(writeMessages(target, [HALF]));
  const ended = await machine.ask(provider, ['--json', '--recover', 'no'], {
    env: { WRITE_SESSION_IDLE_MS: '0' },
  });
  expect(ended.exitCode, ended.stderr).toBe(3);
  return ended.result().paused[0]?.session_id ?? '';
}

describe('R068: run --recover', () => {
  test.concurrent('yes: the file first, then the prompt, in the same conversation', async ({
    machine,
  }) => {
    await interrupted(machine, 'a.txt');
    const provider = await machine.provider({
      behaviours: [
        { reply: { document: { target: 'a.txt', content: { kind: 'text', text: TEXT } } } },
        { when: { lastUser: 'And now?' }, reply: { text: 'Now it is there.' } },
      ],
    });
    const ended = await machine.run(['run', 'And now?', '--recover', 'yes', ...at(provider)]);
    expect(ended.exitCode, ended.stderr).toBe(0);
    expect(String(await machine.read('a.txt'))).toBe(TEXT);
    expect(ended.stdout).toBe('Now it is there.');
    const [, asked] = sent(provider.requests);
    expect(asked?.messages.map((message) => message.role)).toEqual([
      'system',
      'user',
      'assistant',
      'tool',
      'user',
    ]);
    expect(asked?.messages[3]?.content).toContain('"status":"written"');
    expect(JSON.stringify(asked)).not.toContain('number 7');
  });

  longTest('yes: a recovery that pauses keeps the prompt back, exit 3', async ({ machine }) => {
    const id = await interrupted(machine, 'a.txt');
    const provider = await machine.provider({
      behaviours: [{ reply: { text: '' } }],
    });
    const ended = await machine.run([
      'run',
      'And now?',
      '--recover',
      'yes',
      '--json',
      ...at(provider),
    ]);
    expect(ended.exitCode, ended.stderr).toBe(3);
    expect(ended.result().paused).toMatchObject([{ session_id: id, code: 'NO_DONE' }]);
    expect(JSON.stringify(sent(provider.requests))).not.toContain('And now?');
  });

  longTest('yes takes the newest one and lists the others', async ({ machine }) => {
    const older = await interrupted(machine, 'older.txt');
    await interrupted(machine, 'newer.txt');
    const provider = await machine.provider({
      behaviours: [
        { reply: { document: { target: 'newer.txt', content: { kind: 'text', text: TEXT } } } },
      ],
    });
    const ended = await machine.run(['run', '--recover', 'yes', ...at(provider)]);
    expect(ended.exitCode, ended.stderr).toBe(0);
    expect(await machine.exists('newer.txt')).toBe(true);
    expect(ended.stderr).toContain(`orion recover-session ${older}`);
    expect((await machine.sessions()).map((session) => session.id)).toEqual([older]);
  });

  longTest(
    'is no where no one can be asked: named on stderr, and the turn continues',
    async ({ machine }) => {
      const id = await interrupted(machine, 'a.txt');
      const provider = await machine.provider({ behaviours: [LAST_WORD] });
      const ended = await machine.ask(provider);
      expect(ended).toMatchObject({ exitCode: 0, stdout: 'All written.' });
      expect(ended.stderr).toContain('Interrupted: a.txt (create), 15 lines');
      expect(ended.stderr).toContain(`orion recover-session ${id}`);
      expect(await machine.sessions()).toHaveLength(1);
    },
  );
});

longTest(
  'R008: a session that waits does not lock its target for a new one',
  async ({ machine }) => {
    await interrupted(machine, 'a.txt');
    const provider = await machine.provider(writeDocument({ target: 'a.txt', content: TEXT }));
    const ended = await machine.ask(provider, ['--json']);
    expect(ended.exitCode, ended.stderr).toBe(0);
    expect(String(await machine.read('a.txt'))).toBe(TEXT);
  },
);

longTest(
  'Q: a session whose question is open asks it again when it is recovered',
  async ({ machine }) => {
    const text = `${HALF}DONE\nnot finished\n`;
    const silent = await machine.provider(writeMessages('a.txt', [text, '']));
    const ended = await machine.ask(silent, ['--json']);
    expect(ended.exitCode, ended.stderr).toBe(3);
    const id = ended.result().paused[0]?.session_id ?? '';
    const [session] = await machine.sessions();
    expect(await session?.json('state.json')).toMatchObject({ question: { kind: 'end' } });

    const provider = await machine.provider({ behaviours: [{ reply: { text: 'DONE' } }] });
    const recovered = await machine.run(['recover-session', id, '--json', ...at(provider)]);
    expect(recovered.exitCode, recovered.stderr).toBe(0);
    expect(prompts(provider.requests)).toHaveLength(1);
    expect(prompts(provider.requests)[0]).toContain('END 16   if the file ends before line 16');
    expect(String(await machine.read('a.txt'))).toBe(text);
  },
);

longTest(
  'R039 (d): a clean reply to an idle prompt that does not repeat the anchor is named unverified',
  async ({ machine }) => {
    const rest = TEXT.slice(HALF.length);
    const provider = await machine.provider(writeMessages('a.txt', [HALF, `${rest}DONE\n`]));
    const ended = await machine.ask(provider);
    expect(ended.exitCode, ended.stderr).toBe(0);
    expect(String(await machine.read('a.txt'))).toBe(TEXT);
    expect(ended.stderr).toMatch(/Created a\.txt: .*seam unverified at line 16/u);
    expect(ended.stderr.trimEnd().split('\n').at(-1)).toMatch(/a\.txt.*unverified.* 16\b/u);
  },
);

longTest('WRITE_SESSION_SEAM=strict asks for the anchor even then', async ({ machine }) => {
  const rest = TEXT.slice(HALF.length);
  const provider = await machine.provider(writeMessages('a.txt', [HALF, `${rest}DONE\n`]));
  const ended = await machine.ask(provider, ['--json'], { env: { WRITE_SESSION_SEAM: 'strict' } });
  expect(ended.exitCode, ended.stderr).toBe(3);
  expect(ended.result().paused).toMatchObject([{ code: 'SEAM_UNVERIFIED', lines: 15 }]);
  expect(await machine.exists('a.txt')).toBe(false);
});

longTest(
  'R065: where nothing was saved the recovery asks for the whole file',
  async ({ machine }) => {
    const stalled = await machine.provider({
      behaviours: [
        {
          when: { toolChoice: 'none' },
          reply: { text: 'x' },
          faults: [{ kind: 'stall', at: { characters: 0 } }],
        },
        beginCall({ target_file: 'a.txt' }),
      ],
    });
    const writer = machine.startAsking(stalled, ['--json']);
    await writer.waitForEvent('the session', (event) => event.type === 'write_session');
    writer.kill('SIGKILL');
    await writer.finished;
    const provider = await machine.provider(writeDocument({ target: 'a.txt', content: TEXT }));
    const [session] = await machine.sessions();
    const ended = await machine.run([
      'recover-session',
      session?.id ?? '',
      '--json',
      ...at(provider),
    ]);
    expect(ended.exitCode, ended.stderr).toBe(0);
    expect(prompts(provider.requests)[0]).toContain('Nothing of a.txt has arrived yet.');
    expect(ended.result().receipts[0]).toMatchObject({ seams: [], lines: 30 });
    expect(String(await machine.read('a.txt'))).toBe(TEXT);
  },
);

longTest(
  'R064: the lock of a dead session gives way to a new one on the same target',
  async ({ machine }) => {
    const stalled = await machine.provider(
      writeDocument(
        { target: 'a.txt', content: TEXT },
        { faults: [{ kind: 'stall', reply: 1, at: { lines: 15 } }] },
      ),
    );
    const { session } = await machine.askUntilKilled(stalled, HALF.length);

    const provider = await machine.provider(writeMessages('a.txt', ['another text\nDONE']));
    const ended = await machine.ask(provider, ['--json']);
    expect(ended.exitCode, ended.stderr).toBe(0);
    expect(String(await machine.read('a.txt'))).toBe('another text\n');

    // The older session is still there, and does not overwrite what came after it.
    const recovered = await machine.run(['recover-session', session.id, '--finalize', '--json']);
    expect(recovered.exitCode, recovered.stderr).toBe(3);
    expect(recovered.result().paused).toMatchObject([{ code: 'FILE_EXISTS' }]);
    expect(String(await machine.read('a.txt'))).toBe('another text\n');
  },
);

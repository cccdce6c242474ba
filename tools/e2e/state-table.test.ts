import { describe, expect } from 'vitest';
import type { Behaviour, Script } from '@orion/llm-adapters/scripted';

import { prompts, sent } from './support/requests.ts';
import { at, type Sandbox } from './support/sandbox.ts';
import { beginCall, LAST_WORD, numbered, writeDocument, writeMessages } from './support/scripts.ts';
import { longTest, test } from './support/test.ts';

// Cells of the state table that no other file here reaches. C: nothing saved yet, M: something is, Q: a question is
// open, F: being written, P: paused.

const BODY = numbered('const value', 1, 12);
const NO_IDLE = { WRITE_SESSION_IDLE_MS: '0' };

/** `writeMessages` with a fault on one of its messages. */
function withFault(
  script: Script,
  message: number,
  fault: NonNullable<Behaviour['faults']>[0],
): Script {
  return {
    ...script,
    behaviours: script.behaviours.map((behaviour) =>
      behaviour.name === `message ${message}` ? { ...behaviour, faults: [fault] } : behaviour,
    ),
  };
}

async function pausedCode(machine: Sandbox, script: Script, env: Record<string, string> = {}) {
  const provider = await machine.provider(script);
  const ended = await machine.ask(provider, ['--json'], { env });
  expect(ended.exitCode, ended.stderr).toBe(3);
  const [session] = await machine.sessions();
  const [paused] = ended.result().paused;
  return { provider, ended, session, paused, state: await session?.json('state.json') };
}

describe('C', () => {
  test.concurrent('message without a marker, idle 0: P at once', async ({ machine }) => {
    const { provider, paused } = await pausedCode(machine, writeMessages('a.txt', ['']), NO_IDLE);
    expect(paused).toMatchObject({ code: 'NO_DONE', bytes: 0 });
    expect(prompts(provider.requests)).toEqual([]);
    const finalized = await machine.run([
      'recover-session',
      paused?.session_id ?? '',
      '--finalize',
    ]);
    expect(finalized.exitCode, finalized.stderr).toBe(1);
    expect(finalized.stderr).toContain('orion: EMPTY_CONTENT: Nothing is saved for a.txt.\n');
    expect(await machine.exists('a.txt')).toBe(false);
    expect(await machine.sessions()).toHaveLength(1);
  });

  longTest('marker without content, idle 0: P at once', async ({ machine }) => {
    const { provider } = await pausedCode(machine, writeMessages('a.txt', ['DONE']), NO_IDLE);
    expect(prompts(provider.requests)).toEqual([]);
    expect(await machine.exists('a.txt')).toBe(false);
  });

  longTest(
    'length stop without content: the request is repeated three times, then P',
    async ({ machine }) => {
      const { provider } = await pausedCode(
        machine,
        withFault(writeMessages('a.txt', ['text']), 1, { kind: 'length', at: { characters: 0 } }),
      );
      expect(
        sent(provider.requests).filter((request) => request.tool_choice === 'none'),
      ).toHaveLength(4);
      expect(prompts(provider.requests)).toEqual([]);
    },
  );

  longTest('the session’s own marker without content: asked as for DONE', async ({ machine }) => {
    const provider = await machine.provider(
      writeDocument({ target: 'a.txt', content: '', endMarker: 'session' }),
    );
    const ended = await machine.ask(provider);
    expect(ended.exitCode, ended.stderr).toBe(0);
    expect(prompts(provider.requests)).toHaveLength(1);
    expect((await machine.read('a.txt')).length).toBe(0);
  });

  longTest(
    'a tool call instead of content is refused; the content may follow',
    async ({ machine }) => {
      const provider = await machine.provider({
        behaviours: [
          {
            when: { toolChoice: 'none' },
            times: 1,
            reply: { toolCalls: [{ name: 'read_file', arguments: { path: 'x' } }] },
          },
          { when: { toolChoice: 'none' }, reply: { text: 'text\nDONE' } },
          beginCall({ target_file: 'a.txt' }),
          LAST_WORD,
        ],
      });
      const ended = await machine.ask(provider);
      expect(ended.exitCode, ended.stderr).toBe(0);
      expect(String(await machine.read('a.txt'))).toBe('text\n');
    },
  );
});

describe('M', () => {
  longTest('three idle prompts without new content: P, NO_DONE', async ({ machine }) => {
    const { provider, paused, session } = await pausedCode(
      machine,
      writeMessages('a.ts', [BODY, '']),
    );
    expect(prompts(provider.requests)).toHaveLength(3);
    expect(prompts(provider.requests)[0]).toContain(
      "If you're finished, reply DONE on its own line.",
    );
    expect(paused).toMatchObject({ code: 'NO_DONE', lines: 12 });
    expect(String(await session?.content())).toBe(BODY);
  });

  longTest('idle prompt answered by DONE: F', async ({ machine }) => {
    const provider = await machine.provider(writeMessages('a.ts', [BODY, 'DONE']));
    const ended = await machine.ask(provider);
    expect(ended.exitCode, ended.stderr).toBe(0);
    expect(String(await machine.read('a.ts'))).toBe(BODY);
    expect(ended.stderr).not.toContain('unverified');
  });

  test.concurrent('idle prompt answered with the anchor and more: joined, verified', async ({
    machine,
  }) => {
    const more = numbered('const value', 13, 20);
    const provider = await machine.provider(
      writeDocument(
        { target: 'a.ts', content: BODY + more },
        { faults: [{ kind: 'length', reply: 1, at: { lines: 12 } }] },
      ),
    );
    const ended = await machine.ask(provider, ['--json']);
    expect(ended.exitCode, ended.stderr).toBe(0);
    expect(ended.result().receipts[0]?.seams).toMatchObject([{ line: 13, status: 'verified' }]);
  });

  longTest('ambiguous DONE, idle 0: P with the question stored as open', async ({ machine }) => {
    const { state, paused } = await pausedCode(
      machine,
      writeMessages('a.ts', [`${BODY}DONE\nmore text\n`]),
      NO_IDLE,
    );
    expect(state).toMatchObject({
      state: 'session_active.paused',
      question: { kind: 'end', candidates: [{ line: 13, content_end: BODY.length }] },
    });
    expect(paused?.commands.join('\n')).toContain('--end-at 13');
    const finalized = await machine.run([
      'recover-session',
      paused?.session_id ?? '',
      '--finalize',
      '--answer',
      'done',
    ]);
    expect(finalized.exitCode, finalized.stderr).toBe(0);
    expect(String(await machine.read('a.ts'))).toBe(`${BODY}DONE\nmore text\n`);
  });

  longTest(
    'R031: a stream that breaks after a bare DONE never finalizes; it is asked',
    async ({ machine }) => {
      const provider = await machine.provider(
        writeDocument({ target: 'a.ts', content: BODY }, { faults: [{ kind: 'end', reply: 1 }] }),
      );
      const ended = await machine.ask(provider);
      expect(ended.exitCode, ended.stderr).toBe(0);
      expect(prompts(provider.requests)).toHaveLength(1);
      expect(prompts(provider.requests)[0]).toContain("If you're finished");
      expect(String(await machine.read('a.ts'))).toBe(BODY);
    },
  );

  longTest('an error that no repetition helps: P at once with its code', async ({ machine }) => {
    const { provider, paused, session } = await pausedCode(
      machine,
      writeDocument(
        { target: 'a.ts', content: BODY },
        {
          faults: [
            { kind: 'length', reply: 1, at: { lines: 6 } },
            { kind: 'status', status: 401, reply: 2 },
          ],
        },
      ),
    );
    expect(paused).toMatchObject({ code: 'PROVIDER_AUTH', lines: 6 });
    expect(prompts(provider.requests)).toHaveLength(1);
    expect(BODY.startsWith(String(await session?.content()))).toBe(true);
  });

  longTest(
    'R034: DONE with the digits of another session counts as a bare DONE',
    async ({ machine }) => {
      const provider = await machine.provider(writeMessages('a.ts', [`${BODY}DONE 0000`]));
      const ended = await machine.ask(provider);
      expect(ended.exitCode, ended.stderr).toBe(0);
      expect(String(await machine.read('a.ts'))).toBe(BODY);
    },
  );
});

describe('Q', () => {
  const ambiguous = `${BODY}DONE\nmore text\n`;

  test.concurrent('an answer with blanks and lines around it', async ({ machine }) => {
    const provider = await machine.provider(writeMessages('a.ts', [ambiguous, '\n  END 13 \n\n']));
    const ended = await machine.ask(provider);
    expect(ended.exitCode, ended.stderr).toBe(0);
    expect(String(await machine.read('a.ts'))).toBe(BODY);
  });

  longTest('an answer that a length stop ends is an answer', async ({ machine }) => {
    const provider = await machine.provider(
      withFault(writeMessages('a.ts', [ambiguous, 'DONE']), 2, { kind: 'length' }),
    );
    const ended = await machine.ask(provider);
    expect(ended.exitCode, ended.stderr).toBe(0);
    expect(String(await machine.read('a.ts'))).toBe(ambiguous);
  });

  longTest(
    'an answer that breaks off is asked for again, and after three times it is P',
    async ({ machine }) => {
      const provider = await machine.provider(
        withFault(writeMessages('a.ts', [ambiguous, 'END 13']), 2, {
          kind: 'disconnect',
          at: { characters: 4 },
          times: 2,
        }),
      );
      const ended = await machine.ask(provider);
      expect(ended.exitCode, ended.stderr).toBe(0);
      expect(prompts(provider.requests)).toHaveLength(3);
      expect(String(await machine.read('a.ts'))).toBe(BODY);
    },
  );

  longTest('a connection that always breaks: P with the question open', async ({ machine }) => {
    const { provider, state } = await pausedCode(
      machine,
      withFault(writeMessages('a.ts', [ambiguous, 'END 13']), 2, {
        kind: 'disconnect',
        at: { characters: 4 },
      }),
    );
    expect(prompts(provider.requests)).toHaveLength(4);
    expect(state).toMatchObject({ question: { kind: 'end' } });
  });

  longTest(
    'near miss in an unterminated line: DONE leaves out only these four bytes, and the line ends (R295)',
    async ({ machine }) => {
      const provider = await machine.provider(
        writeMessages('a.ts', [`${BODY}export {};DONE`, 'DONE']),
      );
      const ended = await machine.ask(provider);
      expect(ended.exitCode, ended.stderr).toBe(0);
      expect(String(await machine.read('a.ts'))).toBe(`${BODY}export {};\n`);
    },
  );

  longTest('near miss: a reply that continues instead is joined', async ({ machine }) => {
    const first = `${BODY}DONE.\n`;
    const provider = await machine.provider(
      writeMessages('a.ts', [first, `const value 11\nconst value 12\nDONE.\nexport {};\nDONE\n`]),
    );
    const ended = await machine.ask(provider, ['--json']);
    expect(ended.exitCode, ended.stderr).toBe(0);
    expect(String(await machine.read('a.ts'))).toBe(`${first}export {};\n`);
  });

  longTest(
    'R039 (c): KEEP takes a few lines without the anchor, and the seam is named unverified',
    async ({ machine }) => {
      const provider = await machine.provider(
        writeMessages('a.ts', [BODY, 'export {};\n', 'KEEP']),
      );
      const ended = await machine.ask(provider);
      expect(ended.exitCode, ended.stderr).toBe(0);
      expect(String(await machine.read('a.ts'))).toBe(`${BODY}export {};\n`);
      expect(ended.stderr).toContain('seam unverified at line 13');
    },
  );

  longTest('fence, idle 0: a reply that is no answer is P at once', async ({ machine }) => {
    const { provider, state } = await pausedCode(
      machine,
      writeMessages('a.md', ['```text\n# Title\n```\nDONE', 'What?']),
      NO_IDLE,
    );
    expect(prompts(provider.requests)).toHaveLength(1);
    expect(state).toMatchObject({ question: { kind: 'fence' } });
  });

  longTest(
    'interrupted while it is asked: P with the question, which a recovery asks again',
    async ({ machine }) => {
      const stalled = await machine.provider(
        withFault(writeMessages('a.ts', [ambiguous, 'DONE']), 2, {
          kind: 'stall',
          at: { characters: 2 },
        }),
      );
      const writer = machine.startAsking(stalled, ['--json']);
      await writer.waitForEvent(
        'the question',
        (event) => event.type === 'write_session' && event.status.endsWith('awaiting_answer'),
      );
      writer.kill('SIGTERM');
      const ended = await writer.finished;
      expect(ended.exitCode, ended.stderr).toBe(3);
      const [session] = await machine.sessions();
      expect(await session?.json('state.json')).toMatchObject({ question: { kind: 'end' } });
      const provider = await machine.provider({ behaviours: [{ reply: { text: 'END 13' } }] });
      const recovered = await machine.run(['recover-session', session?.id ?? '', ...at(provider)]);
      expect(recovered.exitCode, recovered.stderr).toBe(0);
      expect(prompts(provider.requests)[0]).toContain('END 13   if the file ends before line 13');
      expect(String(await machine.read('a.ts'))).toBe(BODY);
    },
  );
});

describe('F', () => {
  test.concurrent('a fence question waits for the end of a message that continues as chat', async ({
    machine,
  }) => {
    const provider = await machine.provider({
      shape: { chunk: 4 },
      behaviours: [
        {
          reply: {
            document: {
              target: 'a.md',
              content: { kind: 'text', text: '# Title\n\nText.\n' },
              fence: 'text',
              endMarker: 'session',
              after: 'That is all.',
            },
          },
        },
        beginCall({ target_file: 'a.md' }),
        LAST_WORD,
      ],
    });
    // Not an idle prompt: it is asked although those are switched off.
    const ended = await machine.ask(provider, [], { env: NO_IDLE });
    expect(ended.exitCode, ended.stderr).toBe(0);
    expect(prompts(provider.requests)[0]).toContain('Reply STRIP');
    expect(String(await machine.read('a.md'))).toBe('# Title\n\nText.\n');
    expect(ended.stdout).toContain('That is all.');
  });

  longTest(
    'R087: a file that appears while the content streams is not overwritten: P',
    async ({ machine }) => {
      const provider = await machine.provider(
        writeDocument(
          { target: 'a.ts', content: BODY },
          { faults: [{ kind: 'stall', reply: 1, at: { lines: 6 }, forMs: 800 }] },
        ),
      );
      const writer = machine.startAsking(provider, ['--json']);
      await writer.waitForEvent('the session', (event) => event.type === 'write_session');
      await machine.write('a.ts', 'somebody else\n');
      const ended = await writer.finished;
      expect(ended.exitCode, ended.stderr).toBe(3);
      expect(ended.result().paused).toMatchObject([{ code: 'FILE_EXISTS', lines: 12 }]);
      expect(String(await machine.read('a.ts'))).toBe('somebody else\n');
      const [session] = await machine.sessions();
      expect(String(await session?.content())).toBe(BODY);
    },
  );
});

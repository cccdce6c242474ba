// @module-tag long
import { describe, expect } from 'vitest';

import { prompts } from './support/requests.ts';
import { numbered, writeMessages } from './support/scripts.ts';
import { longTest, test } from './support/test.ts';

const BODY = numbered('const value', 1, 12);

describe('R035: a marker without content', () => {
  longTest('is asked about, and content may follow', async ({ machine }) => {
    const provider = await machine.provider(writeMessages('a.txt', ['DONE', 'text\nDONE']));
    const ended = await machine.ask(provider);
    expect(ended.exitCode, ended.stderr).toBe(0);
    expect(prompts(provider.requests)[0]).toMatch(/^You wrote DONE, but no content for a\.txt\./u);
    expect(String(await machine.read('a.txt'))).toBe('text\n');
  });

  longTest('a second one makes an empty file of a create', async ({ machine }) => {
    const provider = await machine.provider(writeMessages('a.txt', [' \nDONE', 'DONE']));
    const ended = await machine.ask(provider);
    expect(ended.exitCode, ended.stderr).toBe(0);
    expect(prompts(provider.requests)).toHaveLength(1);
    expect((await machine.read('a.txt')).length).toBe(0);
  });

  longTest(
    'for ever ends in EMPTY_CONTENT, with no directory left, and the turn continues',
    async ({ machine }) => {
      await machine.write('a.txt', 'before\n');
      const provider = await machine.provider(
        writeMessages('a.txt', ['DONE'], { operation: 'overwrite' }),
      );
      const ended = await machine.ask(provider);
      expect(ended.stderr).toContain('a.txt was not written (EMPTY_CONTENT).');
      expect(String(await machine.read('a.txt'))).toBe('before\n');
      expect(await machine.sessions()).toEqual([]);
      expect(ended.stdout).toContain('All written.');
      // Nothing is open, so nothing is to be recovered.
      expect(ended.exitCode, ended.stderr).toBe(0);
    },
  );

  test.concurrent('R042: silence is asked about three times, then given up', async ({
    machine,
  }) => {
    const provider = await machine.provider(writeMessages('a.txt', ['']));
    await machine.ask(provider);
    expect(prompts(provider.requests)).toHaveLength(3);
    expect(prompts(provider.requests)[0]).toMatch(/^Nothing of a\.txt has arrived yet\./u);
    expect(await machine.sessions()).toEqual([]);
  });
});

describe('R034: the session’s own end marker', () => {
  test.concurrent('ends the content wherever it is; text after it is chat', async ({ machine }) => {
    const provider = await machine.provider({
      shape: { chunk: 3 },
      behaviours: [
        {
          reply: {
            document: {
              target: 'a.txt',
              content: { kind: 'text', text: 'one\nDONE\ntwo\n' },
              endMarker: 'session',
              after: 'That was the file.',
            },
          },
        },
        ...writeMessages('a.txt', ['unused']).behaviours.slice(1),
      ],
    });
    const ended = await machine.ask(provider);
    expect(ended.exitCode, ended.stderr).toBe(0);
    expect(String(await machine.read('a.txt'))).toBe('one\nDONE\ntwo\n');
    expect(ended.stdout).toContain('That was the file.');
    expect(ended.stdout).not.toContain('two');
    expect(ended.stderr).toContain('DONE is part of the file at line 2');
  });

  longTest('in strict mode a bare DONE is ordinary content', async ({ machine }) => {
    const provider = await machine.provider(writeMessages('a.txt', ['one\nDONE\n']));
    const ended = await machine.ask(provider, [], {
      env: { WRITE_SESSION_STRICT: 'true', WRITE_SESSION_IDLE_MS: '0' },
    });
    expect(ended.exitCode, ended.stderr).toBe(3);
    const [session] = await machine.sessions();
    expect(String(await session?.content())).toBe('one\nDONE\n');
  });
});

describe('P4: a near miss is asked about', () => {
  test.concurrent('DONE leaves it out', async ({ machine }) => {
    const provider = await machine.provider(writeMessages('a.ts', [`${BODY}**DONE**`, 'DONE']));
    const ended = await machine.ask(provider);
    expect(ended.exitCode, ended.stderr).toBe(0);
    expect(prompts(provider.requests)[0]).toMatch(/^Your message ended with: \*\*DONE\*\*/u);
    expect(String(await machine.read('a.ts'))).toBe(BODY);
  });

  test.concurrent('KEEP keeps it, byte for byte', async ({ machine }) => {
    const provider = await machine.provider(writeMessages('a.ts', [`${BODY} DONE\n`, 'KEEP']));
    const ended = await machine.ask(provider);
    expect(ended.exitCode, ended.stderr).toBe(0);
    expect(String(await machine.read('a.ts'))).toBe(`${BODY} DONE\n`);
  });

  test.concurrent('by hand, after the model gave no answer', async ({ machine }) => {
    const provider = await machine.provider(writeMessages('a.ts', [`${BODY}Done!`, '']));
    const ended = await machine.ask(provider, ['--json']);
    expect(ended.exitCode, ended.stderr).toBe(3);
    const [paused] = ended.result().paused;
    expect(paused?.commands.join('\n')).toContain('--finalize --answer keep');
    const id = paused?.session_id ?? '';
    const refused = await machine.run(['recover-session', id, '--finalize']);
    expect(refused.stderr).toContain(
      'orion: QUESTION_OPEN: First decide whether "Done!" belongs to a.ts: add --answer keep or --answer done.\n',
    );
    const finalized = await machine.run(['recover-session', id, '--finalize', '--answer', 'done']);
    expect(finalized.exitCode, finalized.stderr).toBe(0);
    expect(String(await machine.read('a.ts'))).toBe(BODY);
  });
});

describe('P5: a fence that may belong to the file is asked about', () => {
  const fenced = '```text\n# Title\n\nText.\n```\n';

  longTest('KEEP keeps it', async ({ machine }) => {
    const provider = await machine.provider(writeMessages('a.md', [`${fenced}DONE`, 'KEEP']));
    const ended = await machine.ask(provider, ['--json']);
    expect(ended.exitCode, ended.stderr).toBe(0);
    expect(prompts(provider.requests)[0]).toContain('Reply STRIP if these only wrap the file.');
    expect(String(await machine.read('a.md'))).toBe(fenced);
    expect(ended.result().receipts[0]?.fence_stripped).toBe(false);
  });

  longTest('fences that pair up within the document are not asked about', async ({ machine }) => {
    const text = '```text\nIntroduction\n```\n\nText between.\n\n```text\nEnd\n```\n';
    const provider = await machine.provider(writeMessages('a.md', [`${text}DONE`]));
    const ended = await machine.ask(provider);
    expect(ended.exitCode, ended.stderr).toBe(0);
    expect(prompts(provider.requests)).toEqual([]);
    expect(String(await machine.read('a.md'))).toBe(text);
  });

  longTest('STRIP leaves it out and keeps what was around it', async ({ machine }) => {
    const provider = await machine.provider(
      writeMessages('a.md', ['```text\n# Title\n\nText.\n```\nDONE', 'STRIP']),
    );
    const ended = await machine.ask(provider, ['--json']);
    expect(ended.exitCode, ended.stderr).toBe(0);
    expect(String(await machine.read('a.md'))).toBe('# Title\n\nText.\n');
    expect(ended.result().receipts[0]?.fence_stripped).toBe(true);
  });

  test.concurrent('any other reply is asked again, then the session pauses with the question open', async ({
    machine,
  }) => {
    const provider = await machine.provider(
      writeMessages('a.md', ['```text\n# Title\n```\nDONE', 'What do you mean?']),
    );
    const ended = await machine.ask(provider, ['--json']);
    expect(ended.exitCode, ended.stderr).toBe(3);
    const [paused] = ended.result().paused;
    expect(paused?.commands.join('\n')).toContain('--finalize --answer strip');
    const finalized = await machine.run([
      'recover-session',
      paused?.session_id ?? '',
      '--finalize',
      '--answer',
      'strip',
    ]);
    expect(finalized.exitCode, finalized.stderr).toBe(0);
    expect(String(await machine.read('a.md'))).toBe('# Title\n');
  });
});

describe('P3: a DONE line with text after it is asked about', () => {
  const text = `${BODY}DONE\nI hope this helps you.\n`;

  test.concurrent('END n ends the file there, and what follows is chat', async ({ machine }) => {
    const provider = await machine.provider(writeMessages('a.ts', [text, 'END 13']));
    const ended = await machine.ask(provider, ['--json']);
    expect(ended.exitCode, ended.stderr).toBe(0);
    expect(String(await machine.read('a.ts'))).toBe(BODY);
    const events = ended.events();
    expect(events.filter((event) => event.type === 'write_rewind')).toHaveLength(1);
    expect(
      events.flatMap((event) => (event.type === 'chunk' ? [event.content] : [])).join(''),
    ).toContain('I hope this helps you.');
    const trailing = ended.result().receipts[0]?.trailing ?? '';
    expect(trailing).toContain('attic');
  });

  longTest('a number that was not offered ends nothing', async ({ machine }) => {
    const provider = await machine.provider(writeMessages('a.ts', [text, 'END 4']));
    const ended = await machine.ask(provider, ['--json']);
    expect(ended.exitCode, ended.stderr).toBe(3);
    expect(await machine.exists('a.ts')).toBe(false);
    expect(ended.result().paused[0]?.code).toBe('NO_DONE');
  });

  longTest('a reply that continues instead is joined like any other', async ({ machine }) => {
    const first = `${BODY}DONE\nconst last = 1;\n`;
    const rest = 'const value 12\nDONE\nconst last = 1;\nexport { last };\nDONE\n';
    const provider = await machine.provider(
      writeMessages('a.ts', [first, `const value 11\n${rest}`]),
    );
    const ended = await machine.ask(provider, ['--json']);
    expect(ended.exitCode, ended.stderr).toBe(0);
    expect(String(await machine.read('a.ts'))).toBe(`${first}export { last };\n`);
    expect(ended.result().receipts[0]?.seams).toMatchObject([{ status: 'verified' }]);
  });
});

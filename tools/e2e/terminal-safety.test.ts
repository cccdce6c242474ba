import { describe, expect } from 'vitest';

import { at } from './support/sandbox.ts';
import { beginCall, LAST_WORD, writeDocument } from './support/scripts.ts';
import { test } from './support/test.ts';

const HOSTILE = 'a\u001B[2Jb\u001B]0;title\u0007c\u009B31md\u202Ee\u200Ef';
/** A colour or the erasing of a line is ours; these are what must never come through. */
// oxlint-disable-next-line no-control-regex -- control characters are what this is about
const ATTACK = /\u001B\[2J|\u001B\]|\u0007|\u009B|\u202E|\u200E/u;

describe('R254: what models, files and errors say is harmless on a terminal', () => {
  test.concurrent('text of the model, also when a sequence is split over events; the file is exact', async ({
    machine,
  }) => {
    const provider = await machine.provider({
      shape: { chunk: 1 },
      behaviours: [
        {
          reply: {
            document: { target: 'a.txt', content: { kind: 'text', text: `${HOSTILE}\n` } },
          },
        },
        beginCall({ target_file: 'a.txt', intent: HOSTILE }),
        { reply: { text: `Say: ${HOSTILE}` } },
      ],
    });
    const terminal = machine.terminal([
      'run',
      'Write it.',
      '--show-content',
      '--verbose',
      ...at(provider),
    ]);
    const ended = await terminal.finished;
    expect(ended.exitCode, ended.output).toBe(0);
    expect(ended.output).toContain('Say: a\\x1b[2Jb\\x1b]0;title\\x07c\\x9b31md\\u202ee\\u200ef');
    expect(ended.output).not.toMatch(ATTACK);
    expect(String(await machine.read('a.txt'))).toBe(`${HOSTILE}\n`);
  });

  test.concurrent('the receipt names what is invisible in a program (B16)', async ({ machine }) => {
    const text = `const a = 1;\nif (level !== "user\u202E \u2066// admin\u2069 \u2066") {\n`;
    const provider = await machine.provider(
      writeDocument({ target: 'src/check.js', content: { kind: 'text', text } }),
    );
    const ended = await machine.ask(provider, ['--json']);
    expect(ended.result().receipts).toMatchObject([
      {
        validation_summary: {
          hidden_characters: 4,
          hidden_at: ['U+202E', 'U+2066', 'U+2069', 'U+2066'].map((code_point) => ({
            line: 2,
            code_point,
          })),
        },
      },
    ]);
    expect(String(await machine.read('src/check.js'))).toBe(text);
  });

  test.concurrent('names of files, which are refused too', async ({ machine }) => {
    const provider = await machine.provider({
      behaviours: [beginCall({ target_file: `docs/${HOSTILE}.txt` }), LAST_WORD],
    });
    const terminal = machine.terminal(['run', 'Write it.', '--verbose', ...at(provider)]);
    const ended = await terminal.finished;
    expect(ended.output).toContain('WritePlanTool_begin: INVALID_TARGET: "docs/a');
    expect(ended.output).not.toMatch(ATTACK);
    expect(await machine.exists('docs')).toBe(false);
  });

  test.concurrent('errors of the provider', async ({ machine }) => {
    const provider = await machine.provider({
      behaviours: [
        { reply: { text: 'x' }, faults: [{ kind: 'status', status: 400, message: HOSTILE }] },
      ],
    });
    const terminal = machine.terminal(['run', 'Hello', ...at(provider)]);
    const ended = await terminal.finished;
    expect(ended.exitCode).toBe(1);
    expect(ended.output).toContain(
      'orion: PROVIDER_REQUEST: The provider refused the request (HTTP 400): ',
    );
    expect(ended.output).not.toMatch(ATTACK);
  });

  test.concurrent('a stdout that is no terminal gets the exact text, and a stderr never does', async ({
    machine,
  }) => {
    const provider = await machine.provider({
      behaviours: [beginCall({ target_file: `docs/${HOSTILE}.txt` }), { reply: { text: HOSTILE } }],
    });
    const ended = await machine.ask(provider, ['--verbose']);
    expect(ended.stdout).toBe(HOSTILE);
    expect(ended.stderr).toContain('INVALID_TARGET: "docs/a');
    expect(ended.stderr).not.toMatch(ATTACK);
  });
});

describe('a terminal', () => {
  const slow = writeDocument(
    { target: 'a.txt', content: 'one line of text\n'.repeat(40) },
    { shape: { chunk: 17, eventsPerSecond: 60 } },
  );

  test.concurrent('shows one line of progress: file, lines, bytes, rate, durable offset', async ({
    machine,
  }) => {
    const provider = await machine.provider(slow);
    const terminal = machine.terminal(['run', 'Write it.', ...at(provider)]);
    const ended = await terminal.finished;
    expect(ended.exitCode, ended.output).toBe(0);
    expect(ended.output).toMatch(
      /\ra\.txt {2}\d+ lines {2}\d+ B {2}\d+(\.\d+)? k?B\/s {2}all (?:but \d\.\d s )?saved {2}0:0\d/u,
    );
    expect(ended.output).toContain('\u001B[32mCreated a.txt: 40 lines');
  });

  test.concurrent('NO_COLOR takes the colours away, --quiet the progress', async ({ machine }) => {
    const provider = await machine.provider(slow);
    const terminal = machine.terminal(['run', 'Write it.', '--quiet', ...at(provider)], {
      env: { NO_COLOR: '1' },
    });
    const ended = await terminal.finished;
    expect(ended.output).not.toContain('\u001B[3');
    expect(ended.output).not.toContain(' saved  ');
    expect(ended.output).toContain('Created a.txt: 40 lines');
  });

  test.concurrent('Ctrl-C as a person types it pauses the write, exit 3', async ({ machine }) => {
    const provider = await machine.provider(
      writeDocument(
        { target: 'a.txt', content: 'one line of text\n'.repeat(40) },
        { faults: [{ kind: 'stall', reply: 1, at: { lines: 20 } }] },
      ),
    );
    const terminal = machine.terminal(['run', 'Write it.', ...at(provider)], {
      env: { WRITE_SESSION_SAVE_MS: '100' },
    });
    // The progress follows the disk, although nothing more arrives.
    await terminal.waitForOutput('a.txt  20 lines  340 B');
    await terminal.waitForOutput('all saved');
    terminal.type('\u0003');
    const ended = await terminal.finished;
    expect(ended.exitCode, ended.output).toBe(3);
    expect(ended.output).toContain('Paused (ABORTED): a.txt is not written yet. 20 lines');
    expect(ended.output.replaceAll('\u001B', '')).toMatch(
      / {2}orion recover-session [0-9a-f-]{36}\[0m/u,
    );
  });
});

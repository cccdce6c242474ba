import { expect } from 'vitest';

import { prompts, sent } from './support/requests.ts';
import { sha256, writeMessages } from './support/scripts.ts';
import { longTest, test } from './support/test.ts';

const STEPS = 'Steps:\nDONE\nnot finished\n';

test.concurrent('A3: a DONE line inside the text is asked about, and the answer DONE writes all of it', async ({
  machine,
}) => {
  const provider = await machine.provider(writeMessages('steps.txt', [STEPS, 'DONE']));

  const ended = await machine.ask(provider, ['--json']);

  expect(ended.exitCode).toBe(0);
  const [question, ...more] = prompts(provider.requests);
  expect(more).toEqual([]);
  expect(question).toContain('reply DONE on its own line');
  expect(question).toContain('Line 2 of what is saved for steps.txt is DONE');
  expect(question).toContain('"not finished"');
  const bytes = await machine.read('steps.txt');
  expect(bytes.length).toBe(25);
  expect(sha256(bytes)).toBe('087cac30411fe242b8803dfb403fd5cd60d2b3dec698d3c20547ace7cce5b6bf');
  expect(ended.result().receipts[0]?.inner_done_lines).toEqual([2]);
});

longTest(
  'A3: with empty answers only there are exactly three prompts, then the session pauses',
  async ({ machine }) => {
    const provider = await machine.provider(writeMessages('steps.txt', [STEPS, '']));

    const ended = await machine.ask(provider, ['--json']);

    expect(ended.exitCode).toBe(3);
    expect(prompts(provider.requests)).toHaveLength(3);
    expect(sent(provider.requests)).toHaveLength(5);
    expect(await machine.exists('steps.txt')).toBe(false);
    const [session] = await machine.sessions();
    expect(String(await session?.content())).toBe(STEPS);
    const { status, paused } = ended.result();
    expect(status).toBe('paused');
    expect(paused[0]).toMatchObject({ target_file: 'steps.txt', code: 'NO_DONE', bytes: 25 });

    // R023, R045: the commands that were printed do what they say.
    expect(paused[0]?.commands.join('\n')).toContain('--finalize --end-at 2');
    const refused = await machine.run(['recover-session', session?.id ?? '', '--finalize']);
    expect(refused.exitCode).not.toBe(0);
    expect(refused.stderr).toContain(
      'orion: QUESTION_OPEN: First decide where steps.txt ends: add --end-at 2 or --answer done.\n',
    );
    expect(await machine.exists('steps.txt')).toBe(false);
    const finalized = await machine.run([
      'recover-session',
      session?.id ?? '',
      '--finalize',
      '--end-at',
      '2',
      '--json',
    ]);
    expect(finalized.exitCode).toBe(0);
    // R245: what was cut off with that line is not part of the file.
    expect(finalized.result().receipts).toMatchObject([{ lines: 1, inner_done_lines: [] }]);
    expect(String(await machine.read('steps.txt'))).toBe('Steps:\n');
  },
);

longTest(
  'R014, R245: three hundred DONE lines are one receipt line of at most 500 characters',
  async ({ machine }) => {
    const text = `${'step\nDONE\n'.repeat(300)}end\n`;
    const provider = await machine.provider(writeMessages('a.ts', [`${text}DONE`]));
    const ended = await machine.ask(provider);
    expect(ended.exitCode, ended.stderr).toBe(0);
    expect(String(await machine.read('a.ts'))).toBe(text);
    const lines = ended.stderr.split('\n');
    expect(lines.find((line) => line.startsWith('Created a.ts'))).toMatch(
      /DONE is part of the file at line 2, 4, 6, 8, 10 … `orion undo` takes it back\.$/u,
    );
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(500);
  },
);

longTest(
  'what is reported while a file is being written holds whatever becomes of it',
  async ({ machine }) => {
    const provider = await machine.provider(writeMessages('a.ts', [STEPS, 'END 2']));
    const ended = await machine.ask(provider);
    expect(ended.exitCode, ended.stderr).toBe(0);
    expect(ended.stderr).toContain('The content has ended; writing a.ts.\nCreated a.ts: 1 line,');
    expect(ended.stderr).not.toMatch(/complete/iu);
  },
);

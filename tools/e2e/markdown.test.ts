import { describe, expect } from 'vitest';

import { at } from './support/sandbox.ts';
import { test } from './support/test.ts';

/** Hazard: text of a model is rendered where a program reads it, or in a way that a person has not asked for. */

const CODE =
  'const limit: number = 64; // a line of code that is never wrapped, however long it is\n\treturn';
const ANSWER = `## Answer

Use **limit**, see [the guide](https://example.com/guide).

\`\`\`ts
${CODE}
\`\`\`
`;
const LAST = '- and a last line without an end';

describe('orion run: text of the model', () => {
  const script = {
    shape: { chunk: 7 },
    behaviours: [{ reply: { text: `${ANSWER}\n${LAST}` } }],
  };

  test.concurrent('is rendered on a terminal', async ({ machine }) => {
    const provider = await machine.provider(script);
    const terminal = machine.terminal(['run', 'Say it.', ...at(provider)], { columns: 60 });
    const { output } = await terminal.finished;
    expect((await terminal.screen()).lines).toEqual([
      'Answer',
      '',
      'Use limit, see the guide (https://example.com/guide).',
      '',
      ...CODE.replace('\t', '        ').split('\n'),
      '',
      '• and a last line without an end',
    ]);
    expect(output).toContain('\u001B[35mconst\u001B[0m');
  });

  test.concurrent('has no colours with NO_COLOR, and its marks instead', async ({ machine }) => {
    const provider = await machine.provider(script);
    const terminal = machine.terminal(['run', 'Say it.', ...at(provider)], {
      env: { NO_COLOR: '1' },
    });
    const { output } = await terminal.finished;
    expect(output).not.toContain('\u001B');
    expect((await terminal.screen()).lines.slice(0, 3)).toEqual([
      '## Answer',
      '',
      'Use **limit**, see the guide (https://example.com/guide).',
    ]);
  });

  test.concurrent('is as it was written with --plain, on a dumb terminal, for a screen reader and in a pipe', async ({
    machine,
  }) => {
    const provider = await machine.provider(script);
    const raw = `${ANSWER}\n${LAST}`;
    const [asked, dumb, reader] = await Promise.all([
      machine.terminal(['run', 'Say it.', '--plain', ...at(provider)]).finished,
      machine.terminal(['run', 'Say it.', ...at(provider)], { env: { TERM: 'dumb' } }).finished,
      machine.terminal(['run', 'Say it.', ...at(provider)], { env: { ACCESSIBLE: '1' } }).finished,
    ]);
    for (const { output } of [asked, dumb, reader]) {
      expect(output.replaceAll('\r\n', '\n')).toBe(`${raw}\n`);
    }
    expect((await machine.ask(provider)).stdout).toBe(raw);
  });
});

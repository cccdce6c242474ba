// @module-tag long
import { readFile } from 'node:fs/promises';
import { describe, expect } from 'vitest';
import type { Shape } from '@orion/llm-adapters/scripted';

import { writeDocument } from './support/scripts.ts';
import { longTest, test } from './support/test.ts';

const TEXT = 'Grüße, 世界 👩‍👩‍👧 𝕏\n[DONE]\n\n\n\tno tab lost  \r\nlast line, a\u00a0b\n';

describe('R220: however the bytes of a stream come, the file is exact', () => {
  const shapes: readonly (readonly [string, Shape])[] = [
    ['byte by byte', { chunk: 7, bytes: 1 }],
    [
      'pairs of surrogates divided over events',
      { chunk: 1, splitSurrogates: true, bytes: { min: 1, max: 5 } },
    ],
    ['CRLF framing and comments', { chunk: 3, crlf: true, comments: 3 }],
    ['only a finish reason at the end', { chunk: 3, endMark: 'finish_reason' }],
    ['ids that change', { chunk: 3, changingIds: true, usage: true }],
    ['all in one event', { chunk: 100_000 }],
  ];
  test.concurrent.for(shapes)('%s', async ([, shape], { machine }) => {
    const provider = await machine.provider(
      writeDocument({ target: 'a.txt', content: TEXT }, { shape }),
    );
    const ended = await machine.ask(provider);
    expect(ended.exitCode, ended.stderr).toBe(0);
    expect(String(await machine.read('a.txt'))).toBe(TEXT);
  });
});

describe('R006: what a model thinks is never content', () => {
  test.concurrent.for(['reasoning_content', 'reasoning', 'think'] as const)(
    'in %s',
    async (reasoningField, { machine }) => {
      const provider = await machine.provider(
        writeDocument(
          { target: 'a.txt', content: TEXT },
          { shape: { chunk: 4, reasoning: 'I could write\nDONE\nhere.', reasoningField } },
        ),
      );
      const ended = await machine.ask(provider, ['--json', '--show-content']);
      expect(ended.exitCode, ended.stderr).toBe(0);
      expect(String(await machine.read('a.txt'))).toBe(TEXT);
      expect(ended.stdout).not.toContain('I could write');
    },
  );
});

describe('R275: the content stage drops no text', () => {
  const inner = '<think>\ninner\n</think>\n\nrest\n';
  const texts = [inner, `<think>\nnever closed\n${TEXT}`];
  test.concurrent.for(
    (['openai-responses', 'anthropic'] as const).flatMap((type) =>
      texts.map((text) => [type, text] as const),
    ),
  )(
    '%s has a place of its own for reasoning: %j is the file',
    async ([type, text], { machine }) => {
      const provider = await machine.provider(
        writeDocument({ target: 'a.md', content: text }, { shape: { chunk: 3 } }),
      );
      const ended = await machine.ask(provider, ['--json', '--provider', type]);
      expect(ended.exitCode, ended.stderr).toBe(0);
      expect(String(await machine.read('a.md'))).toBe(text);
    },
  );

  longTest(
    'chat completions have none: the file begins behind a closed block',
    async ({ machine }) => {
      const provider = await machine.provider(
        writeDocument({ target: 'a.md', content: inner }, { shape: { chunk: 3 } }),
      );
      const ended = await machine.ask(provider, ['--json', '--show-content']);
      expect(ended.exitCode, ended.stderr).toBe(0);
      expect(String(await machine.read('a.md'))).toBe('rest\n');
      const [receipt] = ended.result().receipts;
      expect(receipt).toMatchObject({ bytes: 5, lines: 1, thinking_set_aside: true, warnings: [] });
      expect(await readFile(receipt?.trailing ?? '', 'utf8')).toBe('<think>\ninner\n</think>\n\n');
      expect(ended.stdout).not.toContain('think>');
    },
  );

  longTest('and a block that is never closed is the file, with a warning', async ({ machine }) => {
    const [, text] = texts;
    const provider = await machine.provider(
      writeDocument({ target: 'a.md', content: text ?? '' }, { shape: { chunk: 3 } }),
    );
    const ended = await machine.ask(provider, ['--json']);
    expect(ended.exitCode, ended.stderr).toBe(0);
    expect(String(await machine.read('a.md'))).toBe(text);
    expect(ended.result().receipts).toMatchObject([{ warnings: ['opens_with_thinking'] }]);
  });

  longTest(
    'and where reasoning has come in a field of its own, tags are text',
    async ({ machine }) => {
      const provider = await machine.provider(
        writeDocument(
          { target: 'a.md', content: inner },
          { shape: { chunk: 3, reasoning: 'because', reasoningField: 'reasoning_content' } },
        ),
      );
      const ended = await machine.ask(provider, ['--json']);
      expect(ended.exitCode, ended.stderr).toBe(0);
      expect(String(await machine.read('a.md'))).toBe(inner);
      expect(ended.stdout).not.toContain('thinking_set_aside');
    },
  );
});

describe('R272: blank lines that a chat template puts before the text', () => {
  test.concurrent('are left out, and counted', async ({ machine }) => {
    const provider = await machine.provider(
      writeDocument({ target: 'a.txt', content: `\n \n${TEXT}` }, { shape: { chunk: 3 } }),
    );
    const ended = await machine.ask(provider, ['--json']);
    expect(ended.exitCode, ended.stderr).toBe(0);
    expect(String(await machine.read('a.txt'))).toBe(TEXT);
    expect(ended.result().receipts).toMatchObject([{ leading_blank_lines_dropped: 2 }]);
  });
});

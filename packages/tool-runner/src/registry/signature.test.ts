import { toolCall } from '@orion/testkit';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { defineTool } from './define-tool.ts';
import { samePath } from './signature.ts';
import { createToolRegistry } from './tool-registry.ts';

const registry = createToolRegistry([
  defineTool({
    name: 'read_file',
    description: 'reads',
    schema: z.object({ path: z.string(), first_line: z.int().default(1) }),
    effect: 'read',
    execute: () => Promise.resolve({ result: null }),
  }),
]);

const sign = (args: object | string, name = 'read_file') =>
  registry.signatureOf(toolCall('x', name, args as string), 'p');

test('left-out defaults, blanks and spellings of a path make no difference (R171)', () => {
  const plain = sign({ path: 'a.txt' });
  expect(sign({ path: './a.txt', first_line: 1 })).toBe(plain);
  expect(sign({ path: ' docs/../a.txt\n' })).toBe(plain);
  expect(sign({ path: 'a.txt', first_line: 2 })).not.toBe(plain);
  expect(sign({ path: 'docs/a.txt' })).not.toBe(plain);
  expect(sign({ path: 'A.txt' })).not.toBe(plain);
});

test('paths are one spelling, and what is no path stays as it is', () => {
  const cases = [
    ['./a/./b//c/', 'a/b/c'],
    ['a/b/../c', 'a/c'],
    ['../a', '../a'],
    ['../../a', '../../a'],
    ['a/..', '.'],
    ['.', '.'],
    ['', ''],
    ['/etc//x', '/etc/x'],
    ['/', '/'],
  ] as const;
  for (const [path, expected] of cases) expect(samePath(path), path).toBe(expected);
  expect(sign({ text: './a' }, 'other')).not.toBe(sign({ text: 'a' }, 'other'));
  expect(sign({ target_file: './a' }, 'other')).toBe(sign({ target_file: 'a' }, 'other'));
});

test('full tool names count: what comes after an underscore is not cut off', () => {
  expect(sign({ path: 'a' }, 'a_b_c')).not.toBe(sign({ path: 'a' }, 'a_b'));
});

test('arguments that cannot be read, checked or written as JSON still have a signature', () => {
  const texts = ['{"path": 7}', '{"pa', '\ud800', '{"path":"\\ud800"}', '{"path":"\\udfff"}'];
  const signatures = texts.map((text) => sign(text));
  expect(new Set(signatures).size).toBe(texts.length);
  expect(texts.map((text) => sign(text))).toEqual(signatures);
});

import { describe, expect, test } from 'vitest';
import { nearMissOf } from './near-miss.ts';

describe('R021: near misses', () => {
  test.each([
    'DONE.',
    '**DONE**',
    '> DONE',
    ' DONE',
    '\tDONE',
    `${' '.repeat(60)}DONE`,
    '[DONE]',
    '`DONE`',
    '# DONE',
    '<!-- DONE -->',
    'DONE!!!',
    'DONE ✅',
    '🎉 DONE 🎉',
    '**DONE 7f3a**',
    'Done',
    'Done.',
    '**Done**',
    '(Done).',
    'Done 1.0',
  ])('%j is one, in whole', (line) => {
    expect(nearMissOf(line, true)).toBe(line);
    expect(nearMissOf(`${line} \t\r`, true)).toBe(line);
  });

  test.each([
    'DONE',
    'DONE 7f3a',
    'done',
    'done;',
    ' done',
    'DONENESS',
    'UNDONE',
    'I am DONE',
    'Done with it',
    'We are Done',
    '*****Done',
    'Done.....',
    'DONE = 1',
    'DONE_1',
    `${'='.repeat(40)} DONE`,
    '',
    'x'.repeat(10_000),
  ])('%j is none (N3)', (line) => {
    expect(nearMissOf(line, true)).toBeNull();
  });

  test('N2: of a line that no LF ends, four characters after one that is not blank', () => {
    expect(nearMissOf('last lineDONE', false)).toBe('DONE');
    expect(nearMissOf('}DONE', false)).toBe('DONE');
    expect(nearMissOf('}DONE 7f3a', false)).toBe('DONE 7f3a');
    expect(nearMissOf('> DONE', false)).toBe('> DONE');
    expect(nearMissOf('x = 1;DONE', false)).toBe('DONE');
    expect(nearMissOf('x = 1;DONE', true)).toBeNull();
    expect(nearMissOf('I am DONE', false)).toBeNull();
    expect(nearMissOf('DONE', false)).toBeNull();
    expect(nearMissOf('}DONE', true)).toBe('}DONE');
    expect(nearMissOf('lastdone', false)).toBeNull();
  });
});

import { describe, expect } from 'vitest';

import { numbered, writeMessages } from './support/scripts.ts';
import { test } from './support/test.ts';

const BODY = numbered('const value', 1, 3);

describe('R014, R039: a person is told what the model is asked, and reads nothing of the file there', () => {
  test.concurrent.for([
    ['silence', [BODY, 'DONE'], 'whether a.ts is complete, or to continue it: 3 lines are saved.'],
    ['nothing', ['', `${BODY}DONE`], 'to write a.ts, of which nothing has arrived yet.'],
    [
      'only a marker',
      ['DONE', `${BODY}DONE`],
      'whether a.ts is to be empty: it ended its text without any.',
    ],
    [
      'a marker in the text',
      [`${BODY}DONE\nconst last = 1;\n`, 'END 4'],
      'where a.ts ends: DONE is on line 4, and more text follows it.',
    ],
    [
      'something like a marker',
      [`${BODY}**DONE**`, 'DONE'],
      'whether the end of its message is part of a.ts: it may be a word about the file.',
    ],
  ] as const)('%s', async ([, messages, asked], { machine }) => {
    const provider = await machine.provider(writeMessages('a.ts', messages));
    const ended = await machine.ask(provider);
    expect(ended.exitCode, ended.stderr).toBe(0);
    expect(ended.stderr).toContain(`Asked the model ${asked}`);
    expect(ended.stderr).not.toContain('const');
    expect(String(await machine.read('a.ts'))).toBe(BODY);
  });
});

import { describe, expect } from 'vitest';

import { numbered, writeMessages } from './support/scripts.ts';
import { test } from './support/test.ts';

const BODY = numbered('const value', 1, 3);

describe('R014, R039: a person is told what the model is asked, and reads nothing of the file there', () => {
  test.concurrent.for([
    [
      'silence',
      [BODY, 'DONE'],
      "3 lines of a.ts are saved. If you're finished, reply DONE on its own line. Otherwise continue writing.",
    ],
    ['nothing', ['', `${BODY}DONE`], 'Nothing of a.ts has arrived yet. Write it now, then DONE on'],
    ['only a marker', ['DONE', `${BODY}DONE`], 'You wrote DONE, but no content for a.ts.'],
    [
      'a marker in the text',
      [`${BODY}DONE\nconst last = 1;\n`, 'END 4'],
      'DONE stands in a.ts at line 4, and more comes after it. Where does the file end?',
    ],
    [
      'something like a marker',
      [`${BODY}**DONE**`, 'DONE'],
      'Your message ended with something like DONE. Is that part of a.ts?',
    ],
  ] as const)('%s', async ([, messages, asked], { machine }) => {
    const provider = await machine.provider(writeMessages('a.ts', messages));
    const ended = await machine.ask(provider);
    expect(ended.exitCode, ended.stderr).toBe(0);
    expect(ended.stderr).toContain(`Asked the model: ${asked}`);
    expect(ended.stderr).not.toContain('const');
    expect(String(await machine.read('a.ts'))).toBe(BODY);
  });
});

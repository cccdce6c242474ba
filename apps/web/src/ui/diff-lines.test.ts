import { expect, it } from 'vitest';

import { hunksOf } from './diff-lines.ts';

/** Hazard: a change is approved that the rows of its diff do not show. */

it('says of which line the ending is missing', () => {
  const diff = '--- a\n+++ b\n@@ -1,2 +1,2 @@\n one\n-two\n+two\n\\ No newline at end of file\n';
  expect(hunksOf(diff)).toEqual([
    {
      head: '@@ -1,2 +1,2 @@',
      rows: [
        { sign: ' ', text: 'one' },
        { sign: '-', text: 'two' },
        { sign: '+', text: 'two', isUnended: true },
      ],
    },
  ]);
});

it('takes a line of the file that begins with a backslash for what it is', () => {
  expect(hunksOf('@@ -0,0 +1 @@\n+\\ No newline at end of file\n')).toMatchObject([
    { rows: [{ sign: '+', text: '\\ No newline at end of file' }] },
  ]);
});

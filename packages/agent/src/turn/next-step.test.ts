import { expect, it } from 'vitest';

import { nextStep } from './next-step.ts';

const RESCUED = { sessionId: 's1', rescuedText: '/tmp/x/content.txt' };

it.each([
  ['NO_DONE', { sessionId: 's1' }, '`orion recover-session s1`'],
  ['NO_DONE', RESCUED, '`orion recover-session --from /tmp/x/content.txt`'],
  ['SEAM_UNVERIFIED', { sessionId: 's1' }, '`orion recover-session s1`'],
  ['QUESTION_OPEN', RESCUED, '`orion recover-session --from /tmp/x/content.txt --finalize`'],
  ['EMPTY_CONTENT', { sessionId: 's1' }, '`orion recover-session s1 --discard`'],
  ['USAGE', { sessionId: 's1' }, '`orion recover-session s1 --out saved.txt`'],
  ['USAGE', RESCUED, 'cut a copy of the file yourself'],
  ['TARGET_CHANGED', RESCUED, '--on-conflict=keep-both'],
] as const)('R279: the next step after %s of %j has %s', (code, session, part) => {
  const step = nextStep(code, session);
  expect(step).toContain(part);
  expect(step).not.toContain('<id>');
});

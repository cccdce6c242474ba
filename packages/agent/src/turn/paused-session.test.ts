import { expect, it } from 'vitest';

import { commandsFor } from './paused-session.ts';
import type { PausedFacts } from './paused-session.ts';

const RECOVER = 'orion recover-session s1';

it.each<[string, Partial<PausedFacts>, readonly string[]]>([
  ['text', {}, ['', ' --finalize', ' --discard']],
  ['nothing saved', { bytes: 0 }, ['', ' --discard']],
  ['damaged', { code: 'SESSION_DAMAGED' }, [' --out saved.txt']],
  ['foreign', { code: 'SESSION_FOREIGN' }, [' --out saved.txt']],
  [
    'a target that changed',
    { code: 'TARGET_CHANGED', mayOverwrite: false },
    ['', ' --finalize --on-conflict=keep-both', ' --discard'],
  ],
])('R074: offers only commands that can work: %s', (_name, facts, options) => {
  const commands = commandsFor({
    sessionId: 's1',
    code: 'NO_DONE',
    question: null,
    bytes: 7,
    ...facts,
  });
  expect(commands).toEqual(options.map((option) => `${RECOVER}${option}`));
});

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
  [
    'a text that is as large as the limit',
    { code: 'CONTENT_TOO_LARGE', bytes: 100 },
    [' --max-bytes 200', ' --finalize', ' --discard'],
  ],
  [
    'one that is larger than a limit that was lowered since',
    { code: 'CONTENT_TOO_LARGE', bytes: 300 },
    [' --max-bytes 600', ' --finalize', ' --discard'],
  ],
])('R074: offers only commands that can work: %s', (_name, facts, options) => {
  const commands = commandsFor({
    sessionId: 's1',
    code: 'NO_DONE',
    question: null,
    bytes: 7,
    maxBytes: 100,
    ...facts,
  });
  expect(commands).toEqual(options.map((option) => `${RECOVER}${option}`));
});

it('R279: names the file of a text that its session cannot hold, and has nothing to discard', () => {
  const facts: PausedFacts = {
    sessionId: 's1',
    rescuedText: '/tmp/my files/content.txt',
    code: 'NO_DONE',
    question: null,
    bytes: 7,
    maxBytes: 100,
  };
  const recover = 'orion recover-session --from "/tmp/my files/content.txt"';
  expect(commandsFor(facts)).toEqual([recover, `${recover} --finalize`]);
});

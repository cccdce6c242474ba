import { OrionError } from '@orion/contracts';
import type { ErrorInfo, RunEvent } from '@orion/contracts';
import { expect, it } from 'vitest';

import { eventInCommandWords, inCommandWords } from './command-hints.ts';

const protectedPath = (hint?: string): ErrorInfo =>
  new OrionError({ code: 'PROTECTED_PATH', message: 'No.', ...(hint && { hint }) }).toInfo();
const GENERAL = protectedPath().hint ?? '';
const WORDS = 'Allow it with --allow-path <glob>.';

it.each([
  ['the general step', protectedPath(), WORDS],
  ['a step that goes on from it', protectedPath(`${GENERAL} And on.`), `${WORDS} And on.`],
  ['a step that the error knows itself', protectedPath('Do this.'), 'Do this.'],
  ['a step that names no option', { ...protectedPath(), code: 'ABORTED' as const }, GENERAL],
])('words %s for the command line', (_name, error, hint) => {
  expect(inCommandWords(error)).toEqual({ ...error, hint });
});

it.each([
  [
    'Forced, the undo restores the previous bytes anyway and keeps the present ones as a backup. And on.',
    '--force restores the previous bytes anyway and keeps the present ones as a backup. And on.',
  ],
  [
    'Remove it. Cleaning all sessions also removes it, together with every saved session.',
    'Remove it. `orion clean-sessions --all --yes` also removes it, together with every saved session.',
  ],
  [
    'Copy the text of session 1-2 out.',
    'Copy the text out with `orion recover-session 1-2 --out saved.txt`.',
  ],
  ['Open the workspace it belongs to.', 'Name its folder with -C, as the printed command does.'],
  ['Pass it as `script`.', 'Name its file with --script.'],
])('words a step that an error brings: %s', (hint, words) => {
  expect(inCommandWords(protectedPath(hint)).hint).toBe(words);
});

it('leaves an error without a step as it is', () => {
  const error: ErrorInfo = { code: 'PROTECTED_PATH', message: 'No.', retryable: false };
  expect(inCommandWords(error)).toBe(error);
});

it.each([
  ['error', WORDS],
  ['tool_result', WORDS],
  ['done', GENERAL],
])('words the error of an event %s', (type, hint) => {
  const event = { type, error: protectedPath() } as unknown as RunEvent;
  expect(eventInCommandWords(event)).toMatchObject({ error: { hint } });
});

it('leaves the result of a call that went well as it is', () => {
  const event = { type: 'tool_result' } as RunEvent;
  expect(eventInCommandWords(event)).toBe(event);
});

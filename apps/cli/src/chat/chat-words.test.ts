import { describe, expect, it } from 'vitest';

import { inChatWords } from './chat-words.ts';

/** Hazard: a conversation names a next step that cannot be taken in it. */

describe('the next step of an error', () => {
  it.each([
    'Add --on-conflict=overwrite to replace it (a backup is kept), or --on-conflict=keep-both to write beside it.',
    'Answer it with `orion recover-session s1 --finalize` and one of the named options.',
    'Continue with `orion recover-session s1` or write what is saved with `--finalize`.',
  ])('is /writes in place of: %s', (hint) => {
    const error = {
      code: 'TARGET_CHANGED',
      message: 'It changed.',
      retryable: false,
      hint,
    } as const;
    expect(inChatWords(error)).toEqual({
      ...error,
      hint: '/writes shows what you can do with it.',
    });
  });

  it.each([
    'Finish it with `orion recover-session --from /tmp/saved.txt`.',
    'Allow it with --allow-hard-link.',
  ])('stays: %s', (hint) => {
    expect(inChatWords({ code: 'NO_DONE', message: 'No end.', retryable: true, hint }).hint).toBe(
      hint,
    );
  });
});

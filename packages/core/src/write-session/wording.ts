import { openQuestionOf } from './control.ts';
import type { RefusalCode } from './control.ts';
import { openQuestionText } from './questions/questions.ts';
import type { WriteSession } from './session.ts';

/** Why the session refuses a request. */
export function refusalText(code: RefusalCode, session: WriteSession): string {
  const target = session.metadata.target_file;
  switch (code) {
    case 'SESSION_ALREADY_ACTIVE':
      return 'Another write session is already active. Please wait for it to complete.';
    case 'SESSION_BUSY':
      return `A write session for ${target} is open; call the tool again after it.`;
    case 'EMPTY_CONTENT':
      return `Nothing is saved for ${target}.`;
    case 'QUESTION_OPEN': {
      const question = openQuestionOf(session.control);
      return question === null
        ? `A question about ${target} is open.`
        : openQuestionText(question, target);
    }
    case 'SESSION_NOT_FOUND':
      return 'There is no active write session.';
    case 'USAGE':
      return 'No question is open in this session: leave out --end-at and --answer.';
    default:
      return code satisfies never;
  }
}

/** Why no more text is accepted, and what sets the limit. */
export function tooLargeText({ metadata, settings }: WriteSession): string {
  return (
    `The text for ${metadata.target_file} is larger than the limit of ${settings.maxBytes} bytes ` +
    '(WRITE_SESSION_MAX_BYTES).'
  );
}

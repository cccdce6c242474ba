import { openQuestionOf, questionLine } from '@orion/core';
import type { PromptReason, WriteSession } from '@orion/core';

import { linesOf } from './session-event.ts';

/**
 * What a person reads of a prompt to the model, in one line: what is asked, never the content that the prompt
 * quotes (R014, R039). It addresses the person, who wrote none of the text.
 */
export function promptNotice(reason: PromptReason, session: WriteSession): string {
  return `Asked the model ${asked(reason, session)}`;
}

function asked(reason: PromptReason, session: WriteSession): string {
  const { metadata, control } = session;
  const target = metadata.target_file;
  switch (reason) {
    case 'nothing_saved':
      return `to write ${target}, of which nothing has arrived yet.`;
    case 'empty':
      return metadata.operation === 'create'
        ? `whether ${target} is to be empty: it ended its text without any.`
        : `to write the text for ${target}: it ended its text without any.`;
    case 'idle':
      return `whether ${target} is complete, or to continue it: ${saved(session)}.`;
    case 'question': {
      const question = openQuestionOf(control);
      const again = control.kind === 'awaiting_answer' && control.again ? 'again ' : '';
      return `${again}${question === null ? `about ${target}.` : questionLine(question, target)}`;
    }
    case 'continuation':
      return `to continue ${target}: its message was cut off, ${saved(session)}.`;
    case 'ask_again':
      return `once more to continue ${target}: its reply did not begin with what is saved.`;
    case 'bridge':
      return `for what belongs between two parts of ${target}.`;
    case 'recovery':
      return control.kind === 'awaiting_content'
        ? `to write ${target}: the session was interrupted before anything arrived.`
        : `to continue ${target}, or to say that it is complete: the session was interrupted, ${saved(session)}.`;
    case 'corrections': {
      const places = control.kind === 'needs_corrections' ? control.places.length : 0;
      return places === 1
        ? `what belongs at a place of ${target} that is not valid text.`
        : `what belongs at ${places} places of ${target} that are not valid text.`;
    }
    case 'anew':
      return `to write ${target} once more, from its first line.`;
    default:
      return reason satisfies never;
  }
}

function saved({ summary }: WriteSession): string {
  const lines = linesOf(summary);
  return lines === 1 ? '1 line is saved' : `${lines} lines are saved`;
}

import { openQuestionOf, questionLine } from '@orion/core';
import type { PromptReason, WriteSession } from '@orion/core';

/**
 * What a person is told of a prompt to the model, in one line: what is asked, never the content that the prompt
 * quotes (R014, R039).
 */
export function askedLine(reason: PromptReason, session: WriteSession): string {
  return `Asked the model: ${asked(reason, session)}`;
}

function asked(reason: PromptReason, session: WriteSession): string {
  const { metadata, control, invalidPlaces } = session;
  const target = metadata.target_file;
  switch (reason) {
    case 'nothing_saved':
      return `Nothing of ${target} has arrived yet. Write it now, then DONE on its own line.`;
    case 'empty':
      return metadata.operation === 'create'
        ? `You wrote DONE, but no content for ${target}. Is it to be empty?`
        : `You wrote DONE, but no content for ${target}. Write it now.`;
    case 'idle':
      return `${saved(session)} If you're finished, reply DONE on its own line. Otherwise continue writing.`;
    case 'question': {
      const question = openQuestionOf(control);
      return question === null ? `A question about ${target}.` : questionLine(question, target);
    }
    case 'continuation':
      return `Your message was cut off. ${saved(session)} Repeat the last of it, then write the rest.`;
    case 'ask_again':
      return `That did not begin with what is saved of ${target}. Repeat the last of it, then write the rest.`;
    case 'bridge':
      return `Two parts of ${target} must be joined. Write what belongs between them.`;
    case 'recovery':
      return control.kind === 'awaiting_content'
        ? `The session for ${target} was interrupted. Write it now, from its first line.`
        : `The session for ${target} was interrupted. ${saved(session)} Reply DONE if it is complete; otherwise repeat the last of it, then write the rest.`;
    case 'corrections':
      return invalidPlaces.length === 1
        ? `1 place in ${target} is not valid text. What belongs there?`
        : `${invalidPlaces.length} places in ${target} are not valid text. What belongs there?`;
    case 'anew':
      return `Write ${target} once more, with nothing left out.`;
    default:
      return reason satisfies never;
  }
}

function saved({ metadata, summary }: WriteSession): string {
  const lines = summary.lineFeeds + (summary.openLineLength > 0 ? 1 : 0);
  return `${lines === 1 ? '1 line' : `${lines} lines`} of ${metadata.target_file} ${lines === 1 ? 'is' : 'are'} saved.`;
}

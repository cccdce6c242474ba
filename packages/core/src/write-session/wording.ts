import type { ErrorCode, SessionQuestion } from '@orion/contracts';

import type { WriteSession } from './session.ts';
import { chooseAnchor } from './text/seams/anchor.ts';
import { endQuestionPrompt, fencePrompt, nearMissPrompt, omissionPrompt } from './text/prompts.ts';

/** What the model is asked while the question is open. */
export function questionPrompt(session: WriteSession, question: SessionQuestion): string {
  const { metadata, summary } = session;
  const target = metadata.target_file;
  switch (question.kind) {
    case 'end':
      return endQuestionPrompt({
        target,
        candidates: question.candidates,
        anchor: chooseAnchor(summary),
        tag: metadata.session_id.slice(0, 4),
      });
    case 'near_miss':
      return nearMissPrompt({ text: question.text });
    case 'fence':
      return fencePrompt({
        target,
        firstLine: question.firstLine,
        lastLine: question.lastLine,
      });
    case 'omission':
      return omissionPrompt({ ...question, target, operation: metadata.operation });
    default:
      return question satisfies never;
  }
}

/** Why the session cannot do what was asked of it now. */
export function refusalText(code: ErrorCode, session: WriteSession): string {
  const target = session.metadata.target_file;
  switch (code) {
    case 'SESSION_ALREADY_ACTIVE':
      return 'Another write session is already active. Please wait for it to complete.';
    case 'SESSION_BUSY':
      return `A write session for ${target} is open; call the tool again after it.`;
    case 'EMPTY_CONTENT':
      return `Nothing is saved for ${target}.`;
    case 'QUESTION_OPEN': {
      const { control } = session;
      const question =
        control.kind === 'awaiting_answer' || control.kind === 'paused' ? control.question : null;
      return questionHelp(target, question);
    }
    case 'SESSION_NOT_FOUND':
      return 'There is no active write session.';
    default:
      return `The session for ${target} cannot do this now.`;
  }
}

function questionHelp(target: string, question: SessionQuestion | null): string {
  if (question === null) return `A question about ${target} is open.`;
  switch (question.kind) {
    case 'end': {
      const choices = question.candidates.map((candidate) => `--end-at ${candidate.line}`);
      return `It is open where ${target} ends: add ${[...choices, '--answer done'].join(' or ')}.`;
    }
    case 'near_miss':
      return `It is open whether ${JSON.stringify(question.text.slice(0, 80))} belongs to ${target}: add --answer keep or --answer done.`;
    case 'fence':
      return `It is open whether the fence around ${target} belongs to it: add --answer strip or --answer keep.`;
    case 'omission':
      return `It is open whether text was left out of ${target} at line ${question.lines.map(({ line }) => line).join(', ')}: add --answer keep to write it as it is.`;
    default:
      return question satisfies never;
  }
}

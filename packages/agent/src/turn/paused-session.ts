import type { ErrorCode, PausedSession, SessionQuestion } from '@orion/contracts';
import { openQuestionOf } from '@orion/core';
import type { WriteSession } from '@orion/core';

/** What a person needs to know of a session that waits, and the commands that go on with it. */
export function describePaused(options: {
  /** Where the text lies. */
  readonly place: string;
  readonly session: WriteSession;
  readonly code: ErrorCode;
}): PausedSession {
  const { place, session, code } = options;
  const { metadata, summary, control } = session;
  return {
    session_id: metadata.session_id,
    target_file: metadata.target_file,
    operation: metadata.operation,
    code,
    lines: summary.lineFeeds + (summary.openLineLength > 0 ? 1 : 0),
    bytes: summary.bytes,
    session_dir: place,
    commands: commandsFor(metadata.session_id, code, openQuestionOf(control)),
  };
}

export function commandsFor(
  sessionId: string,
  code: string | null,
  question: SessionQuestion | null,
  /** False where the same text would be added a second time. */
  mayOverwrite = true,
): readonly string[] {
  const recover = `orion recover-session ${sessionId}`;
  return [
    recover,
    ...finalizeCommands(recover, code, question, mayOverwrite),
    `${recover} --discard`,
  ];
}

function finalizeCommands(
  recover: string,
  code: string | null,
  question: SessionQuestion | null,
  mayOverwrite: boolean,
): readonly string[] {
  if (code === 'TARGET_CHANGED' || code === 'FILE_EXISTS') {
    return [
      ...(mayOverwrite ? [`${recover} --finalize --on-conflict=overwrite`] : []),
      `${recover} --finalize --on-conflict=keep-both`,
    ];
  }
  switch (question?.kind) {
    case undefined:
      return [`${recover} --finalize`];
    case 'end':
      return [
        ...question.candidates.map(
          (candidate) => `${recover} --finalize --end-at ${candidate.line}`,
        ),
        `${recover} --finalize --answer done`,
      ];
    case 'near_miss':
      return [`${recover} --finalize --answer keep`, `${recover} --finalize --answer done`];
    case 'fence':
      return [`${recover} --finalize --answer strip`, `${recover} --finalize --answer keep`];
    case 'omission':
      return [`${recover} --finalize --answer keep`];
    default:
      return question satisfies never;
  }
}

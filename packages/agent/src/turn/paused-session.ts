import { dirname } from 'node:path';

import type {
  AllowedTarget,
  ErrorCode,
  PausedSession,
  SessionListing,
  SessionQuestion,
} from '@orion/contracts';
import { commandWord, defined } from '@orion/contracts';
import { answerOptions, openQuestionOf } from '@orion/core';
import type { WriteSession } from '@orion/core';

import { recoverCommand } from './next-step.ts';
import type { SessionName } from './next-step.ts';
import { linesOf } from './session/session-event.ts';

/** Where the text of a paused session is. */
export type SessionPlace = {
  readonly directory: string;
  /** The file outside of it that has all of the text, if one does. */
  readonly rescuedText: string | null;
};

/** What a person needs to know of a paused session, and the commands that continue it. */
export function describePaused(
  session: WriteSession,
  code: ErrorCode,
  { directory, rescuedText }: SessionPlace,
  mayOverwrite = true,
): PausedSession {
  const { metadata, settings, summary, control } = session;
  return {
    session_id: metadata.session_id,
    target_file: metadata.target_file,
    operation: metadata.operation,
    code,
    lines: linesOf(summary),
    bytes: summary.bytes,
    session_dir: rescuedText === null ? directory : dirname(rescuedText),
    ...defined({ rescued_text: rescuedText ?? undefined }),
    commands: commandsFor({
      sessionId: metadata.session_id,
      rescuedText,
      code,
      question: openQuestionOf(control),
      bytes: summary.bytes,
      maxBytes: settings.maxBytes,
      mayOverwrite,
      allowed: metadata.target.allowed,
      uploaded: metadata.uploaded,
    }),
  };
}

/** What is known of one from outside: its question, if it has one, is named when it is recovered. */
export function describeListed(listing: SessionListing, maxBytes: number): PausedSession {
  const { session_id, target_file, operation, code, lines, bytes, session_dir, uploaded } = listing;
  return {
    session_id,
    target_file: target_file ?? '',
    operation: operation ?? 'create',
    code: code ?? 'NO_DONE',
    lines,
    bytes,
    session_dir,
    commands: commandsFor({
      sessionId: session_id,
      code,
      question: null,
      bytes,
      maxBytes,
      uploaded,
    }),
  };
}

export type PausedFacts = SessionName & {
  readonly code?: string | undefined;
  readonly question: SessionQuestion | null;
  /** Of what is saved. */
  readonly bytes: number;
  /** The limit of a file's size. */
  readonly maxBytes: number;
  /** False where the same text would be added a second time. */
  readonly mayOverwrite?: boolean;
  /** What had to be allowed for the target, and has to be again. */
  readonly allowed?: AllowedTarget | undefined;
  readonly uploaded?: boolean | undefined;
};

/** Each can be typed exactly as printed. */
export function commandsFor(facts: PausedFacts): readonly string[] {
  const { rescuedText = null } = facts;
  const recover = recoverCommand(facts);
  if (facts.code === 'SESSION_DAMAGED' || facts.code === 'SESSION_FOREIGN') {
    return [`${recover} --out saved.txt`];
  }
  // The same text meets the same file again.
  if (facts.code === 'TARGET_NOT_UTF8') {
    return [`${recover} --out saved.txt`, `${recover} --discard`];
  }
  // Of nothing, no file is made by hand.
  const finalize = facts.bytes === 0 ? [] : finalizeCommands(recover, facts);
  // No model continues what a program uploads.
  const goOn = facts.uploaded === true ? [] : [goOnCommand(recover, facts)];
  const options = permissions(facts.allowed);
  return [
    ...[...goOn, ...finalize].map((command) => `${command}${options}`),
    // A rescued text blocks nothing.
    ...(rescuedText === null ? [`${recover} --discard`] : []),
  ];
}

/** With the limit that stopped it, it would stop again. */
function goOnCommand(recover: string, { code, bytes, maxBytes }: PausedFacts): string {
  if (code !== 'CONTENT_TOO_LARGE') return recover;
  return `${recover} --max-bytes ${2 * Math.max(bytes, maxBytes)}`;
}

function permissions(allowed: AllowedTarget | undefined): string {
  const paths = allowed?.paths ?? [];
  return [
    ...paths.map((path) => ` --allow-path ${commandWord(literalGlob(path))}`),
    ...(allowed?.hardLink === true ? [' --allow-hard-link'] : []),
  ].join('');
}

/** A glob that matches this path alone. */
function literalGlob(path: string): string {
  return path.replaceAll(/[\\*?[\](){}!+@|,]/gu, String.raw`\$&`);
}

function finalizeCommands(
  recover: string,
  { code, question, mayOverwrite = true }: PausedFacts,
): readonly string[] {
  if (code === 'TARGET_CHANGED' || code === 'FILE_EXISTS') {
    return [
      ...(mayOverwrite ? [`${recover} --finalize --on-conflict=overwrite`] : []),
      `${recover} --finalize --on-conflict=keep-both`,
    ];
  }
  const finalize = `${recover} --finalize`;
  return question === null
    ? [finalize]
    : answerOptions(question).map((option) => `${finalize} ${option}`);
}

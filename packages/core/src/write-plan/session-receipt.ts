import type {
  ByteSource,
  CommitResult,
  SessionHandle,
  TargetSnapshot,
  TextRepair,
  WriteOperation,
  WriteReceipt,
  WritingRecord,
} from '@orion/contracts';

import { findHiddenCharacters } from '../validation/hidden-characters.ts';
import type { HiddenCharacters } from '../validation/hidden-characters.ts';
import { findOmissions } from '../validation/omissions.ts';
import type { Omission } from '../validation/omissions.ts';
import { repairedText } from '../validation/repaired-text.ts';
import { replacedPlaces, summarizeValidation } from '../validation/validate-session-text.ts';
import type { ReplacedPlaces } from '../validation/validate-session-text.ts';
import { fileEndOf, receiptNotesOf } from '../write-session/session.ts';
import type { ReceiptNotes, WriteSession } from '../write-session/session.ts';
import type { ContentSummary } from '../write-session/text/content-summary.ts';
import { linesInFile } from './reported-lines.ts';
import type { ReportedLines } from './reported-lines.ts';

/** Facts about the saved text for the receipt, whichever process wrote the file. */
export type SavedFacts = ReportedLines & {
  readonly start: number;
  /** Null: to the end of the text. */
  readonly end: number | null;
  readonly notes: ReceiptNotes;
  readonly repair: TextRepair | null;
};

/** What was found in the text that was written. */
export type Findings = {
  readonly omissions: readonly Omission[];
  readonly replaced: ReplacedPlaces;
  readonly hidden: HiddenCharacters;
};

export async function sessionReceipt(
  handle: SessionHandle,
  facts: SavedFacts,
  written: {
    readonly operation: WriteOperation;
    readonly commit: CommitResult;
    readonly findings: Findings;
    /** The size of the text as it was passed to the commit. */
    readonly textBytes: number;
    /** The number of line feeds in the file before the text. */
    readonly linesBefore: number;
  },
): Promise<WriteReceipt> {
  const { start, end, notes, repair } = facts;
  const { operation, findings, textBytes, linesBefore } = written;
  const { path, warnings, not_kept, backup_id, backup_path, bytes, lines, sha256, eol, bom, mode } =
    written.commit;
  const reported = await linesInFile(facts, { handle, start, end }, linesBefore);
  return {
    session_id: handle.id,
    target_file: path,
    operation,
    bytes,
    lines,
    sha256,
    eol,
    bom,
    mode,
    persistence: handle.persistence(),
    ...notes,
    inner_done_lines: reported.innerDoneLines,
    seams: reported.seams,
    validation_summary: summarizeValidation({
      ...findings,
      textBytes,
      repair,
      linesBefore,
      writtenBytes: bytes,
    }),
    ...(backup_id === undefined ? {} : { backup_id }),
    ...(backup_path === undefined ? {} : { backup_path }),
    warnings: [...warnings, ...notes.warnings],
    not_kept,
  };
}

/**
 * The receipt of a commit whose process died before it could report. `fileSummary` describes the part of the text that
 * belongs to the file.
 */
export async function recoveredReceipt(
  handle: SessionHandle,
  known: WriteSession,
  { result, lines_before: linesBefore = 0 }: WritingRecord,
  fileSummary: ContentSummary,
): Promise<WriteReceipt> {
  const { metadata } = handle;
  const session = { ...known, fileSummary };
  const { contentStart: start, repair } = session;
  const end = fileEndOf(session) ?? session.summary.bytes;
  const saved: ByteSource = () => handle.readContent(start, end);
  const text = repairedText(saved, repair);
  const notes = receiptNotesOf(session);
  const receipt = await sessionReceipt(
    handle,
    { ...session, start, end, notes },
    {
      // After a conflict that a person resolved, it is a new file next to the target.
      operation: result.path === metadata.target.path ? metadata.operation : 'create',
      commit: result,
      findings: {
        replaced: await replacedPlaces(saved, repair, metadata.target_file),
        // The old file can no longer excuse any line: it is gone.
        omissions: replacesText(metadata.operation, metadata.target)
          ? await findOmissions(text, null)
          : [],
        hidden: await findHiddenCharacters(text, result.path),
      },
      textBytes: end - start,
      linesBefore,
    },
  );
  return {
    ...receipt,
    warnings: [...receipt.warnings, 'committed_before_the_interruption'],
  };
}

/** Whether the text takes the place of existing text. */
export function replacesText(operation: WriteOperation, target: TargetSnapshot): boolean {
  return operation === 'replace' || (operation === 'overwrite' && target.exists);
}

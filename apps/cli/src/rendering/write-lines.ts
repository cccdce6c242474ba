import type { PausedSession, Seam, WriteReceipt } from '@orion/contracts';

import { clip, formatBytes, formatCount, plural } from '../terminal/format.ts';

const HASH_DIGITS = 12;

/** Most lines of a file that are named, of each kind. */
const NAMED_LINES = 5;
/** Most characters of a receipt (R014); `--json` has all of it. */
const MAX_LINE = 500;

/**
 * A receipt as one line: what was written, then what a person should not overlook, then the rest. However much there
 * is to tell, the line stays a line. `undo` is what takes it back, as the person types it;
 * null: nothing does.
 */
export function receiptLine(receipt: WriteReceipt, undo: string | null): string {
  const hash = receipt.sha256.slice(0, HASH_DIGITS);
  const parts = [
    `${plural(receipt.lines, 'line')}, ${plural(receipt.bytes, 'byte')}, sha256 ${hash}`,
    ...attentionParts(receipt),
    ...otherParts(receipt),
  ];
  const end = undo !== null && isUndoable(receipt) ? ` ${undo} takes it back.` : '';
  const line = `${VERBS[receipt.operation]} ${receipt.target_file}: ${parts.join('; ')}`;
  if (end === '') return clip(line, MAX_LINE);
  const shown = clip(line, MAX_LINE - end.length - 1);
  return `${shown}${shown.endsWith('…') ? '' : '.'}${end}`;
}

function isUndoable({ backup_id, warnings }: WriteReceipt): boolean {
  return backup_id !== undefined && !warnings.includes(NO_UNDO_RECORD);
}

const NO_UNDO_RECORD = 'no_undo_record';

/** What a warning means, where its name does not say it. */
const MEANINGS: Readonly<Record<string, string>> = {
  opens_with_thinking:
    'it begins with a tag such as <think>, and nothing shows that this is not part of it',
  finalized_by_hand: 'the model had not ended it, so text may be missing at its end',
  joined_without_newline:
    'the file did not end with a newline, so its last line goes on with the new text',
  encoding_changed: 'it was not UTF-8, and is now',
  [NO_UNDO_RECORD]: 'this change cannot be undone',
};

/** The only warning with a place, which is the entry behind it. */
const TRAILING_NOT_MOVED = 'trailing_not_moved';

function attentionParts(receipt: WriteReceipt): readonly string[] {
  const { replaced, replaced_at, omission_suspected, hidden_characters, hidden_at } =
    receipt.validation_summary;
  const parts: string[] = [];
  if (receipt.seams.some(isUnproved)) parts.push(seamText(receipt.seams));
  if (replaced > 0) {
    const lines = [...new Set(replaced_at?.map(({ line }) => line))];
    const more = replaced > (replaced_at?.length ?? 0);
    parts.push(
      `${plural(replaced, 'invalid place')} replaced by U+FFFD at line ${named(lines, more)}`,
    );
  }
  if (omission_suspected !== undefined) {
    parts.push(`something may be left out at line ${named(omission_suspected)}`);
  }
  if (hidden_characters !== undefined) {
    const lines = [...new Set(hidden_at?.map(({ line }) => line))];
    const kinds = [...new Set(hidden_at?.map(({ code_point }) => code_point))];
    const more = hidden_characters > (hidden_at?.length ?? 0);
    parts.push(
      `${plural(hidden_characters, 'invisible character')} at line ${named(lines, more)} (${kinds.slice(0, NAMED_LINES).join(', ')})`,
    );
  }
  if (receipt.not_kept.length > 0) parts.push(`not kept: ${receipt.not_kept.join(', ')}`);
  parts.push(...warningTexts(receipt.warnings));
  return parts;
}

function otherParts(receipt: WriteReceipt): readonly string[] {
  const { corrected } = receipt.validation_summary;
  const parts: string[] = [];
  if (receipt.backup_id !== undefined && receipt.operation !== 'create') {
    parts.push(`previous version kept as ${receipt.backup_id}`);
  }
  if (receipt.trailing !== undefined) {
    parts.push(`text that is not part of it kept in ${receipt.trailing}`);
  }
  if (receipt.persistence === 'memory') parts.push('was not saved on disk while it was streamed');
  if (receipt.seams.length > 0 && !receipt.seams.some(isUnproved)) {
    parts.push(seamText(receipt.seams));
  }
  if (receipt.inner_done_lines.length > 0) {
    parts.push(`DONE is part of the file at line ${named(receipt.inner_done_lines)}`);
  }
  if (corrected > 0) parts.push(`${plural(corrected, 'invalid place')} corrected by the model`);
  if (receipt.fence_stripped) parts.push('code fence around it left out');
  if (receipt.lead_dropped === true) parts.push('words before it left out');
  if (receipt.thinking_set_aside === true) parts.push('thinking before it left out');
  if (receipt.leading_blank_lines_dropped !== undefined) {
    const lines = plural(receipt.leading_blank_lines_dropped, 'blank line');
    parts.push(`${lines} before it left out`);
  }
  if (receipt.final_newline_added === true) parts.push('last line ended');
  if (receipt.eol === 'crlf') parts.push('CRLF line endings');
  return parts;
}

function warningTexts(warnings: readonly string[]): readonly string[] {
  const texts: string[] = [];
  for (let at = 0; at < warnings.length; at += 1) {
    const warning = warnings[at] ?? '';
    const place = warning === TRAILING_NOT_MOVED ? warnings[at + 1] : undefined;
    if (place !== undefined) at += 1;
    const meaning =
      place === undefined ? MEANINGS[warning] : `text that is not part of it is still in ${place}`;
    texts.push(`warning: ${warning}${meaning === undefined ? '' : ` (${meaning})`}`);
  }
  return texts;
}

/** The first of these lines; `more` when there are others that are not even listed. */
function named(lines: readonly number[], more = false): string {
  const first = lines.slice(0, NAMED_LINES).map(formatCount).join(', ');
  return more || lines.length > NAMED_LINES ? `${first} …` : first;
}

/** Whether a person should look at the file before relying on it. */
export function needsAttention(receipt: WriteReceipt): boolean {
  return (
    receipt.seams.some(isUnproved) ||
    receipt.warnings.length > 0 ||
    receipt.not_kept.length > 0 ||
    receipt.validation_summary.used_safe_replacement ||
    receipt.validation_summary.omission_suspected !== undefined ||
    receipt.validation_summary.hidden_characters !== undefined
  );
}

const VERBS: Readonly<Record<WriteReceipt['operation'], string>> = {
  create: 'Created',
  overwrite: 'Overwrote',
  append: 'Appended to',
  insert: 'Inserted into',
  replace: 'Replaced a block of',
};

/** Names those first that are not proved. */
function seamText(seams: readonly Seam[]): string {
  const shown = new Set(
    [...seams.filter(isUnproved), ...seams.filter((seam) => !isUnproved(seam))].slice(
      0,
      NAMED_LINES,
    ),
  );
  const joined = seams
    .filter((seam) => shown.has(seam))
    .map((seam) => `${seam.status} at line ${formatCount(seam.line)}`)
    .join(', ');
  const more = seams.length > shown.size ? ' …' : '';
  return `joined from ${formatCount(seams.length + 1)} parts, ${seams.length === 1 ? 'seam' : 'seams'} ${joined}${more}`;
}

function isUnproved(seam: Seam): boolean {
  return seam.status === 'unverified';
}

/** What the command says last of a file whose parts may not fit together, or whose end may be missing. */
export function unprovedParts(receipt: WriteReceipt): readonly string[] {
  const lines = receipt.seams.filter(isUnproved).map((seam) => seam.line);
  const { target_file: target, warnings } = receipt;
  return [
    ...(lines.length === 0
      ? []
      : [
          `${target} has ${lines.length === 1 ? 'an unverified seam' : 'unverified seams'} at line ` +
            `${named(lines)}: check whether something is missing or repeated there.`,
        ]),
    ...(warnings.includes('ended_after_cut')
      ? [
          `${target} may lack its end: the model was interrupted, and then only said that it is complete.`,
        ]
      : []),
  ];
}

/** A paused session: what is saved, and where. */
export function pausedLine(session: PausedSession): string {
  return (
    `Paused (${session.code}): ${session.target_file} is not written yet. ` +
    `${plural(session.lines, 'line')}, ${sizeText(session.bytes)} are saved in ${session.rescued_text ?? session.session_dir}`
  );
}

/** A size that a person can read, and the exact one where it is not that already. */
function sizeText(bytes: number): string {
  const exact = plural(bytes, 'byte');
  return bytes < 1000 ? exact : `${formatBytes(bytes)} (${exact})`;
}

/** A command as it can be typed here. */
export function withPlace(command: string, place: string): string {
  return place === '' ? command : `${command} ${place}`;
}

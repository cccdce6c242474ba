import type { PausedSession, Seam, WriteReceipt } from '@orion/contracts';

import { formatBytes, formatCount, plural } from '../terminal/format.ts';

const HASH_DIGITS = 12;

/** A receipt as one line: what was written, and everything about it that a person should not overlook. */
export function receiptLine(receipt: WriteReceipt): string {
  const parts = [
    `${plural(receipt.lines, 'line')}, ${plural(receipt.bytes, 'byte')}`,
    `sha256 ${receipt.sha256.slice(0, HASH_DIGITS)}`,
  ];
  if (receipt.backup_id !== undefined && receipt.operation !== 'create') {
    parts.push(`previous version kept as ${receipt.backup_id}`);
  }
  if (receipt.eol === 'crlf') parts.push('CRLF line endings');
  if (receipt.seams.length > 0) parts.push(seamText(receipt.seams));
  if (receipt.fence_stripped) parts.push('code fence around it left out');
  if (receipt.inner_done_lines.length > 0) {
    parts.push(`DONE is part of the file at line ${receipt.inner_done_lines.join(', ')}`);
  }
  if (receipt.trailing !== undefined) {
    parts.push(`text that is not part of it kept in ${receipt.trailing}`);
  }
  parts.push(...validationParts(receipt.validation_summary));
  if (receipt.not_kept.length > 0) parts.push(`not kept: ${receipt.not_kept.join(', ')}`);
  if (receipt.persistence === 'memory') parts.push('was not saved on disk while it was streamed');
  for (const warning of receipt.warnings) parts.push(`warning: ${warning}`);
  return `${verb(receipt.operation)} ${receipt.target_file}: ${parts.join('; ')}`;
}

/** Most lines that are named, of replaced places and of omissions. */
const NAMED_LINES = 5;

function validationParts(summary: WriteReceipt['validation_summary']): readonly string[] {
  const { corrected, replaced, replaced_at, omission_suspected } = summary;
  const parts: string[] = [];
  if (corrected > 0) parts.push(`${plural(corrected, 'invalid place')} corrected by the model`);
  if (replaced > 0) {
    const lines = [...new Set(replaced_at?.map(({ line }) => line))];
    const named = lines.slice(0, NAMED_LINES).map(formatCount).join(', ');
    const more = lines.length > NAMED_LINES || replaced > (replaced_at?.length ?? 0) ? ' …' : '';
    parts.push(`${plural(replaced, 'invalid place')} replaced by U+FFFD at line ${named}${more}`);
  }
  if (omission_suspected !== undefined) {
    const lines = omission_suspected.slice(0, NAMED_LINES).map(formatCount).join(', ');
    const more = omission_suspected.length > NAMED_LINES ? ' …' : '';
    parts.push(`something may be left out at line ${lines}${more}`);
  }
  return parts;
}

/** Whether a person should look at the file before relying on it. */
export function needsAttention(receipt: WriteReceipt): boolean {
  return (
    receipt.seams.some((seam) => seam.status === 'unverified') ||
    receipt.warnings.length > 0 ||
    receipt.not_kept.length > 0 ||
    receipt.validation_summary.used_safe_replacement ||
    receipt.validation_summary.omission_suspected !== undefined
  );
}

function verb(operation: WriteReceipt['operation']): string {
  switch (operation) {
    case 'create':
      return 'Created';
    case 'overwrite':
      return 'Overwrote';
    case 'append':
      return 'Appended to';
    case 'insert':
      return 'Inserted into';
    case 'replace':
      return 'Replaced a block of';
    default:
      return operation satisfies never;
  }
}

function seamText(seams: readonly Seam[]): string {
  const joined = seams.map((seam) => `${seam.status} at line ${formatCount(seam.line)}`).join(', ');
  return `joined from ${seams.length + 1} parts, ${seams.length === 1 ? 'seam' : 'seams'} ${joined}`;
}

/** What the command says last of a file whose parts may not fit together. */
export function unprovedSeams(receipt: WriteReceipt): readonly string[] {
  const lines = receipt.seams
    .filter((seam) => seam.status === 'unverified')
    .map((seam) => formatCount(seam.line));
  if (lines.length === 0) return [];
  return [
    `${receipt.target_file} has ${lines.length === 1 ? 'an unverified seam' : 'unverified seams'} at line ` +
      `${lines.join(', ')}: look whether something is missing or doubled there.`,
  ];
}

/**
 * A paused session: what is safe, where it lies, and the commands that go on with it. `place` is what they need to
 * find the workspace from where the person stands, such as `-C ../docs`.
 */
export function pausedLines(session: PausedSession, place: string): readonly string[] {
  return [
    `Paused (${session.code}): ${session.target_file} is not written yet. ` +
      `${plural(session.lines, 'line')}, ${formatBytes(session.bytes)} (${plural(session.bytes, 'byte')}) are saved in ${session.session_dir}`,
    ...session.commands.map((command) => `  ${withPlace(command, place)}`),
  ];
}

/** A command as it can be typed here. */
export function withPlace(command: string, place: string): string {
  return place === '' ? command : `${command} ${place}`;
}

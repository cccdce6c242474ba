import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

import type { WriteReceipt } from '@orion/contracts';

import type { Ended } from './lane.ts';
import type { Manners } from './model.ts';
import type { Asked } from './prompts.ts';

/**
 * `right`: the file is the document, byte for byte. `named`: it is not, and the receipt names the very place or text
 * by which it differs. `wrong`: it is not, and nothing says so. `paused`: nothing is written, the text is kept, and
 * the printed commands lead on. `stuck`: they do not. `failed`: anything else.
 */
export type Verdict = 'right' | 'named' | 'wrong' | 'paused' | 'stuck' | 'failed';

/** Who wrote the file: what it had in mind, its first message, and where it chose a wrong answer. */
export type Writer = {
  readonly manners: Pick<Manners, 'document'>;
  readonly sent: string;
  readonly falseAnswers: ReadonlySet<Asked['kind']>;
};

export type Judgement = { readonly verdict: Verdict; readonly why: string };

/** Judges what a turn or a command has left: `paused` means a pause whose commands were not tried yet. */
export async function judge(
  ended: Ended,
  { manners: { document }, sent, falseAnswers }: Writer,
  workspace: string,
): Promise<Judgement> {
  const file = await readOrNull(join(workspace, document.target));
  if (file === null) {
    if (ended.exitCode === 3 && ended.paused.length === 1) {
      return { verdict: 'paused', why: ended.paused[0]?.code ?? '' };
    }
    if (ended.exitCode === 0 && ended.words.includes('EMPTY_CONTENT')) {
      return { verdict: 'paused', why: 'EMPTY_CONTENT' };
    }
    return { verdict: 'failed', why: `no file, exit code ${ended.exitCode}: ${ended.words}` };
  }
  const [receipt] = ended.receipts;
  if (ended.exitCode !== 0 || receipt === undefined || ended.receipts.length > 1) {
    return {
      verdict: 'failed',
      why: `a file, exit code ${ended.exitCode}, ${ended.receipts.length} receipts: ${ended.words}`,
    };
  }
  if (file === document.text) return { verdict: 'right', why: doubtsOf(receipt) };
  const named =
    (await explain(file, document.text, receipt)) ??
    (falseAnswers.has('end') ? namedEnd(file, sent, receipt) : null);
  return named === null
    ? { verdict: 'wrong', why: differenceOf(file, document.text) }
    : { verdict: 'named', why: named };
}

/**
 * What in the receipt accounts for the whole difference between the file and the document, or null. A receipt that
 * only sounds doubtful accounts for nothing: it has to name the line or to keep the text.
 */
export async function explain(
  file: string,
  document: string,
  receipt: WriteReceipt,
): Promise<string | null> {
  const trailing =
    receipt.trailing === undefined ? '' : ((await readOrNull(receipt.trailing)) ?? '');
  const { line, fileMiddle, documentMiddle, isBehind } = differenceBetween(file, document);
  const names = (code: string): boolean =>
    receipt.warnings.some((warning) => warning.includes(code)) || code in receipt;
  // The text that the file lacks is kept, and the receipt says where.
  if (fileMiddle.trim() === '' && documentMiddle !== '' && holds(trailing, documentMiddle)) {
    return `left out and kept in trailing: ${short(documentMiddle)}`;
  }
  const seam = receipt.seams.find(
    (one) => one.status === 'unverified' && Math.abs(one.line - line) <= 1,
  );
  if (seam !== undefined) return `unverified seam at line ${seam.line}`;
  // From a line that the receipt calls a part of the file on, there is text that is not.
  if (isBehind && receipt.inner_done_lines.includes(line)) {
    return `DONE is said to be part of the file at line ${line}`;
  }
  // The end is missing, and the receipt says that it may be.
  if (names('ended_after_cut') && document.startsWith(file.trimEnd())) return 'ended_after_cut';
  if (names('final_newline_added') && file === `${document}\n`) return 'final_newline_added';
  // The model called a text finished that was cut off: it lacks its end, and the line of the cut may be torn.
  if (names('ended_after_cut') && document.startsWith(file.slice(0, lastLineOf(file)))) {
    return 'ended_after_cut';
  }
  if (names('opens_with_thinking') && line === 1 && documentMiddle === '') {
    return 'opens_with_thinking';
  }
  return null;
}

/** A model called its own words behind a DONE a part of the file, and the receipt names that line. */
function namedEnd(file: string, sent: string, receipt: WriteReceipt): string | null {
  const lines = file.split('\n');
  const line = receipt.inner_done_lines.find((number) => {
    const rest = lines.slice(number).join('\n').trim();
    return lines[number - 1]?.trimEnd() === 'DONE' && rest !== '' && sent.trimEnd().endsWith(rest);
  });
  return line === undefined ? null : `DONE is said to be part of the file at line ${line}`;
}

/** What a receipt of a right file doubts without a reason. */
function doubtsOf(receipt: WriteReceipt): string {
  const doubted = receipt.seams.filter(({ status }) => status === 'unverified');
  return [
    ...doubted.map(({ line }) => `unverified seam at line ${line}`),
    ...receipt.warnings,
  ].join('; ');
}

type Difference = {
  /** Of the first line that differs, counted from 1. */
  readonly line: number;
  readonly fileMiddle: string;
  readonly documentMiddle: string;
  /** Whether the document ends before that line, so that the file only has more. */
  readonly isBehind: boolean;
};

/** The lines by which two texts differ, between those that they have in common at the beginning and at the end. */
function differenceBetween(file: string, document: string): Difference {
  const ours = file.split(/(?<=\n)/u);
  const theirs = document.split(/(?<=\n)/u);
  const most = Math.min(ours.length, theirs.length);
  let start = 0;
  while (start < most && ours[start] === theirs[start]) start += 1;
  let end = 0;
  while (end < most - start && ours.at(-1 - end) === theirs.at(-1 - end)) end += 1;
  return {
    line: start + 1,
    fileMiddle: ours.slice(start, ours.length - end).join(''),
    documentMiddle: theirs.slice(start, theirs.length - end).join(''),
    isBehind: start === theirs.length,
  };
}

function differenceOf(file: string, document: string): string {
  const { line, fileMiddle, documentMiddle } = differenceBetween(file, document);
  return `line ${line}: has ${short(fileMiddle)} for ${short(documentMiddle)}`;
}

function short(text: string): string {
  const quoted = JSON.stringify(text);
  return quoted.length > 120 ? `${quoted.slice(0, 60)} … ${quoted.slice(-40)}` : quoted;
}

function lastLineOf(text: string): number {
  return text.trimEnd().lastIndexOf('\n') + 1;
}

function holds(text: string, lines: string): boolean {
  return lines.split('\n').every((line) => text.includes(line.trim()));
}

async function readOrNull(path: string): Promise<string | null> {
  return readFile(path, 'utf8').catch(() => null);
}

/**
 * Decides whether the first lines talk about the file instead of being part of it (R271). Nothing is removed here: the
 * model is asked.
 *
 * Invariants
 * L1  A lead depends on the first lines and on the target alone, so that it is found in a text of any length.
 * L2  Offsets are bytes into the content; the text begins with the first non-blank line after the lead, or, if there
 *     is none, at the end.
 */
import { wholeFenceLedger } from './content-summary.ts';
import type { ContentSummary } from './content-summary.ts';
import type { FenceLedger, LineMark } from './fence-ledger.ts';
import { isTemplateLine } from './chat-tokens.ts';
import { isChatLine } from './lines.ts';
import type { FenceLine } from './lines.ts';
import { opensLikeLead } from './talk-phrases.ts';
import type { TargetKind } from './target-kind.ts';

export type Lead = {
  /** Its one or two lines, with a LF between them. */
  readonly text: string;
  /** The number of its lines, without blank ones. */
  readonly lines: number;
  /** The offset of the text after it. */
  readonly contentStart: number;
};

export type LeadTarget = {
  readonly kind: TargetKind;
  /** The path of the file. */
  readonly target: string;
};

const MAX_LENGTH = 300;

export function findLead(summary: ContentSummary, target: LeadTarget): Lead | null {
  const ledger = wholeFenceLedger(summary);
  const lead = leadOf(ledger, target);
  // Blank lines may follow a lead without text after it.
  return lead?.lines === ledger.firstLines.length ? { ...lead, contentStart: summary.bytes } : lead;
}

export function leadOf({ firstLines }: FenceLedger, target: LeadTarget): Lead | null {
  const [first, second, third] = firstLines;
  if (first === undefined) return null;
  // A role without its tokens may be a word of the file.
  if (
    second !== undefined &&
    isTemplateLine(first.text) &&
    (first.text !== 'assistant' || isOwnParagraph(first, second))
  )
    return { text: first.text, lines: 1, contentStart: second.start };
  if (!mayBeLead(first, target.kind)) return null;
  // Talk in two paragraphs: the second announces the text, or continues the first.
  if (
    second !== undefined &&
    third !== undefined &&
    isOwnParagraph(first, second) &&
    second.fence === null &&
    endsLead(second, third) &&
    mayBeLead(second, target.kind) &&
    (announces(second.text, target.target)
      ? announces(first.text, target.target) || isChatLine(first.text)
      : third.fence !== null && announces(first.text, target.target) && isChatLine(second.text))
  )
    return { text: `${first.text}\n${second.text}`, lines: 2, contentStart: third.start };
  const saysSo =
    announces(first.text, target.target) || isFileName(first.text, target.target, second?.fence);
  if (!saysSo) return null;
  const introduces = introducesFile(first.text, target.target);
  // A line that announces the file, and nothing follows.
  if (second === undefined)
    return introduces ? { text: first.text, lines: 1, contentStart: first.end } : null;
  return endsLead(first, second) || introduces
    ? { text: first.text, lines: 1, contentStart: second.start }
    : null;
}

function isOwnParagraph(mark: LineMark, next: LineMark): boolean {
  return next.line > mark.line + 1;
}

function endsLead(mark: LineMark, next: LineMark): boolean {
  return isOwnParagraph(mark, next) || next.fence !== null;
}

const COMMENT = /^(?:#|\/\/|\/\*|--|;|%|<!--|["']|REM\b)/u;
const CODE_CHARACTER = /[{}()[\]<>=;|&$@\\]/u;

function mayBeLead({ text, fence }: LineMark, kind: TargetKind): boolean {
  if (fence !== null || /^[ \t]/u.test(text) || [...text].length > MAX_LENGTH) return false;
  if (kind !== 'code') return true;
  return !COMMENT.test(text) && !CODE_CHARACTER.test(text.replace(/`[^`]*`/gu, ''));
}

/** Words for the file that follows, in the languages of the phrases. */
const SUBJECTS = [
  'files?|contents?|codes?|documents?|versions?|fichiers?|contenus?',
  'archivos?|ficheros?|contenidos?|códigos?|documentos?|versión|versiones',
  'arquivos?|ficheiros?|conteúdos?|versão|versões',
  'datei|dateien|inhalt|inhalte|dokument|dokumente|versionen',
  'contenuto|codice|documento|versione',
  'файл\\p{L}{0,3}|содержим\\p{L}{2,4}|код\\p{L}{0,2}|документ\\p{L}{0,3}|верси\\p{L}{1,3}',
  '(?:ال)?(?:ملف|محتوى|كود|مستند|إصدار)',
  'फ़ाइल|फाइल|सामग्री|कोड|दस्तावेज़|दस्तावेज|संस्करण',
  'berkas|isi|kode|dokumen|versi',
];
const UNSPACED_SUBJECTS = '文件|内容|代码|文档|版本|檔案|ファイル|コード|文書|バージョン';
const SUBJECT = new RegExp(
  `(?<![\\p{L}\\p{M}])(?:${SUBJECTS.join('|')})(?![\\p{L}\\p{M}])|${UNSPACED_SUBJECTS}`.normalize(
    'NFC',
  ),
  'iu',
);
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/gu;
const MIN_WORDS = 3;
const MIN_UNSPACED = 4;

/** Whether a line announces the file. */
function announces(line: string, target: string): boolean {
  const text = withoutEmphasis(line);
  if (/[:.!：。！।]$/u.test(text) && opensLikeLead(text)) return true;
  if (!/[:：]$/u.test(text)) return false;
  const isSentence =
    text.split(/\s+/u).length >= MIN_WORDS || (text.match(UNSPACED)?.length ?? 0) >= MIN_UNSPACED;
  return isSentence && (names(text, target) || SUBJECT.test(text.normalize('NFC')));
}

/** Such a line is a lead even directly before the text, or if nothing follows. */
function introducesFile(line: string, target: string): boolean {
  const text = withoutEmphasis(line);
  const isSubject = names(text, target) || SUBJECT.test(text.normalize('NFC'));
  return /[:：]$/u.test(text) && opensLikeLead(text) && isSubject;
}

/** The name of the file, as models write it above a listing. Undecorated, a name of one word may also be a title. */
function isFileName(line: string, target: string, fence: FenceLine | null | undefined): boolean {
  const name = line.replace(/^[*_`]+/u, '').replace(/[*_`:：]+$/u, '');
  if (name !== target && name !== fileNameOf(target)) return false;
  return fence !== null || /^[*_`]/u.test(line) || (name.includes('.') && name !== line);
}

function withoutEmphasis(line: string): string {
  return line.replace(/^[*_]+/u, '').replace(/[*_]+$/u, '');
}

/** Whether the line contains the file's name as a separate word. */
function names(line: string, target: string): boolean {
  const name = fileNameOf(target);
  if (name === '') return false;
  for (let at = line.indexOf(name); at !== -1; at = line.indexOf(name, at + 1)) {
    const before = line.slice(0, at).at(-1) ?? ' ';
    const after = line.slice(at + name.length).at(0) ?? ' ';
    if (!isWordCharacter(before) && !isWordCharacter(after)) return true;
  }
  return false;
}

function fileNameOf(target: string): string {
  return target.slice(Math.max(target.lastIndexOf('/'), target.lastIndexOf('\\')) + 1);
}

function isWordCharacter(character: string): boolean {
  return /[\p{L}\p{N}_]/u.test(character);
}

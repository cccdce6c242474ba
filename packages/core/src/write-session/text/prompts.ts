import type { EditLocation, EndCandidate, InvalidPlace, WriteOperation } from '@orion/contracts';
import { DONE_MARKER, cutText } from '@orion/contracts';
import { markOf, quotedContext } from '../../validation/correction-reply.ts';
import { isBlankLine, withoutCarriageReturn } from './lines.ts';
import { DONE_ONCE_MORE } from './markers/inner-done.ts';
import { wholeLines } from './seams/anchor.ts';
import type { Anchor } from './seams/anchor.ts';
import { CUT_OFF, START_WITH } from './seams/seam-preamble.ts';

/**
 * Every text that the model reads in a write session (P1 to P11). Short, imperative, with one example: written for weak
 * local models as well as for strong ones. Tests pin them word for word.
 *
 * Invariants
 * T1  Text that the model must repeat is quoted exactly, except for the CR of its line endings, and never cut.
 * T2  A quotation cannot close its own tags: if it contains such a tag, the id of the tags is extended by `x`.
 * T3  What is inserted into a sentence, such as a path or a line of content, is one line of bounded length.
 * T4  The marker that a prompt names is one that counts: in strict mode the session's own, never a bare DONE.
 */

/** The file, the operation on it, and the marker that ends its text if it is not DONE. */
type Wanted = {
  readonly target: string;
  readonly operation: WriteOperation;
  readonly location?: EditLocation | undefined;
  readonly marker?: string;
};

export function beginInstructions({
  target,
  operation,
  location,
  endMarker,
  strict = false,
}: Omit<Wanted, 'marker'> & { readonly endMarker: string; readonly strict?: boolean }): string {
  const marker = strict ? endMarker : DONE_MARKER;
  const instead = strict
    ? ''
    : `\nIf the file itself contains a line that is only DONE, end with ${endMarker} instead.`;
  return `Write the ${WANTED[operation]} ${inline(target)} as your next message, from its first line.${onlyThat(operation, location)}
No introduction, no code fence, no comment about it.
After the last line write ${marker} on a line of its own, then stop.${instead}
Example, for a file of two lines:
first line
second line
${marker}`;
}

/** What the model has to write. Asked for a complete file, a model would repeat what the file already contains. */
const WANTED: Readonly<Record<WriteOperation, string>> = {
  create: 'complete content of',
  overwrite: 'complete content of',
  append: 'text to add at the end of',
  insert: 'text to insert into',
  replace: 'text that replaces the block of',
};

function onlyThat(operation: WriteOperation, location: EditLocation | undefined): string {
  if (operation === 'create' || operation === 'overwrite') return '';
  if (location !== undefined && 'include_markers' in location) {
    return location.include_markers
      ? ' The lines of both markers are replaced too: write what takes their place. Do not repeat what stands around them.'
      : ' The lines of both markers stay: do not repeat them, nor what stands around them.';
  }
  return ' Do not repeat what the file already has.';
}

/** What a prompt needs to quote the end of the saved text. */
export type SavedEnd = Pick<Wanted, 'target' | 'marker'> & {
  readonly savedLines: number;
  readonly anchor: Anchor;
  /** The first four hex digits of the session id. */
  readonly tag: string;
};

export function idlePrompt(saved: SavedEnd): string {
  const { anchor, savedLines, marker = DONE_MARKER } = saved;
  const lines = savedLines + (hasOpenLine(anchor) ? 1 : 0);
  return `${savedSentence({ ...saved, savedLines: lines })}
${wholeQuotation(saved)}
If you're finished, reply ${marker} on its own line. Otherwise continue writing: start with exactly ${wholeRepetition(anchor, continuing(anchor))}. No introduction, no tags.`;
}

export function nothingSavedPrompt({
  target,
  operation,
  marker = DONE_MARKER,
}: Omit<Wanted, 'location'>): string {
  return `Nothing of ${inline(target)} has arrived yet. ${writeNow(target, operation, marker)}`;
}

function writeNow(target: string, operation: WriteOperation, marker: string): string {
  const what =
    operation === 'create' || operation === 'overwrite'
      ? 'its complete content'
      : `the ${WANTED[operation]} ${inline(target)}`;
  return `Write ${what} now, from its first line, then ${marker} on its own line.`;
}

/** Only a new file may be empty on purpose. */
export function emptyPrompt({
  target,
  operation,
  marker = DONE_MARKER,
}: Omit<Wanted, 'location'>): string {
  const noContent = `You wrote ${marker}, but no content for ${inline(target)}.`;
  if (operation !== 'create') return `${noContent} ${writeNow(target, operation, marker)}`;
  return `${noContent} If it is to be an empty file, reply ${marker} on its own line again. Otherwise write its complete content now, from its first line, then ${marker} on its own line.`;
}

export function endQuestionPrompt(
  question: Omit<SavedEnd, 'savedLines'> & { readonly candidates: readonly EndCandidate[] },
): string {
  const { target, anchor, candidates, marker = DONE_MARKER } = question;
  const found = candidates.map(
    ({ line, following }) =>
      `Line ${line} of what is saved for ${inline(target)} is DONE, and ${comingAfter(following)}`,
  );
  const ends = candidates.map(({ line }) => `END ${line}   if the file ends before line ${line}`);
  const first = candidates.reduce((least, { line }) => Math.min(least, line), Infinity);
  return `${found.join('\n')}
If you're finished, reply ${marker} on its own line, or one of these lines:
${ends.join('\n')}
${marker.padEnd(9)} if line ${first} and what follows belong to the file, and the file is complete
If the file is not complete, start with exactly ${wholeRepetition(anchor, 'go on')}:
${wholeQuotation(question)}`;
}

function comingAfter(following: string): string {
  return following === DONE_ONCE_MORE
    ? `your message ended with ${DONE_ONCE_MORE}`
    : `this comes after it: "${inline(following, MAX_WORDS)}"`;
}

export function nearMissPrompt({
  text,
  marker = DONE_MARKER,
}: Pick<Wanted, 'marker'> & { readonly text: string }): string {
  return `Your message ended with: ${inline(text, MAX_LINE)}
Reply ${marker} if that is not part of the file (it will be left out).
Reply KEEP if it is part of the file and the file is complete.`;
}

export function fencePrompt({
  target,
  firstLine,
  lastLine,
}: Readonly<Record<'target' | 'firstLine' | 'lastLine', string>>): string {
  return `The text for ${inline(target)} begins with ${inline(firstLine, MAX_LINE)} and ends with ${inline(lastLine, MAX_LINE)}.
Reply STRIP if these only wrap the file. Reply KEEP if they are part of it.`;
}

/** Repeats a question after a reply that did not answer it. */
export function askedAgainPrompt(choices: readonly string[], question: string): string {
  return `That was no answer. Reply with one of these, alone on a line: ${choices.join(', ')}
${question}`;
}

export function leadPrompt({ target, text }: Readonly<Record<'target' | 'text', string>>): string {
  return `The text for ${inline(target)} begins with: ${inline(text, 2 * MAX_LINE)}
Reply DROP if that is not part of the file (it will be left out). Reply KEEP if it is.`;
}

export function omissionPrompt({
  target,
  operation,
  lines,
  count,
}: Pick<Wanted, 'target' | 'operation'> & {
  readonly lines: readonly { readonly line: number; readonly text: string }[];
  readonly count: number;
}): string {
  const looks =
    count === 1
      ? 'This line looks as if something was left out there'
      : 'These lines look as if something was left out there';
  const more = count > lines.length ? `\nand ${count - lines.length} more` : '';
  const quoted = lines.map(({ line, text }) => `${line}: ${inline(text, MAX_LINE)}`);
  const what = operation === 'replace' ? 'a block' : 'the whole';
  return `What you wrote replaces ${what} of ${inline(target)}. ${looks}:
${quoted.join('\n')}${more}
Reply KEEP if it is meant to be exactly as you wrote it.
Reply AGAIN if anything is missing; then you will write all of it.`;
}

export function anewPrompt({ target, operation, location, marker = DONE_MARKER }: Wanted): string {
  return `Write the ${WANTED[operation]} ${inline(target)} now, from its first line, with nothing left out.${onlyThat(operation, location)} Then ${marker} on its own line.`;
}

export function correctionsPrompt({
  target,
  places,
}: Pick<Wanted, 'target'> & { readonly places: readonly InvalidPlace[] }): string {
  const found =
    places.length === 1
      ? `1 place in ${inline(target)} is not valid text.`
      : `${places.length} places in ${inline(target)} are not valid text.`;
  const quoted = places.map((place) => {
    const { before, after } = quotedContext(place);
    return `#${place.index} (line ${place.line}): ${before}${markOf(place)}${after}`;
  });
  return `${found} For each number write what belongs at ⟦number⟧.
One line each, nothing else. Nothing after the colon deletes the place.
${quoted.join('\n')}
Example of a reply:
#1: é`;
}

export function recoveryPrompt(saved: SavedEnd): string {
  return `The session for ${inline(saved.target)} was interrupted.
${continuationPrompt(saved)}`;
}

export function continuationPrompt(saved: SavedEnd): string {
  const { anchor, marker = DONE_MARKER } = saved;
  const instruction = continuesInLine(anchor)
    ? `${START_WITH} this text. Then ${continuing(anchor)}.
No introduction, no code fence, no tags. End with ${marker} on a line of its own.`
    : `${START_WITH} ${repetition(anchor)}. Then write the rest of the file, beginning with the next line in full.
No introduction, no code fence, no tags. End with ${marker} on a line of its own.
Example: saved lines "a", "b" → you write:
a
b
c
${marker}`;
  return `${CUT_OFF} ${savedSentence(saved)}
${quotation(saved)}
${instruction}`;
}

export function reaskPrompt(saved: SavedEnd): string {
  const first = quotedText(saved.anchor).split('\n', 1)[0] ?? '';
  const quoted = inline(first, MAX_LINE);
  // A truncated line must not look like the whole one.
  const request =
    quoted === first
      ? `Its first line must be:\n${first}`
      : `Its first line must begin with:\n${cutText(first, MAX_LINE)}`;
  return `That message did not start with the saved lines, so it was not used. ${request}
${continuationPrompt(saved)}`;
}

export function bridgePrompt({
  target,
  anchor,
  headLines,
  tag,
  marker = DONE_MARKER,
}: Omit<SavedEnd, 'savedLines'> & { readonly headLines: readonly string[] }): string {
  const end = quotedText(anchor);
  const start = headLines.map(withoutCarriageReturn).join('\n');
  const id = tagId(`${end}\n${start}`, tag);
  return `Two parts of ${inline(target)} must be joined. Part 1 ends with:
<end-${id}>
${end}
</end-${id}>
Part 2 begins with:
<start-${id}>
${start}
</start-${id}>
Write the lines from the first line of part 1's end to the last line of part 2's beginning, with everything that belongs between. Leave out nothing, repeat nothing. Then ${marker}.`;
}

/** How many characters of content a sentence quotes: enough to recognise it. */
const MAX_WORDS = 80;
const MAX_LINE = 200;

function savedSentence({ savedLines, target }: SavedEnd): string {
  return savedLines === 1
    ? `1 line of ${inline(target)} is saved. It ends with:`
    : `${savedLines} lines of ${inline(target)} are saved. They end with:`;
}

/** The text that the model has to repeat, as it is quoted. */
export function quotedText(anchor: Anchor): string {
  if (anchor.kind === 'characters') return anchor.text.replaceAll('\r\n', '\n');
  if (anchor.lines.length === 0) return anchor.openLine;
  return anchor.lines.map(withoutCarriageReturn).join('\n');
}

function quotation({ anchor, tag }: Pick<SavedEnd, 'anchor' | 'tag'>): string {
  const text = quotedText(anchor);
  const id = tagId(text, tag);
  return `<tail-${id}>\n${text}\n</tail-${id}>`;
}

/** Includes the unfinished last line: a question must show the whole text that it is about (R274). */
function wholeQuotation({ anchor, tag }: Pick<SavedEnd, 'anchor' | 'tag'>): string {
  if (anchor.kind === 'characters' || !hasOpenLine(anchor)) return quotation({ anchor, tag });
  const whole = quotation({ anchor: { ...anchor, lines: wholeLines(anchor) }, tag });
  return `${whole}\n(The last line is not finished.)`;
}

function wholeRepetition(anchor: Anchor, next: string): string {
  if (anchor.kind === 'characters' || !hasOpenLine(anchor))
    return `${repetition(anchor)}, then ${continuesInLine(anchor) ? continuing(anchor) : next}`;
  const count = wholeLines(anchor).length;
  return count === 1
    ? 'this line and go on in it'
    : `these ${count} lines and go on in the last one`;
}

/** Whether the content continues after its last line ending. */
function hasOpenLine(anchor: Anchor): boolean {
  return anchor.kind === 'characters' ? anchor.inOpenLine : !isBlankLine(anchor.openLine);
}

function tagId(text: string, tag: string): string {
  let id = tag;
  while (text.includes(`-${id}>`)) id += 'x';
  return id;
}

/** Whether the model continues directly after the last quoted character rather than on a new line. */
function continuesInLine(anchor: Anchor): boolean {
  return anchor.kind === 'characters' || anchor.lines.length === 0;
}

function repetition(anchor: Anchor): string {
  if (continuesInLine(anchor) || anchor.kind === 'characters') return 'this text';
  return anchor.lines.length === 1 ? 'this line' : `these ${anchor.lines.length} lines`;
}

function continuing(anchor: Anchor): string {
  const isInLine = anchor.kind === 'characters' ? anchor.inOpenLine : anchor.lines.length === 0;
  if (isInLine)
    return 'go on in the same line, without a line break or a space that does not belong there';
  return 'go on with the next line in full';
}

/** As one line of at most `limit` characters. */
function inline(text: string, limit = Infinity): string {
  const line = text.replace(/[\r\n\u0085\u2028\u2029]+/gu, ' ').trim();
  return line.length > limit ? `${cutText(line, limit)}…` : line;
}

/**
 * What one operation does to one file: the old image in, the new image out. Nothing is written.
 *
 * E1. Bytes outside of what an operation names stay as they are.
 * E2. Inserted and replaced lines are whole lines. Where the file ends without a line ending it still does.
 * E3. Text gets the line endings of the file it goes into, unless the plan says `as-is`; a byte order mark stays.
 */
import { OrionError } from '@orion/contracts';
import type {
  ForeignEncoding,
  PatternMatcher,
  WritePlan,
  WritePlanOperation,
} from '@orion/contracts';

import { beginningOf, imageOfTexts, readImage, splice, textOf } from './file-image.ts';
import type { FileImage, NewText } from './file-image.ts';
import {
  ENCODING_CHANGED,
  fittingText,
  JOINED,
  MARK_LEFT_OUT,
  requireTakesText,
} from './fitting-text.ts';
import { findOffsets } from './find-literal.ts';
import type { Place } from './find-literal.ts';
import { findMarker, markerError, needleOf, quoted } from './markers.ts';
import type { Searched } from './markers.ts';
import { byteOrderMark, checkNewText, lineCount, withCrlf, withoutFirstMark } from './new-text.ts';
import type { CheckedText } from './new-text.ts';

/** A file as the operations so far would leave it. */
export type FileState = {
  readonly path: string;
  readonly exists: boolean;
  readonly image: FileImage;
  readonly crlf: boolean;
  readonly bom: boolean;
  readonly encoding?: ForeignEncoding;
  /** The bytes that stand on disk, from the start each time. */
  readonly readBase: () => AsyncIterable<Uint8Array>;
};

/** What an operation adds, as it stands in the file then. */
export type Edit = {
  readonly state: FileState;
  /** Of the text as it was given. */
  readonly givenBytes: number;
  readonly bytes: number;
  readonly lines: number;
  /** The byte of the new image at which it begins; of several places the first. */
  readonly startsAt: number;
  readonly occurrences?: number;
  readonly warnings: readonly string[];
};

export type EditContext = {
  readonly patterns: PatternMatcher;
  readonly eol: WritePlan['eol'];
};

/** More places than this are not one plan's business. */
export const MAX_OCCURRENCES = 1_000_000;

/** Rejects with what `findMarker` and `checkNewText` reject with, and with NO_MATCH, COUNT_MISMATCH or TARGET_NOT_UTF8. */
export async function applyOperation(
  state: FileState,
  operation: WritePlanOperation,
  context: EditContext,
): Promise<Edit> {
  const given = await checkNewText(operation.content, state.path);
  if (operation.type === 'create' || operation.type === 'overwrite') {
    return { ...(await editWith(given, state, operation, context)), givenBytes: given.bytes };
  }
  const text = await fitted(state, given);
  const edit = await editWith(text, state, operation, context);
  return {
    ...edit,
    givenBytes: given.bytes,
    warnings: given.bom ? [...edit.warnings, MARK_LEFT_OUT] : edit.warnings,
  };
}

/** As it can stand among other text of this file. */
async function fitted(state: FileState, given: CheckedText): Promise<CheckedText> {
  requireTakesText(state);
  const text = withoutFirstMark(given);
  if (state.encoding !== undefined) {
    for await (const _chunk of fittingText(text.source, state)());
  }
  return text;
}

type UncountedEdit = Omit<Edit, 'givenBytes'>;

async function editWith(
  text: CheckedText,
  state: FileState,
  operation: WritePlanOperation,
  context: EditContext,
): Promise<UncountedEdit> {
  switch (operation.type) {
    case 'create':
    case 'overwrite':
      return writeWhole(state, text, context);
    case 'append':
      return append(state, operation, text, context);
    case 'insert':
      return insert(state, operation, text, context);
    case 'replace':
      return replace(state, operation, text, context);
    case 'replace_all':
      return replaceAll(state, operation, text, context);
  }
}

function adapted(state: FileState, text: CheckedText, context: EditContext): CheckedText {
  return state.crlf && context.eol === 'match' ? withCrlf(text) : text;
}

function writeWhole(state: FileState, given: CheckedText, context: EditContext): UncountedEdit {
  // A text that has CRLF anywhere has line endings of its own.
  const text = given.eol === 'lf' ? adapted(state, given, context) : given;
  const keepsBom = state.bom && !text.bom && context.eol === 'match';
  const image = imageOfTexts(keepsBom ? [byteOrderMark, text] : [text]);
  const { encoding, ...known } = state;
  return {
    state: {
      ...known,
      exists: true,
      image,
      crlf: text.eol === 'crlf',
      bom: text.bom || keepsBom,
    },
    bytes: image.bytes,
    lines: lineCount(text),
    startsAt: image.bytes - text.bytes,
    warnings: encoding === undefined ? [] : [ENCODING_CHANGED],
  };
}

async function append(
  state: FileState,
  { start_on_new_line }: Extract<WritePlanOperation, { type: 'append' }>,
  given: CheckedText,
  context: EditContext,
): Promise<UncountedEdit> {
  const text = adapted(state, given, context);
  const end = state.image.bytes;
  const meetsOpenLine = text.bytes > 0 && !(await endsWithLineFeed(state));
  const endsLine = meetsOpenLine && start_on_new_line === true;
  const texts = endsLine ? [lineEnding(state), text] : [text];
  const bytes = texts.reduce((sum, each) => sum + each.bytes, 0);
  return {
    state: spliced(state, [{ start: end, end, texts }]),
    bytes,
    lines: lineCount(text),
    startsAt: end + bytes - text.bytes,
    warnings: meetsOpenLine && !endsLine ? [JOINED] : [],
  };
}

/** As the other lines of the file end. */
function lineEnding({ crlf }: FileState): NewText {
  return textOf(Uint8Array.from(crlf ? [0x0d, 0x0a] : [0x0a]));
}

async function endsWithLineFeed(state: FileState): Promise<boolean> {
  let last = 0x0a;
  for await (const chunk of readImage(state.image, state.readBase)) last = chunk.at(-1) ?? last;
  return last === 0x0a;
}

async function insert(
  state: FileState,
  { location }: Extract<WritePlanOperation, { type: 'insert' }>,
  given: CheckedText,
  context: EditContext,
): Promise<UncountedEdit> {
  const place = await findMarker(
    searchedOf(state),
    { name: 'location_marker', text: location.marker, type: location.marker_type },
    context.patterns,
  );
  const text = adapted(state, given, context);
  if (location.position === 'before') {
    return linesAt(state, { start: place.lineStart, end: place.lineStart }, text, 'inside');
  }
  const after = { start: place.lineEnd, end: place.lineEnd };
  return linesAt(state, after, text, place.terminated ? 'inside' : 'after_open_line');
}

async function replace(
  state: FileState,
  { location }: Extract<WritePlanOperation, { type: 'replace' }>,
  given: CheckedText,
  context: EditContext,
): Promise<UncountedEdit> {
  const { start_marker, end_marker, marker_type: type, include_markers: whole } = location;
  const searched = searchedOf(state);
  const find = (name: string, text: string): Promise<Place> =>
    findMarker(searched, { name, text, type }, context.patterns);
  const first = await find('start_marker', start_marker);
  const last = await find('end_marker', end_marker);
  if (last.start < first.end) {
    throw markerError('MARKER_NOT_FOUND', {
      message: `end_marker ${quoted(end_marker)} (line ${last.line} of ${state.path}) does not come after start_marker (line ${first.line}).`,
      name: 'end_marker',
      count: 1,
      lines: [last.line],
    });
  }
  const text = adapted(state, given, context);
  if (last.start < first.lineEnd) {
    const range = whole
      ? { start: first.start, end: last.end }
      : { start: first.end, end: last.start };
    return inLine(state, range, text);
  }
  const range = whole
    ? { start: first.lineStart, end: last.lineEnd }
    : { start: first.lineEnd, end: last.lineStart };
  return linesAt(state, range, text, whole && !last.terminated ? 'as_open_line' : 'inside');
}

type Range = { readonly start: number; readonly end: number };

/**
 * Puts whole lines there. `after_open_line`: behind the last line, which has no ending; `as_open_line`: they become
 * the last lines of a file that ends so.
 */
function linesAt(
  state: FileState,
  range: Range,
  text: CheckedText,
  where: 'inside' | 'after_open_line' | 'as_open_line',
): UncountedEdit {
  if (text.bytes === 0) return editOf(state, range, [], text);
  const ending = lineEnding(state);
  if (where === 'inside') {
    return editOf(state, range, text.finalLineEnding === 0 ? [text, ending] : [text], text);
  }
  const open = withoutFinalEnding(text);
  if (where === 'as_open_line') return editOf(state, range, [open], text);
  const edit = editOf(state, range, [ending, open], text);
  return { ...edit, startsAt: edit.startsAt + ending.bytes };
}

/** A single line that goes into a line has no ending of its own. */
function inLine(state: FileState, range: Range, text: CheckedText): UncountedEdit {
  const single = text.lineFeeds === 1 && text.finalLineEnding > 0;
  return editOf(state, range, [single ? withoutFinalEnding(text) : text], text);
}

function withoutFinalEnding(text: CheckedText): NewText {
  return text.finalLineEnding === 0 ? text : beginningOf(text, text.bytes - text.finalLineEnding);
}

function editOf(
  state: FileState,
  range: Range,
  texts: readonly NewText[],
  text: CheckedText,
): UncountedEdit {
  return {
    state: spliced(state, [{ ...range, texts }]),
    bytes: texts.reduce((sum, { bytes }) => sum + bytes, 0),
    lines: lineCount(text),
    startsAt: range.start,
    warnings: [],
  };
}

async function replaceAll(
  state: FileState,
  operation: Extract<WritePlanOperation, { type: 'replace_all' }>,
  given: CheckedText,
  context: EditContext,
): Promise<UncountedEdit> {
  const { find, expected_count: expected } = operation;
  const needle = needleOf(find, state.crlf);
  const { offsets, limited } = await findOffsets(
    readImage(state.image, state.readBase),
    needle,
    MAX_OCCURRENCES,
  );
  const count = offsets.length;
  if (limited) {
    throw new OrionError({
      code: 'INVALID_OPERATION',
      message: `find ${quoted(find)} stands at more than ${MAX_OCCURRENCES} places of ${state.path}.`,
      hint: 'Look for a longer text, or overwrite the file.',
    });
  }
  if (count === 0) {
    throw new OrionError({
      code: 'NO_MATCH',
      message: `find ${quoted(find)} stands nowhere in ${state.path}.`,
    });
  }
  if (expected !== undefined && expected !== count) {
    throw new OrionError({
      code: 'COUNT_MISMATCH',
      message: `find ${quoted(find)} stands at ${count} ${count === 1 ? 'place' : 'places'} of ${state.path}, not at ${expected}.`,
      details: { count, expected },
    });
  }
  const text = adapted(state, given, context);
  const texts = text.bytes === 0 ? [] : [text];
  return {
    state: spliced(
      state,
      offsets.map((start) => ({ start, end: start + needle.length, texts })),
    ),
    bytes: text.bytes * count,
    lines: lineCount(text) * count,
    startsAt: offsets[0] ?? 0,
    occurrences: count,
    warnings: [],
  };
}

function spliced(state: FileState, splices: Parameters<typeof splice>[1]): FileState {
  return { ...state, image: splice(state.image, splices) };
}

function searchedOf(state: FileState): Searched {
  return {
    path: state.path,
    read: () => readImage(state.image, state.readBase),
    crlf: state.crlf,
    bom: state.bom,
  };
}

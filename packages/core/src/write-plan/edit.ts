/**
 * What one operation does to one file: the old image in, the new image out. Nothing is written.
 *
 * E1. Bytes outside of what an operation names stay as they are.
 * E2. Inserted and replaced lines are whole lines. Where the file ends without a line ending it still does.
 * E3. Text gets the line endings of the file it goes into, unless the plan says `as-is`; a byte order mark stays.
 */
import { OrionError } from '@orion/contracts';
import type {
  ByteSource,
  ForeignEncoding,
  PatternMatcher,
  WritePlan,
  WritePlanOperation,
} from '@orion/contracts';

import { beginningOf, imageOfTexts, readImage, splice, textOf } from './file-image.ts';
import type { FileImage, NewText, Splice } from './file-image.ts';
import {
  ENCODING_CHANGED,
  fittingText,
  JOINED,
  MARK_LEFT_OUT,
  requireTakesText,
} from './fitting-text.ts';
import { findOffsets } from './find-literal.ts';
import type { Place } from './find-literal.ts';
import type { HeldImage } from './held-image.ts';
import { findMarker, linesOf, markerError, needleOf, quoted } from './markers.ts';
import type { Searched } from './markers.ts';
import { byteOrderMark, checkNewText, lineCount, withCrlf, withoutFirstMark } from './new-text.ts';
import type { CheckedText } from './new-text.ts';
import type { Pace } from './pace.ts';

/** A file as the operations so far would leave it. */
export type FileState = {
  readonly path: string;
  readonly exists: boolean;
  readonly image: FileImage;
  readonly crlf: boolean;
  readonly bom: boolean;
  readonly encoding?: ForeignEncoding;
  /** Whether the last line has no ending; null where that shows only in the bytes. */
  readonly open: boolean | null;
  /** The bytes of the image, where many operations look through a file that is not large. */
  readonly held: HeldImage | null;
  /** The bytes that stand on disk, from the start each time. */
  readonly readBase: ByteSource;
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
  /** Of a file as an operation leaves it. */
  readonly maxBytes: number;
  readonly pace: Pace;
};

/** More places than this are not one plan's business. */
export const MAX_OCCURRENCES = 1_000_000;

/**
 * Rejects with what `findMarker` and `checkNewText` reject with, and with NO_MATCH, COUNT_MISMATCH, TARGET_NOT_UTF8,
 * CONTENT_TOO_LARGE or ABORTED.
 */
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
  requireSize(state, text.bytes, context);
  const image = imageOfTexts(keepsBom ? [byteOrderMark, text] : [text]);
  const { encoding, ...known } = state;
  return {
    state: {
      ...known,
      exists: true,
      image,
      crlf: text.eol === 'crlf',
      bom: text.bom || keepsBom,
      open: image.bytes > 0 && text.finalLineEnding === 0,
      held: null,
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
  if (text.bytes === 0) {
    return { state, bytes: 0, lines: 0, startsAt: end, warnings: [] };
  }
  const meetsOpenLine = state.open ?? (await endsInOpenLine(state, context));
  const endsLine = meetsOpenLine && start_on_new_line === true;
  const texts = endsLine ? [lineEnding(state), text] : [text];
  const bytes = texts.reduce((sum, each) => sum + each.bytes, 0);
  const added = await spliced(state, [{ start: end, end, texts }], context);
  return {
    state: { ...added, open: text.finalLineEnding === 0 },
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

async function endsInOpenLine(state: FileState, { pace }: EditContext): Promise<boolean> {
  let last = 0x0a;
  for await (const chunk of pace.of(readerOf(state))()) last = chunk.at(-1) ?? last;
  return last !== 0x0a;
}

async function insert(
  state: FileState,
  { location }: Extract<WritePlanOperation, { type: 'insert' }>,
  given: CheckedText,
  context: EditContext,
): Promise<UncountedEdit> {
  const place = await findMarker(
    searchedOf(state, context),
    { name: 'location_marker', text: location.marker, type: location.marker_type },
    context.patterns,
  );
  const text = adapted(state, given, context);
  if (location.position === 'before') {
    const before = { start: place.lineStart, end: place.lineStart };
    return keepingEnd(state, await linesAt(state, before, text, 'inside', context));
  }
  const after = { start: place.lineEnd, end: place.lineEnd };
  return place.terminated
    ? keepingEnd(state, await linesAt(state, after, text, 'inside', context))
    : linesAt(state, after, text, 'after_open_line', context);
}

/** Whole lines that go between others leave the end of the file as it is, terminated or not. */
function keepingEnd({ open }: FileState, edit: UncountedEdit): UncountedEdit {
  return { ...edit, state: { ...edit.state, open } };
}

async function replace(
  state: FileState,
  { location }: Extract<WritePlanOperation, { type: 'replace' }>,
  given: CheckedText,
  context: EditContext,
): Promise<UncountedEdit> {
  const { start_marker, end_marker, marker_type: type, include_markers: whole } = location;
  const searched = searchedOf(state, context);
  const find = (name: string, text: string): Promise<Place> =>
    findMarker(searched, { name, text, type }, context.patterns);
  const first = await find('start_marker', start_marker);
  const last = await find('end_marker', end_marker);
  if (last.start < first.end) {
    const [firstLine = 1, lastLine = 1] = await linesOf(searched, [first, last]);
    throw markerError('MARKER_NOT_FOUND', {
      message: `end_marker ${quoted(end_marker)} (line ${lastLine} of ${state.path}) does not come after start_marker (line ${firstLine}).`,
      name: 'end_marker',
      count: 1,
      lines: [lastLine],
    });
  }
  const text = adapted(state, given, context);
  if (last.start < first.lineEnd) {
    const range = whole
      ? { start: first.start, end: last.end }
      : { start: first.end, end: last.start };
    return inLine(state, range, text, context);
  }
  const range = whole
    ? { start: first.lineStart, end: last.lineEnd }
    : { start: first.lineEnd, end: last.lineStart };
  return linesAt(
    state,
    range,
    text,
    whole && !last.terminated ? 'as_open_line' : 'inside',
    context,
  );
}

type Range = { readonly start: number; readonly end: number };

/**
 * Puts whole lines there. `after_open_line`: behind the last line, which has no ending; `as_open_line`: they become
 * the last lines of a file that ends so.
 */
async function linesAt(
  state: FileState,
  range: Range,
  text: CheckedText,
  where: 'inside' | 'after_open_line' | 'as_open_line',
  context: EditContext,
): Promise<UncountedEdit> {
  if (text.bytes === 0) return editOf(state, range, [], text, context);
  const ending = lineEnding(state);
  if (where === 'inside') {
    const texts = text.finalLineEnding === 0 ? [text, ending] : [text];
    return editOf(state, range, texts, text, context);
  }
  const open = withoutFinalEnding(text);
  if (where === 'as_open_line') return editOf(state, range, [open], text, context);
  const edit = await editOf(state, range, [ending, open], text, context);
  return { ...edit, startsAt: edit.startsAt + ending.bytes };
}

/** A single line that goes into a line has no ending of its own. */
function inLine(
  state: FileState,
  range: Range,
  text: CheckedText,
  context: EditContext,
): Promise<UncountedEdit> {
  const single = text.lineFeeds === 1 && text.finalLineEnding > 0;
  return editOf(state, range, [single ? withoutFinalEnding(text) : text], text, context);
}

function withoutFinalEnding(text: CheckedText): NewText {
  return text.finalLineEnding === 0 ? text : beginningOf(text, text.bytes - text.finalLineEnding);
}

async function editOf(
  state: FileState,
  range: Range,
  texts: readonly NewText[],
  text: CheckedText,
  context: EditContext,
): Promise<UncountedEdit> {
  return {
    state: await spliced(state, [{ ...range, texts }], context),
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
    context.pace.of(readerOf(state))(),
    needle,
    MAX_OCCURRENCES,
  );
  const count = offsets.length;
  const text = adapted(state, given, context);
  requireSize(state, state.image.bytes + count * (text.bytes - needle.length), context);
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
  const texts = text.bytes === 0 ? [] : [text];
  return {
    state: await spliced(
      state,
      offsets.map((start) => ({ start, end: start + needle.length, texts })),
      context,
    ),
    bytes: text.bytes * count,
    lines: lineCount(text) * count,
    startsAt: offsets[0] ?? 0,
    occurrences: count,
    warnings: [],
  };
}

async function spliced(
  state: FileState,
  splices: readonly Splice[],
  context: EditContext,
): Promise<FileState> {
  const { image, held } = state;
  const change = splices.reduce(
    (sum, { start, end, texts }) =>
      sum + start - end + texts.reduce((bytes, text) => bytes + text.bytes, 0),
    0,
  );
  requireSize(state, image.bytes + change, context);
  await context.pace.work(splices.length);
  return {
    ...state,
    image: splice(image, splices),
    open: null,
    held: held === null ? null : await held.splice(splices, image.bytes + change),
  };
}

/** B4: what is larger is refused as a target, so nothing becomes so, not even between two operations. */
function requireSize({ path }: FileState, bytes: number, { maxBytes }: EditContext): void {
  if (bytes <= maxBytes) return;
  throw new OrionError({
    code: 'CONTENT_TOO_LARGE',
    message: `\`${path}\` would have more than ${maxBytes} bytes.`,
    hint: 'Write less into one file.',
    details: { max_bytes: maxBytes },
  });
}

function readerOf({ image, held, readBase }: FileState): ByteSource {
  return held === null ? () => readImage(image, readBase) : () => held.read();
}

function searchedOf(state: FileState, { pace }: EditContext): Searched {
  return {
    path: state.path,
    read: pace.of(readerOf(state)),
    crlf: state.crlf,
    bom: state.bom,
  };
}

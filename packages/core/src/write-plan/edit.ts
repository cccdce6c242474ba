/**
 * Applies one operation to one file: takes the old image and returns the new one. Nothing is written.
 *
 * E1. Bytes that an operation does not name stay unchanged.
 * E2. Inserted and replaced lines are whole lines. A file without a final line ending keeps it that way.
 * E3. New text gets the line endings of the file, unless the plan says `as-is`. A byte order mark is kept.
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
import { findMarker, linesOf, needleOf, quoted } from './markers.ts';
import type { Searched } from './markers.ts';
import { byteOrderMark, checkNewText, lineCount, withCrlf, withoutFirstMark } from './new-text.ts';
import type { CheckedText } from './new-text.ts';
import type { Pace } from './pace.ts';

/** The file after the operations so far. */
export type FileState = {
  readonly path: string;
  readonly exists: boolean;
  readonly image: FileImage;
  readonly crlf: boolean;
  readonly bom: boolean;
  readonly encoding?: ForeignEncoding;
  /** Whether the last line has no ending; null if only the bytes can tell. */
  readonly open: boolean | null;
  /** The bytes of the image, if several operations search a file that is small enough. */
  readonly held: HeldImage | null;
  /** Reads the file on disk, from its start each time. */
  readonly readBase: ByteSource;
};

/** The effect of an operation. `bytes` and `lines` describe the added text as it is in the file. */
export type Edit = {
  readonly state: FileState;
  /** Length of the text as it was given. */
  readonly givenBytes: number;
  readonly bytes: number;
  readonly lines: number;
  /** The offset of the added text in the new image; of several places, the first. */
  readonly startsAt: number;
  readonly occurrences?: number;
  readonly warnings: readonly string[];
};

export type EditContext = {
  readonly patterns: PatternMatcher;
  readonly eol: WritePlan['eol'];
  /** The largest size that an operation may give a file. */
  readonly maxBytes: number;
  readonly pace: Pace;
};

/** The most places that one `replace_all` may change. */
export const MAX_OCCURRENCES = 1_000_000;

/** The text of an operation, adapted to the file, and the file. */
type Task = {
  readonly state: FileState;
  readonly text: CheckedText;
  readonly context: EditContext;
};

type UncountedEdit = Omit<Edit, 'givenBytes'>;

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
  const isWhole = operation.type === 'create' || operation.type === 'overwrite';
  const text = isWhole ? given : adapted(state, await fitted(state, given), context);
  const edit = await editWith({ state, text, context }, operation);
  return {
    ...edit,
    givenBytes: given.bytes,
    warnings: given.bom && !isWhole ? [...edit.warnings, MARK_LEFT_OUT] : edit.warnings,
  };
}

async function fitted(state: FileState, given: CheckedText): Promise<CheckedText> {
  requireTakesText(state);
  const text = withoutFirstMark(given);
  if (state.encoding !== undefined) {
    for await (const _chunk of fittingText(text.source, state)());
  }
  return text;
}

function adapted(state: FileState, text: CheckedText, context: EditContext): CheckedText {
  return state.crlf && context.eol === 'match' ? withCrlf(text) : text;
}

type Operation<Type> = Extract<WritePlanOperation, { type: Type }>;

async function editWith(task: Task, operation: WritePlanOperation): Promise<UncountedEdit> {
  switch (operation.type) {
    case 'create':
    case 'overwrite':
      return writeWhole(task);
    case 'append':
      return append(task, operation);
    case 'insert':
      return insert(task, operation);
    case 'replace':
      return replace(task, operation);
    case 'replace_all':
      return replaceAll(task, operation);
  }
}

function writeWhole({ state, text: given, context }: Task): UncountedEdit {
  // A text that contains a CRLF has chosen its own line endings.
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
  task: Task,
  { start_on_new_line }: Operation<'append'>,
): Promise<UncountedEdit> {
  const { state, text, context } = task;
  const end = state.image.bytes;
  if (text.bytes === 0) {
    return { state, bytes: 0, lines: 0, startsAt: end, warnings: [] };
  }
  const meetsOpenLine = state.open ?? (await endsInOpenLine(state, context));
  const endsLine = meetsOpenLine && start_on_new_line === true;
  const before = endsLine ? [lineEnding(state)] : [];
  const edit = await editOf(task, { start: end, end }, [text], before);
  return {
    ...edit,
    state: { ...edit.state, open: text.finalLineEnding === 0 },
    warnings: meetsOpenLine && !endsLine ? [JOINED] : [],
  };
}

/** The line ending that the file uses. */
function lineEnding({ crlf }: FileState): NewText {
  return textOf(Uint8Array.from(crlf ? [0x0d, 0x0a] : [0x0a]));
}

async function endsInOpenLine(state: FileState, { pace }: EditContext): Promise<boolean> {
  let last = 0x0a;
  for await (const chunk of pace.of(readerOf(state))()) last = chunk.at(-1) ?? last;
  return last !== 0x0a;
}

async function insert(task: Task, { location }: Operation<'insert'>): Promise<UncountedEdit> {
  const { state, context } = task;
  const place = await findMarker(
    searchedOf(state, context),
    { name: 'location_marker', text: location.marker, type: location.marker_type },
    context.patterns,
  );
  const at = location.position === 'before' ? place.lineStart : place.lineEnd;
  const range = { start: at, end: at };
  if (location.position === 'after' && !place.terminated) {
    return linesAt(task, range, 'after_open_line');
  }
  // Whole lines inserted between others do not change how the file ends.
  const edit = await linesAt(task, range, 'inside');
  return { ...edit, state: { ...edit.state, open: state.open } };
}

async function replace(task: Task, { location }: Operation<'replace'>): Promise<UncountedEdit> {
  const { state, context } = task;
  const { start_marker, end_marker, marker_type: type, include_markers: whole } = location;
  const searched = searchedOf(state, context);
  const find = (name: string, text: string): Promise<Place> =>
    findMarker(searched, { name, text, type }, context.patterns);
  const first = await find('start_marker', start_marker);
  const last = await find('end_marker', end_marker);
  if (last.start < first.end) {
    const [firstLine = 1, lastLine = 1] = await linesOf(searched, [first, last]);
    throw new OrionError({
      code: 'MARKER_NOT_FOUND',
      message: `end_marker ${quoted(end_marker)} (line ${lastLine} of ${state.path}) does not come after start_marker (line ${firstLine}).`,
      details: { marker: 'end_marker', count: 1, lines: [lastLine] },
    });
  }
  if (last.start < first.lineEnd) {
    return inLine(
      task,
      whole ? { start: first.start, end: last.end } : { start: first.end, end: last.start },
    );
  }
  return whole
    ? linesAt(
        task,
        { start: first.lineStart, end: last.lineEnd },
        last.terminated ? 'inside' : 'as_open_line',
      )
    : linesAt(task, { start: first.lineEnd, end: last.lineStart }, 'inside');
}

type Range = Pick<Splice, 'start' | 'end'>;

/**
 * Puts whole lines into the range. `after_open_line`: after the last line, which has no ending. `as_open_line`: as the
 * new end of a file whose last line has no ending.
 */
function linesAt(
  task: Task,
  range: Range,
  where: 'inside' | 'after_open_line' | 'as_open_line',
): Promise<UncountedEdit> {
  const { state, text } = task;
  if (text.bytes === 0) return editOf(task, range, []);
  const ending = lineEnding(state);
  if (where === 'inside') {
    return editOf(task, range, text.finalLineEnding === 0 ? [text, ending] : [text]);
  }
  const before = where === 'after_open_line' ? [ending] : [];
  return editOf(task, range, [withoutFinalEnding(text)], before);
}

/** A single line that becomes part of another line loses its own ending. */
function inLine(task: Task, range: Range): Promise<UncountedEdit> {
  const { text } = task;
  const single = text.lineFeeds === 1 && text.finalLineEnding > 0;
  return editOf(task, range, [single ? withoutFinalEnding(text) : text]);
}

function withoutFinalEnding(text: CheckedText): NewText {
  return text.finalLineEnding === 0 ? text : beginningOf(text, text.bytes - text.finalLineEnding);
}

/** `before`: a line ending that the file needs before the new text. */
async function editOf(
  { state, text, context }: Task,
  range: Range,
  added: readonly NewText[],
  before: readonly NewText[] = [],
): Promise<UncountedEdit> {
  const texts = [...before, ...added];
  return {
    state: await spliced(state, [{ ...range, texts }], context),
    bytes: bytesOf(texts),
    lines: lineCount(text),
    startsAt: range.start + bytesOf(before),
    warnings: [],
  };
}

function bytesOf(texts: readonly NewText[]): number {
  return texts.reduce((sum, { bytes }) => sum + bytes, 0);
}

async function replaceAll(
  { state, text, context }: Task,
  { find, expected_count: expected }: Operation<'replace_all'>,
): Promise<UncountedEdit> {
  const needle = needleOf(find, state.crlf);
  const { offsets, limited } = await findOffsets(
    context.pace.of(readerOf(state))(),
    needle,
    MAX_OCCURRENCES,
  );
  const count = offsets.length;
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
  const bytes = splices.reduce(
    (sum, { start, end, texts }) => sum + start - end + bytesOf(texts),
    image.bytes,
  );
  requireSize(state, bytes, context);
  await context.pace.work(splices.length);
  return {
    ...state,
    image: splice(image, splices),
    open: null,
    held: held === null ? null : await held.splice(splices, bytes),
  };
}

/** B4: larger files are refused as targets, so no operation may create one, not even temporarily. */
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
  return { ...state, read: pace.of(readerOf(state)) };
}

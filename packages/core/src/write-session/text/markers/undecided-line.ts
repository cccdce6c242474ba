/**
 * Classifies a line while it arrives: content, or possibly a marker or a fence.
 *
 * Invariants
 * U1  A line is 'text' only if it can become nothing else; until then it is held.
 * U2  Each piece of a line is examined once, even if the line ends in endless blanks.
 */
import { isBlankCode } from '@orion/contracts';
import { closesFence, parseFenceLine } from '../lines.ts';
import type { HeldGroup } from './held-group.ts';
import { NO_GROUP } from './held-group.ts';
import type { LineKind, MarkerReaderOptions } from './marker-rules.ts';

/** A line that is longer, without its trailing blanks, is neither a marker nor a closing fence. */
const SPECIAL_LENGTH = 128;

/** A line without its LF, divided so that endless blanks at its end are not examined again (M6). */
export type UndecidedLine = {
  /** Up to the last non-blank character. */
  readonly core: string;
  readonly blanks: string;
  readonly endsInCarriageReturn: boolean;
  /** Whether `blanks` contains a CR before its end: then the line is not a marker (R020). */
  readonly strayCarriageReturn: boolean;
};

export const NO_LINE: UndecidedLine = {
  core: '',
  blanks: '',
  endsInCarriageReturn: false,
  strayCarriageReturn: false,
};

/** Whether a line that begins at `index` must be examined if nothing is held. */
export function mayBeSpecial(options: MarkerReaderOptions, text: string, index: number): boolean {
  const code = text.charCodeAt(index);
  if (code === 0x44) return true;
  return options.wrappingFence !== null && (code === 0x20 || code === 0x60 || code === 0x7e);
}

export function growPartial(
  partial: UndecidedLine,
  text: string,
  from: number,
  to: number,
): UndecidedLine {
  let inkEnd = to;
  while (inkEnd > from && isBlankCode(text.charCodeAt(inkEnd - 1))) inkEnd -= 1;
  const hasInk = inkEnd > from;
  const before = hasInk ? NO_LINE : partial;
  const blanks = text.slice(inkEnd, to);
  const carriageReturn = blanks.indexOf('\r');
  return {
    core: hasInk ? partial.core + partial.blanks + text.slice(from, inkEnd) : partial.core,
    blanks: before.blanks + blanks,
    endsInCarriageReturn: blanks === '' ? before.endsInCarriageReturn : blanks.endsWith('\r'),
    strayCarriageReturn:
      before.strayCarriageReturn ||
      (before.endsInCarriageReturn && blanks !== '') ||
      (carriageReturn !== -1 && carriageReturn < blanks.length - 1),
  };
}

const OTHER_END_MARKER = /^DONE [0-9a-f]{4}$/u;
const END_MARKER_BEGUN = /^DONE [0-9a-f]{1,3}$/u;

/**
 * The kind of a line, or, while it is not complete, what it may become: 'text' only if it can be nothing else.
 */
export function kindOfLine(
  options: MarkerReaderOptions,
  partial: UndecidedLine,
  group: HeldGroup,
  isComplete: boolean,
): LineKind {
  const { core } = partial;
  if (core === '')
    return isComplete || group !== NO_GROUP ? 'blank' : kindOfIndentation(options, partial);
  if (core.length > SPECIAL_LENGTH) return 'text';
  const code = core.charCodeAt(0);
  if (code === 0x44) {
    if (!partial.strayCarriageReturn) {
      if (core === options.endMarker) return 'end_marker';
      if (core === 'DONE' || OTHER_END_MARKER.test(core)) {
        if (!options.strict) return 'done';
        // Of these only `DONE` may still become the end marker.
        if (core === 'DONE' && !isComplete && mayContinue(partial)) return 'prefix';
        return 'text';
      }
    }
    if (isComplete || partial.blanks !== '') return 'text';
    if (options.endMarker.startsWith(core) || 'DONE'.startsWith(core)) return 'prefix';
    return !options.strict && END_MARKER_BEGUN.test(core) ? 'prefix' : 'text';
  }
  if (options.wrappingFence === null && group.marker === '') return 'text';
  return kindOfFence(options, partial, group, isComplete);
}

function kindOfIndentation(options: MarkerReaderOptions, partial: UndecidedLine): LineKind {
  return options.wrappingFence !== null && /^ {0,3}$/u.test(partial.blanks) ? 'prefix' : 'text';
}

/** Whether `DONE` with these blanks can become `DONE 7f3a`. */
function mayContinue(partial: UndecidedLine): boolean {
  return partial.blanks === '' || partial.blanks === ' ';
}

const FENCE_BEGUN = /^ {0,3}(?:`{1,2}|~{1,2})$/u;

function kindOfFence(
  options: MarkerReaderOptions,
  partial: UndecidedLine,
  group: HeldGroup,
  isComplete: boolean,
): LineKind {
  const fence = parseFenceLine(partial.core);
  if (fence === null)
    return !isComplete && partial.blanks === '' && FENCE_BEGUN.test(partial.core)
      ? 'prefix'
      : 'text';
  if (fence.info !== '') return 'text';
  if (group.marker !== '') return 'fence';
  const { wrappingFence } = options;
  if (wrappingFence === null || fence.character !== wrappingFence.character) return 'text';
  if (closesFence(wrappingFence, fence)) return 'fence';
  return !isComplete && partial.blanks === '' ? 'prefix' : 'text';
}

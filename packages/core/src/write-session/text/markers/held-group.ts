/**
 * Lines that are held because they may end the content, that is, a DONE and the lines around it, until the next line or
 * the end of the message decides about them.
 *
 * Invariants
 * G1  Lines are released in their order, and none is dropped here.
 */
import { isBlankText } from '@orion/contracts';
import { closesFence, isBlankLine, parseFenceLine } from '../lines.ts';
import type { FencesAtEnd } from '../fence-decision.ts';
import type { LineKind, MarkerReaderOptions } from './marker-rules.ts';
import type { Output } from './released-content.ts';

/** Held complete lines, in this order, each with its LF. */
export type HeldGroup = {
  /** A line that closes the wrapping fence, and blank lines after it. */
  readonly fenceBefore: string;
  /** A bare DONE; several if the message contains nothing else so far. */
  readonly marker: string;
  readonly blanksAfterMarker: string;
  /** A closing fence after DONE, and blank lines after it. */
  readonly fenceAfter: string;
};

export const NO_GROUP: HeldGroup = {
  fenceBefore: '',
  marker: '',
  blanksAfterMarker: '',
  fenceAfter: '',
};

export function closesWrapping(options: MarkerReaderOptions, lines: string): boolean {
  if (options.wrappingFence === null) return false;
  const fence = parseFenceLine(lines.split('\n', 1)[0] ?? '');
  return fence !== null && closesFence(options.wrappingFence, fence);
}

/** Adds a complete line to the group, or releases the line and everything before it. */
export function withLine(
  options: MarkerReaderOptions,
  out: Output,
  group: HeldGroup,
  kind: LineKind,
  line: string,
): HeldGroup {
  switch (kind) {
    case 'done':
      return withMarker(options, out, group, line);
    case 'fence': {
      if (group.marker !== '' && group.fenceAfter === '') return { ...group, fenceAfter: line };
      releaseGroup(out, group);
      if (closesWrapping(options, line)) return { ...NO_GROUP, fenceBefore: line };
      out.release(line);
      return NO_GROUP;
    }
    case 'blank':
      if (group.fenceAfter !== '') return { ...group, fenceAfter: group.fenceAfter + line };
      if (group.marker !== '')
        return { ...group, blanksAfterMarker: group.blanksAfterMarker + line };
      if (group.fenceBefore !== '') return { ...group, fenceBefore: group.fenceBefore + line };
      out.release(line);
      return NO_GROUP;
    case 'end_marker':
    case 'prefix':
    case 'text':
      releaseGroup(out, group);
      out.release(line);
      return NO_GROUP;
  }
}

export function withMarker(
  options: MarkerReaderOptions,
  out: Output,
  group: HeldGroup,
  line: string,
): HeldGroup {
  if (group.marker === '') return { ...group, marker: line };
  // A message that only contains markers means the same as one marker. One that follows text has repeated the end of
  // that text before, which is not released again.
  const isEmpty = !options.followsText && !out.hasInk();
  if (isEmpty && group.fenceAfter === '' && group.fenceBefore === '')
    return {
      ...group,
      marker: group.marker + group.blanksAfterMarker + line,
      blanksAfterMarker: '',
    };
  return { ...NO_GROUP, fenceBefore: releaseUpToFence(out, group), marker: line };
}

export function withEndMarker(out: Output, group: HeldGroup): HeldGroup {
  if (group.marker === '') return group;
  return { ...NO_GROUP, fenceBefore: releaseUpToFence(out, group) };
}

/** A DONE before another marker is content; a fence between them now precedes that marker. */
function releaseUpToFence(out: Output, group: HeldGroup): string {
  releaseGroup(out, { ...group, fenceAfter: '' });
  return group.fenceAfter;
}

export function releaseGroup(out: Output, group: HeldGroup): void {
  if (group === NO_GROUP) return;
  out.release(group.fenceBefore);
  let from = 0;
  while (from < group.marker.length) {
    const lineEnd = group.marker.indexOf('\n', from);
    const to = lineEnd === -1 ? group.marker.length : lineEnd + 1;
    const line = group.marker.slice(from, to);
    if (isBlankLine(trimLineFeed(line))) out.release(line);
    else out.releaseDone(line);
    from = to;
  }
  out.release(group.blanksAfterMarker);
  out.release(group.fenceAfter);
}

function trimLineFeed(line: string): string {
  return line.endsWith('\n') ? line.slice(0, -1) : line;
}

/** How far the message was read, and with `first` what came after the first DONE. */
type Remainder = {
  readonly options: MarkerReaderOptions;
  readonly phase: 'reading' | 'remainder' | 'ended';
  readonly remainder: string;
};

/** The text after the held DONE, or null if it makes the DONE content. */
export function afterMarker(
  reader: Remainder,
  group: HeldGroup,
  fences: FencesAtEnd,
): { readonly setAside: string; readonly content: string } | null {
  const after = reader.phase === 'remainder' ? reader.remainder : group.fenceAfter;
  const start = /^(?:[ \t\r]*\n)*/u.exec(after)?.[0].length ?? 0;
  if (isBlankText(after)) return { setAside: '', content: '' };
  const lineEnd = after.indexOf('\n', start);
  const line = lineEnd === -1 ? after.slice(start) : after.slice(start, lineEnd + 1);
  const fence = isBlankText(after.slice(start + line.length))
    ? parseFenceLine(trimLineFeed(line))
    : null;
  if (fence !== null && closesWrapping(reader.options, line) && fences.open.length === 0)
    return { setAside: after.slice(start), content: '' };
  // The content keeps both fences, so that the fence decision sees them (R033).
  if (fence !== null && fences.enclosing !== null && closesFence(fences.enclosing, fence))
    return { setAside: '', content: line };
  return reader.phase === 'remainder' ? { setAside: after, content: '' } : null;
}

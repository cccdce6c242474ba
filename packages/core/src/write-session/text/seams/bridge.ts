import type { Anchor } from './anchor.ts';
import type { ContentSummary } from '../content-summary.ts';
import { convertLineEndings, createConverter, endConversion } from '../line-ending-converter.ts';
import { trimLine } from '../lines.ts';
import { isMarkerLine } from './seam-preamble.ts';
import { createSeamReader, endSeam, MAX_HELD, readSeam } from './seam-reader.ts';
import type { SeamReader, SeamVerdict, VerifiedSeam } from './seam-reader.ts';
import type { TargetKind } from '../target-kind.ts';

/**
 * Reads a bridge: the reply that joins the saved content to part 2, an earlier reply that did not begin with the anchor
 * (R047, §1.4a rule 9, P8).
 *
 * Invariants
 * J1  A bridge is read as any continuation, and must contain the whole anchor.
 * J2  The head lines of part 2 must occur exactly once, at the start of a line and within `MAX_BRIDGE_LINES`; the text
 *     before them is the bridge, the text after them is dropped, since part 2 contains it.
 * J3  In doubt the bridge fails, and the session pauses.
 */
export type BridgeReader = {
  readonly seam: SeamReader;
  readonly headLines: readonly string[];
  readonly endMarker: string;
  readonly endsInOpenLine: boolean;
  readonly endsInCarriageReturn: boolean;
  /** Set when the seam is verified; `rest` grows with the reply. */
  readonly joined: VerifiedSeam | null;
  readonly failed: string | null;
};

export type BridgeVerdict =
  /** `content` belongs between the saved content and the whole of part 2. */
  | { readonly kind: 'joined'; readonly content: string; readonly linesDropped: number }
  | { readonly kind: 'failed'; readonly reason: string };

export const MAX_BRIDGE_LINES = 60;

export function createBridgeReader(options: {
  readonly summary: ContentSummary;
  readonly anchor: Anchor;
  readonly headLines: readonly string[];
  /** If left out, fences are treated as in Markdown. */
  readonly kind?: TargetKind;
  /** If left out, echoed tags are not recognised. */
  readonly endMarker?: string;
}): BridgeReader {
  const { summary, anchor, kind = 'markdown', endMarker = 'DONE' } = options;
  const seam = createSeamReader({ summary, anchor, kind, endMarker, readToEnd: false });
  const { end } = seam.context.ground;
  return {
    seam,
    headLines: options.headLines.map(trimLine),
    endMarker,
    endsInOpenLine: end.openLine !== '',
    endsInCarriageReturn: end.endsInCarriageReturn,
    joined: null,
    failed: options.headLines.length === 0 ? 'no_head_lines' : null,
  };
}

export function readBridge(reader: BridgeReader, text: string): BridgeReader {
  if (reader.failed !== null) return reader;
  if (reader.joined !== null) {
    const rest = reader.joined.rest + text;
    if (rest.length > MAX_HELD) return { ...reader, joined: null, failed: 'bridge_too_long' };
    return { ...reader, joined: { ...reader.joined, rest } };
  }
  const { reader: seam, verdict } = readSeam(reader.seam, text);
  const next = { ...reader, seam };
  return verdict === null ? next : withVerdict(next, verdict);
}

export function endBridge(reader: BridgeReader): BridgeVerdict {
  const whole =
    reader.joined === null && reader.failed === null
      ? withVerdict(reader, endSeam(reader.seam))
      : reader;
  if (whole.joined === null) return { kind: 'failed', reason: whole.failed ?? 'no_alignment' };
  const { rest, linesDropped, conversion } = whole.joined;
  const found = findHead(whole, rest);
  if (found.kind === 'failed') return found;
  const bridge = rest.slice(0, found.start);
  const { state, text } = convertLineEndings(
    createConverter(conversion, reader.endsInCarriageReturn),
    bridge,
  );
  return { kind: 'joined', content: text + endConversion(state), linesDropped };
}

function withVerdict(reader: BridgeReader, verdict: SeamVerdict): BridgeReader {
  if (verdict.kind !== 'verified')
    return { ...reader, failed: verdict.kind === 'hopeless' ? verdict.reason : 'no_bridge' };
  if (verdict.via === 'tail') return { ...reader, failed: 'anchor_not_whole' };
  return { ...reader, joined: verdict };
}

type Head =
  | { readonly kind: 'found'; readonly start: number }
  | { readonly kind: 'failed'; readonly reason: string };

function findHead(reader: BridgeReader, rest: string): Head {
  const rows = rest.split('\n');
  const lines = rows.map(trimLine);
  const markers = lines.findIndex(
    (line, index) => (index > 0 || !reader.endsInOpenLine) && isMarkerLine(line, reader.endMarker),
  );
  const end = markers === -1 ? lines.length : markers;
  const starts: number[] = [];
  for (let start = reader.endsInOpenLine ? 1 : 0; start < end; start += 1) {
    if (reader.headLines.every((line, index) => lines[start + index] === line)) starts.push(start);
  }
  const [first] = starts;
  if (first === undefined) return { kind: 'failed', reason: 'head_not_reached' };
  if (starts.length > 1) return { kind: 'failed', reason: 'head_repeated' };
  if (first > MAX_BRIDGE_LINES) return { kind: 'failed', reason: 'bridge_too_long' };
  const start = rows.slice(0, first).reduce((length, row) => length + row.length + 1, 0);
  return { kind: 'found', start };
}

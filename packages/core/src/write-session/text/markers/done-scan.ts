/**
 * Finds the bare DONE lines in text that is already content. A recovery scans the content file with it, since the facts
 * about its messages were lost with the process that read them.
 *
 * Invariants
 * S1  The result depends on the text alone, not on how it was divided.
 * S2  Nothing is held at the end: the file does not contain the marker that ended it (R026), so each DONE is content.
 */
import { releaseGroup, withLine } from './held-group.ts';
import type { InnerDone } from './inner-done.ts';
import { createMarkerReader, readMarkers } from './marker-reader.ts';
import type { MarkerReader } from './marker-reader.ts';
import { createOutput } from './released-content.ts';
import { kindOfLine } from './undecided-line.ts';

export type DoneScan = MarkerReader;

export function createDoneScan(): DoneScan {
  return createMarkerReader({
    // No line matches an empty marker, so that no line ends the content.
    endMarker: '',
    strict: false,
    doneMode: 'terminal',
    atLineStart: true,
    openLine: '',
    dropBlankLines: false,
    followsText: false,
    contentBytes: 0,
    contentLines: 0,
    wrappingFence: null,
  });
}

export function scanForDone(scan: DoneScan, text: string): DoneScan {
  return readMarkers(scan, text).reader;
}

export function endDoneScan(scan: DoneScan): InnerDone {
  const { options, partial } = scan;
  const out = createOutput(scan.released);
  const line = partial.core + partial.blanks;
  const kind = kindOfLine(options, partial, scan.group, true);
  releaseGroup(out, line === '' ? scan.group : withLine(options, out, scan.group, kind, line));
  const { innerDoneLines, lastChatInner } = out.finish();
  return { lines: innerDoneLines, chatEnds: lastChatInner };
}

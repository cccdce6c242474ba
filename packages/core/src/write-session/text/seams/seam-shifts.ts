import type { Anchor } from './anchor.ts';
import type { ContentEnd } from '../content-end.ts';

/**
 * For a repetitive anchor of characters (§1.4a rule 5): each text with which the content goes on, up to its end,
 * behind an earlier occurrence of the anchor. A reply that goes on with one of them fits the content there too.
 */
export function repeatedShifts(end: ContentEnd, anchor: Anchor): readonly string[] {
  if (anchor.kind !== 'characters' || !anchor.repetitive) return [];
  const text = end.text.replaceAll('\r\n', '\n');
  const anchorText = anchor.text.replaceAll('\r\n', '\n');
  const shifts: string[] = [];
  let from = text.length - anchorText.length - 1;
  while (from >= 0 && shifts.length < MAX_SHIFTS) {
    const found = text.lastIndexOf(anchorText, from);
    if (found === -1) break;
    shifts.push(text.slice(found + anchorText.length));
    from = found - 1;
  }
  return shifts;
}

/** The shortest ones are the ones that a reply meets. */
const MAX_SHIFTS = 256;

import type { Anchor } from './anchor.ts';
import type { ContentEnd } from '../content-end.ts';

/**
 * For a repetitive anchor of characters (§1.4a rule 5): the texts between each earlier occurrence of the anchor and the
 * end of the content. A reply that continues with one of them also fits the content at that occurrence.
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

/** A reply can only match the shortest ones. */
const MAX_SHIFTS = 256;

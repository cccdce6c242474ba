import { createHash } from 'node:crypto';
import type { JsonValue, KeptArgument, Message } from '@orion/contracts';
import { keptNote } from './refusals.ts';

/** Identifies a text of an action, wherever it was kept. */
export function textDigest(text: string): string {
  return createHash('sha256').update(text, 'utf16le').digest('base64');
}

/** The kept texts that `carriedOut` contains, and those that an action was carried out without. */
export function splitKept(
  kept: readonly KeptArgument[] = [],
  carriedOut: JsonValue,
): { readonly used: readonly KeptArgument[]; readonly left: readonly KeptArgument[] } {
  if (kept.length === 0) return { used: [], left: [] };
  const digests = new Set([...textsIn(carriedOut)].map(textDigest));
  const isUsed = ({ digest }: KeptArgument): boolean => digest === undefined || digests.has(digest);
  return { used: kept.filter(isUsed), left: kept.filter((text) => !isUsed(text)) };
}

/** Tells the model of texts that its last action was carried out without (R258). */
export function leftOutMessages(left: readonly KeptArgument[]): readonly Message[] {
  if (left.length === 0) return [];
  const sentences = ['Your last action was carried out without a text in it.', ...keptNote(left)];
  return [{ role: 'system', content: sentences.join(' ') }];
}

function* textsIn(value: JsonValue | undefined): Generator<string> {
  if (typeof value === 'string') yield value;
  if (typeof value !== 'object' || value === null) return;
  for (const inner of Object.values(value)) yield* textsIn(inner);
}

import { emptyPrefixHash, extendPrefixHash } from '../content-summary.ts';
import type { PrefixHash } from '../content-summary.ts';

/** The hash of a whole run of lines. */
export function hashLines(lines: Iterable<string>): PrefixHash {
  let hash = emptyPrefixHash;
  for (const line of lines) hash = extendPrefixHash(hash, line);
  return hash;
}

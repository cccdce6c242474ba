import { mebibytes, seconds } from './judge.ts';
import type { Verdict } from './campaign.ts';

/** One line for an attack: what it is, what it cost, and what went wrong. */
export function formatVerdict({ attack, skipped, wrong, milliseconds, memory }: Verdict): string {
  const result = skipped !== null ? 'skip' : wrong.length === 0 ? 'held' : 'FAIL';
  const cost =
    skipped !== null
      ? ''
      : `${seconds(milliseconds).padStart(7)} ${(memory === null ? '?' : mebibytes(Math.max(0, memory))).padStart(7)}`;
  const why = skipped ?? wrong.join('; ');
  return `${result}  ${attack.kind.padEnd(10)} ${attack.name.padEnd(62)} ${cost}${why === '' ? '' : `  ${why}`}`.trimEnd();
}

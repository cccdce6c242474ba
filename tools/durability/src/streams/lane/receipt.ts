import { createHash } from 'node:crypto';

import type { WriteReceipt } from '@orion/contracts';

export type CheckedReceipt = { readonly seams: number; readonly failures: readonly string[] };

/** Whether the last line of a command describes the right file, and leaves nothing unproven. */
export function checkReceipt(stdout: string, expected: Buffer): CheckedReceipt {
  const receipt = readReceipt(stdout);
  if (receipt === undefined) return { seams: 0, failures: ['the command gave no receipt'] };
  const failures: string[] = [];
  const hash = createHash('sha256').update(expected).digest('hex');
  if (receipt.sha256 !== hash) failures.push('the receipt has another hash than the document');
  // The scripted model always repeats what is asked for, so that every seam can be proven.
  for (const seam of receipt.seams) {
    if (seam.status !== 'verified') {
      failures.push(`the seam at line ${seam.line} (${seam.via}) is ${seam.status}`);
    }
  }
  return { seams: receipt.seams.length, failures };
}

function readReceipt(stdout: string): WriteReceipt | undefined {
  const last = stdout.trimEnd().split('\n').at(-1) ?? '';
  try {
    const result = JSON.parse(last) as { readonly receipts?: readonly WriteReceipt[] };
    return result.receipts?.[0];
  } catch {
    return undefined;
  }
}

import type { SessionHandle, TextRepair, WritePlan } from '@orion/contracts';

import { repairedText } from '../validation/repaired-text.ts';
import type { PlanPorts } from './execute.ts';
import { sessionChange } from './session-change.ts';

/** The part of the saved text that is the file, and how it is repaired; a null `end` means up to the end. */
export type DiffedText = {
  readonly start: number;
  readonly end: number | null;
  readonly repair: TextRepair | null;
};

/**
 * The change that the saved text of a session would make of the file as it is now, whatever it was when the session
 * began. Text that is not valid is shown as it would be replaced.
 */
export async function sessionDiff(
  handle: Pick<SessionHandle, 'metadata' | 'readContent'>,
  { start, end, repair }: DiffedText,
  ports: PlanPorts & { readonly eol: WritePlan['eol'] },
): Promise<AsyncIterable<string>> {
  const { metadata } = handle;
  const expected = await ports.workspace
    .checkTarget(metadata.target_file, 'overwrite')
    // What was allowed when the session began may need to be allowed again: for a look it need not.
    .catch(() => metadata.target);
  const operation =
    metadata.operation === 'create' && expected.exists ? 'overwrite' : metadata.operation;
  const shown = { found: 0, rounds: [], ...repair, replace: true };
  const source = repairedText(() => handle.readContent(start, end ?? undefined), shown);
  const text = { metadata, operation, expected, source, eol: ports.eol };
  const { proposal } = await sessionChange(text, true, ports);
  if (proposal === null) throw new Error('a reviewed change has a proposal');
  return proposal('').diff();
}

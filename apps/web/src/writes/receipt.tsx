import type { WriteReceipt } from '@orion/contracts';
import type { ReactNode } from 'react';

import { ChangeActions } from '../changes/change-actions.tsx';
import { changeName } from '../changes/change-name.ts';
import { counted, formatBytes } from '../ui/format.ts';
import { Name } from '../ui/name.tsx';

/** The evidence that a file was written, and everything that is not as one would think. */
export function Receipt({ receipt }: { readonly receipt: WriteReceipt }): ReactNode {
  const changeId = receipt.backup_id ?? receipt.session_id;
  const { validation_summary: checked, seams, not_kept: notKept, warnings } = receipt;
  const remarks = [
    ...seams.map(
      ({ line, status, via, lines_dropped: dropped }) =>
        `Joined at line ${line}: ${status} by ${via}, ${counted(dropped, 'repeated line')} left out.`,
    ),
    ...(checked.replaced > 0
      ? [`${counted(checked.replaced, 'invalid place')} became U+FFFD.`]
      : []),
    ...(checked.hidden_characters === undefined
      ? []
      : [`It has ${counted(checked.hidden_characters, 'invisible character')}.`]),
    ...(checked.omission_suspected === undefined
      ? []
      : [`These lines look like placeholders: ${checked.omission_suspected.join(', ')}.`]),
    ...(receipt.fence_stripped ? ['A code fence around the text was left out.'] : []),
    ...(receipt.trailing === undefined
      ? []
      : [`Text that does not belong to the file is in ${receipt.trailing}.`]),
    ...notKept.map((property) => `Not kept: ${property}.`),
    ...warnings,
  ];
  return (
    <section
      className="receipt"
      aria-label={`Receipt of ${changeName(receipt.target_file, changeId, formatBytes(receipt.bytes))}`}
    >
      <p>
        <strong>Written</strong>: <Name>{receipt.target_file}</Name>,{' '}
        {counted(receipt.lines, 'line')}, {formatBytes(receipt.bytes)}
        {receipt.persistence === 'memory' && ', without a copy on the disk while it was written'}
      </p>
      <p className="faint">
        SHA-256 <code className="hash">{receipt.sha256}</code>
      </p>
      {remarks.length > 0 && (
        <ul>
          {remarks.map((remark, index) => (
            <li key={index}>
              <bdi>{remark}</bdi>
            </li>
          ))}
        </ul>
      )}
      {receipt.backup_id !== undefined && (
        <ChangeActions changeId={receipt.backup_id} what={receipt.target_file} status="in_effect" />
      )}
    </section>
  );
}

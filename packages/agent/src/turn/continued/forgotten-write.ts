import { OrionError, TextTally } from '@orion/contracts';
import type { Workspace, WriteReceipt } from '@orion/contracts';

/**
 * The receipt of a file that a session wrote before it went, when the store has forgotten that: after a failover to a
 * standby that was behind, the turn stands where its file was still being written. The undo history knows the change by
 * the id of its session, and the file says the rest. Null if there is no such change, or the file has changed since.
 */
export async function forgottenWrite(
  workspace: Pick<Workspace, 'findChangedFile' | 'checkTarget' | 'readTarget'>,
  sessionId: string,
): Promise<WriteReceipt | null> {
  const file = await workspace.findChangedFile(sessionId);
  if (file === null || file.operation === 'undo') return null;
  const { target_file, operation, before, after, backup_id } = file;
  const target = await workspace.checkTarget(target_file, 'overwrite').catch((error: unknown) => {
    if (OrionError.isInstance(error) && !error.retryable) return null;
    throw error;
  });
  if (target === null || after === null || target.sha256 !== after.sha256) return null;
  const added = new TextTally();
  let skip = operation === 'append' ? (before?.bytes ?? 0) : 0;
  for await (const chunk of workspace.readTarget(target)) {
    added.add(chunk.subarray(skip));
    skip = Math.max(0, skip - chunk.length);
  }
  const { bytes } = added;
  return {
    session_id: sessionId,
    target_file,
    operation,
    bytes,
    lines: added.lines(),
    sha256: after.sha256,
    eol: target.eol,
    bom: target.bom,
    mode: target.mode.toString(8).padStart(4, '0'),
    persistence: 'disk',
    fence_stripped: false,
    inner_done_lines: [],
    seams: [],
    validation_summary: {
      attempts: 0,
      invalid_found: 0,
      corrected: 0,
      replaced: 0,
      used_safe_replacement: false,
      original_length: bytes,
      final_length: bytes,
    },
    backup_id,
    warnings: ['committed_before_the_interruption', 'receipt_from_the_file'],
    not_kept: [],
  };
}

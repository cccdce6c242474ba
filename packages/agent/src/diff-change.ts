import { OrionError } from '@orion/contracts';
import type { FileVersion, RecordedFile, Workspace } from '@orion/contracts';
import { diffVersions } from '@orion/core';

import type { ChangedFileDiff } from './orion.ts';

/**
 * What a change did to each of its files: a file that it touched several times once for each time. The id of a backup,
 * which a receipt has, names one of these files.
 */
export async function diffChange(
  workspace: Pick<Workspace, 'changes' | 'readVersion'>,
  id: string,
): Promise<readonly ChangedFileDiff[]> {
  const files = await filesOf(workspace, id);
  if (files.length === 0) {
    const message = `There is no change ${JSON.stringify(id)}.`;
    throw new OrionError({ code: 'CHANGE_NOT_FOUND', message });
  }
  const diffs: ChangedFileDiff[] = [];
  // Listed newest first.
  for (const file of files.toReversed()) {
    const { target_file } = file;
    const before = await versionOf(workspace, file, 'before');
    const after = await versionOf(workspace, file, 'after');
    const isKnown = before !== undefined && after !== undefined;
    diffs.push({ target_file, diff: isKnown ? diffVersions(target_file, before, after) : null });
  }
  return diffs;
}

async function filesOf(
  workspace: Pick<Workspace, 'changes'>,
  id: string,
): Promise<readonly RecordedFile[]> {
  for await (const { change_id, files } of workspace.changes()) {
    if (change_id === id) return files;
    const named = files.filter(({ backup_id }) => backup_id === id);
    if (named.length > 0) return named;
  }
  return [];
}

/** Null if there was no file; undefined if its bytes are gone. */
async function versionOf(
  workspace: Pick<Workspace, 'readVersion'>,
  file: RecordedFile,
  side: 'before' | 'after',
): Promise<FileVersion | null | undefined> {
  const state = file[side];
  if (state === null) return null;
  return (await workspace.readVersion(file.target_file, state.sha256)) ?? undefined;
}

/** Takes over the text files of a dead process. */
import { readdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { syncDirectory } from '../disk/directories.ts';
import { readRegularFile, removeIfThere, scanRange } from '../disk/files.ts';
import type { ProcessObserver } from '../ownership/process-identity.ts';
import { chooseText, findTexts } from './inspect-session.ts';
import type { Inspection } from './inspect-session.ts';
import { withoutHeader } from './session-texts.ts';
import { recoverContent } from './recover-content.ts';
import type { RecoveredContent } from './recover-content.ts';
import { numberedName, textNumber } from './session-files.ts';
import type { DiskSessionHandle } from './session-handle.ts';
import type { TextSpool } from './text-spool.ts';

/** Hands the text files of a claimed session to its handle. Returns notes for the person. */
export async function adoptTexts(
  observer: ProcessObserver,
  inspection: Inspection,
  handle: DiskSessionHandle,
): Promise<string[]> {
  const directory = handle.directory;
  const notes: string[] = [];
  const content = await recoverContentOf(observer, inspection, directory);
  if (content === null) {
    notes.push('There was no content file; the text is empty.');
    await handle.texts.content.sync();
  } else {
    notes.push(...content.notes);
    handle.texts.content.adopt(content);
  }
  const leftOver = await adoptTrailing(handle, directory);
  const undecided = await setPendingAside(handle, directory);
  if (undecided.bytes > 0) {
    const file = basename(handle.texts.trailing.path() ?? 'trailing.txt');
    notes.push(`${undecided.bytes} bytes of undecided text were set aside in ${file}.`);
  }
  await syncDirectory(directory);
  await handle.texts.content.confirmFile();
  const old = inspection.content?.name;
  if (content !== null && old !== undefined && content.path !== join(directory, old)) {
    await removeIfThere(join(directory, old));
  }
  for (const path of [...leftOver, ...undecided.files]) await removeIfThere(path);
  return notes;
}

async function recoverContentOf(
  observer: ProcessObserver,
  inspection: Inspection,
  directory: string,
): Promise<RecoveredContent | null> {
  const { content, metadata, state, owner, verdict } = inspection;
  if (content === null) return null;
  const here = (await observer.identity()).startedAt;
  const there = owner.kind === 'owned' ? owner.owner.process_started_at : '';
  const copyTo =
    verdict === 'presumed_dead'
      ? join(directory, numberedName('content', content.number + 1))
      : null;
  if (copyTo !== null) await removeIfThere(copyTo);
  return recoverContent({
    path: join(directory, content.name),
    isText: metadata?.uploaded !== true,
    durableBytes: state?.contentFile === content.name ? state.bufferSize : 0,
    afterRestart: bootOf(here) !== bootOf(there),
    copyTo,
  });
}

export async function appendFile(
  spool: Pick<TextSpool, 'appendBytes'>,
  path: string,
): Promise<void> {
  await readRegularFile(path, async (file) => {
    for await (const chunk of scanRange(file, 0)) spool.appendBytes(chunk);
  });
}

/**
 * Continues the file with the text that was set aside. It is a person's text, so nothing is cut off. Returns the files
 * that it replaces.
 */
async function adoptTrailing(
  handle: DiskSessionHandle,
  directory: string,
): Promise<readonly string[]> {
  const files = (await findTexts(directory, 'trailing')) ?? [];
  const chosen = chooseText(files, undefined);
  if (chosen === null) return [];
  const found = await recoverContent({
    path: join(directory, chosen.name),
    isText: true,
    durableBytes: chosen.size,
    afterRestart: false,
    copyTo: null,
  });
  handle.texts.trailing.adopt(found);
  return files.filter((file) => file !== chosen).map(({ name }) => join(directory, name));
}

/** Undecided text is never content. It is appended to the trailing text, and its files can go once that is durable. */
async function setPendingAside(
  handle: DiskSessionHandle,
  directory: string,
): Promise<{ readonly bytes: number; readonly files: readonly string[] }> {
  const names = (await readdir(directory)).filter((name) => textNumber('pending', name) !== null);
  let bytes = 0;
  const files: string[] = [];
  for (const name of names.toSorted()) {
    const found = await readRegularFile(join(directory, name), async (file) => {
      for await (const chunk of withoutHeader(scanRange(file, 0))) {
        handle.texts.trailing.appendBytes(chunk);
        bytes += chunk.length;
      }
      return true;
    });
    if (found !== null) files.push(join(directory, name));
  }
  if (bytes > 0) await handle.texts.trailing.sync();
  return { bytes, files };
}

function bootOf(startedAt: string): string {
  return startedAt.split(':')[0] ?? '';
}

/** What must hold of a turn that is over, whatever happened to the servers that ran it. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

import { leftovers, readIfThere, sessionIds } from '../streams/stage/workspace-files.ts';
import type { ReadEvent } from './reader.ts';
import type { Story } from './stories.ts';

/** @returns what is wrong with the numbers of these events of one turn, and with its end */
export function judgeOrder(events: readonly ReadEvent[]): string[] {
  const failures = misnumbered(events);
  const ends = events.filter(({ type }) => type === 'done');
  if (ends.length !== 1 || events.at(-1) !== ends[0])
    failures.push(`there are ${ends.length} events \`done\`, the last event is one of them or not`);
  return failures;
}

/** @returns what is wrong with these events of one turn, read from the first to the last */
export function judgeEvents(story: Story, events: readonly ReadEvent[]): readonly string[] {
  const failures = judgeOrder(events);
  const end = events.find(({ type }) => type === 'done');
  if (end?.data['status'] !== 'complete')
    failures.push(`the turn ended as ${JSON.stringify(end?.data)}`);
  if (end?.data['fullContent'] !== story.says)
    failures.push(`the model said ${JSON.stringify(end?.data['fullContent'])}`);
  const said = validText(events);
  if (said !== story.says) failures.push(`a reader has ${JSON.stringify(said)}`);
  const targets = Object.keys(story.after).filter(
    (path) => story.before[path] !== story.after[path],
  );
  for (const target of targets) {
    const receipts = events.filter(
      ({ type, data }) =>
        type === 'write_session' && data['targetFile'] === target && data['receipt'] !== undefined,
    );
    if (receipts.length !== 1) failures.push(`${target} has ${receipts.length} receipts`);
  }
  return failures;
}

/** What the model has said, as a reader keeps it: a rewind makes the text behind a number void. */
function validText(events: readonly ReadEvent[]): string {
  let parts: { readonly seq: number; readonly text: string }[] = [];
  for (const { type, data } of events) {
    if (type === 'chunk' && data['source'] === 'model')
      parts.push({ seq: Number(data['seq']), text: String(data['content']) });
    if (type === 'rewind') parts = parts.filter(({ seq }) => seq <= Number(data['toSeq']));
  }
  return parts.map(({ text }) => text).join('');
}

/** @returns what is wrong with these events of a turn that was cancelled */
export function judgeCancelled(events: readonly ReadEvent[]): readonly string[] {
  const failures = misnumbered(events);
  const ends = events.filter(({ type }) => type === 'done');
  if (ends.length !== 1) failures.push(`there are ${ends.length} events \`done\``);
  const { status } = ends[0]?.data ?? {};
  // A turn may have been over already, and a session that was open is paused.
  if (!['aborted', 'complete', 'paused', 'stopped'].includes(String(status)))
    failures.push(`the turn ended as ${String(status)}`);
  return failures;
}

function misnumbered(events: readonly ReadEvent[]): string[] {
  return events.flatMap(({ id, data }, index) => {
    const [seq] = id.split('.');
    if (Number(seq) === index + 1 && data['seq'] === index + 1) return [];
    return [`event ${index + 1} has the id ${id} and the number ${String(data['seq'])}`];
  });
}

/** @returns what is wrong with the files, once no server runs; a cancelled turn may leave them as they were */
export async function judgeFiles(
  story: Story,
  workspace: string,
  isCancelled: boolean,
): Promise<readonly string[]> {
  const failures: string[] = [];
  for (const [path, wanted] of Object.entries(story.after)) {
    const found = await readIfThere(join(workspace, path));
    const text = found === undefined ? undefined : String(found);
    if (text === wanted || (isCancelled && text === story.before[path])) continue;
    failures.push(`${path} has ${found?.length ?? 'no'} bytes, not ${Buffer.byteLength(wanted)}`);
  }
  const sessions = await sessionIds(workspace);
  if (sessions.length > (isCancelled ? 1 : 0))
    failures.push(`${sessions.length} write sessions are left`);
  const { countsRuns } = story;
  if (countsRuns !== undefined) {
    const runs = await readFile(join(workspace, countsRuns), 'utf8').catch(() => '');
    if (runs.length > 1) failures.push(`the command ran ${runs.length} times`);
  }
  const kept = new Set([
    ...Object.keys(story.after),
    countsRuns,
    '.orion/server/token',
    '.orion/orion.db-lock',
  ]);
  if (isCancelled) return failures;
  const left = (await leftovers(workspace, '')).filter((path) => !kept.has(path));
  if (left.length > 0) failures.push(`files are left: ${left.join(', ')}`);
  return failures;
}

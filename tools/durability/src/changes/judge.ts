/**
 * What must hold after a change failed or its process was killed:
 *
 * F1. the fault has reached the code: it is counted where it strikes;
 * F2. every file has its old or its new bytes, the new ones if success was reported, and any other report is an
 *     `OrionError`;
 * F3. the next start leaves nothing behind, and every record of a change is of one that is there;
 * F4. a session's text is its beginning or all of it, and no session is damaged;
 * F5. the same attempt without the fault succeeds;
 * F6. the files of a plan are all old or all new after the next start.
 */
import type { OrionError } from '@orion/contracts';

import type { Files, Place } from './place.ts';
import type { Scenario } from './scenarios.ts';

export async function playEarlier(place: Place, scenario: Scenario): Promise<void> {
  if (scenario.earlier === undefined) return;
  const workspace = await place.reopen();
  await scenario.earlier(workspace);
  await workspace.close();
}

/** F2. A killed process has reported nothing. */
export function checkFiles(
  place: Place,
  { from, to }: Scenario,
  reported: OrionError | 'killed' | null,
  failures: string[],
): void {
  const found = place.filesAt(Object.keys(from));
  for (const [path, text] of Object.entries(found)) {
    const isNew = text === to[path];
    const isOld = text === from[path];
    if (!isNew && !isOld) failures.push(`${path} is neither old nor new: ${JSON.stringify(text)}`);
    if (reported === null && !isNew) failures.push(`${path} is old, but success was reported`);
  }
}

/** F3, F4, F5. */
export async function checkNextStart(
  place: Place,
  scenario: Scenario,
  reported: OrionError | 'killed' | null,
  failures: string[],
): Promise<void> {
  const { from, to, text } = scenario;
  const workspace = await place.reopen();
  try {
    await workspace.sessions.housekeep();
    const beside = place.leftovers().filter((name) => !name.startsWith('.orion/'));
    if (beside.length > 0) failures.push(`left beside the files: ${beside.join(', ')}`);
    place.age();
    await workspace.sessions.housekeep();
    checkTogether(place, scenario, failures);
    const left = place.leftovers();
    const sessions = await workspace.sessions.list();
    // The lock of a session that can be recovered waits for it.
    const isWaiting = (name: string): boolean =>
      sessions.some((session) => name.includes(session.session_id)) || name.includes('/locks/');
    const strays = sessions.length === 0 ? left : left.filter((name) => !isWaiting(name));
    if (strays.length > 0) failures.push(`left behind: ${strays.join(', ')}`);
    await checkRecords(place, workspace, Object.keys(from), failures);
    for (const session of sessions) {
      if (session.status !== 'orphan') failures.push(`a session is ${session.status}`);
      let saved = '';
      for await (const chunk of workspace.sessions.readContent(session.session_id)) {
        saved += Buffer.from(chunk).toString();
      }
      if (!(text ?? '').startsWith(saved)) failures.push(`the session holds ${saved}`);
    }
    // Also after success: a session whose directory could not be removed is finished by the next start.
    if (reported !== null || sessions.length > 0) await retry(place, workspace, scenario, failures);
    const now = place.filesAt(Object.keys(to));
    if (!sameFiles(now, to)) failures.push(`after the retry: ${JSON.stringify(now)}`);
    place.age();
    await workspace.sessions.housekeep();
    const leftAtLast = place.leftovers();
    if (leftAtLast.length > 0) failures.push(`left behind at last: ${leftAtLast.join(', ')}`);
    if ((await workspace.sessions.list()).length > 0) failures.push('a session is left at last');
  } catch (error) {
    failures.push(`next start: ${error instanceof Error ? error.stack : String(error)}`);
  } finally {
    await workspace.close();
  }
}

/** F6. */
function checkTogether(place: Place, { from, to, together }: Scenario, failures: string[]): void {
  if (together !== true) return;
  const found = place.filesAt(Object.keys(to));
  if (sameFiles(found, from) || sameFiles(found, to)) return;
  failures.push(`the plan is done by half: ${JSON.stringify(found)}`);
}

async function retry(
  place: Place,
  workspace: Awaited<ReturnType<Place['reopen']>>,
  scenario: Scenario,
  failures: string[],
): Promise<void> {
  // A change that was made but not confirmed is not made twice.
  if (sameFiles(place.filesAt(Object.keys(scenario.to)), scenario.to)) {
    if (scenario.text === undefined) return;
  }
  try {
    await scenario.run(workspace);
  } catch (error) {
    failures.push(`retry: ${error instanceof Error ? error.stack : String(error)}`);
  }
}

/** Every record that says that its change is in effect names the bytes that are there. */
async function checkRecords(
  place: Place,
  workspace: Awaited<ReturnType<Place['reopen']>>,
  paths: readonly string[],
  failures: string[],
): Promise<void> {
  const seen = new Set<string>();
  for (const change of await Array.fromAsync(workspace.changes())) {
    for (const file of change.files) {
      if (seen.has(file.target_file)) continue;
      seen.add(file.target_file);
      const { sha256 } = await workspace.checkTarget(file.target_file, 'overwrite');
      if (sha256 !== (file.after?.sha256 ?? null)) {
        failures.push(`the latest record of ${file.target_file} is of a change that is not there`);
      }
    }
  }
  if (seen.size > paths.length) failures.push(`records of ${[...seen].join(', ')}`);
}

function sameFiles(one: Files, other: Files): boolean {
  return Object.keys(other).every((path) => one[path] === other[path]);
}

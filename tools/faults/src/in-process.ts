/**
 * Lets every call of every scenario fail once, with every error, in this process.
 *
 * After each failure
 * F1. the fault has reached the code: it is counted where it strikes;
 * F2. every file has its old or its new bytes, the new ones if success was told, and whatever was told else is an
 *     `OrionError`;
 * F3. the next start leaves nothing behind, and every record of a change is of one that is there;
 * F4. a session's text is its beginning or all of it, and no session is damaged;
 * F5. the same attempt without the fault succeeds;
 * F6. the files of a plan are all old or all new after the next start.
 */
import { OrionError } from '@orion/contracts';
import { CHANGING_CALLS } from '@orion/testkit/disk-faults';
import type {
  DiskCall,
  DiskErrorCode,
  DiskFault,
  DiskInterception,
} from '@orion/testkit/disk-faults';

import { makePlace } from './place.ts';
import type { Files, Place } from './place.ts';
import type { Scenario } from './scenarios.ts';

export type FaultPlan = {
  readonly scenario: Scenario;
  /** The call of the scenario that fails, counted from 0. */
  readonly at: number;
  readonly fault: DiskFault;
  /** All later calls fail, too. */
  readonly lasting: boolean;
};

export type FaultOutcome = {
  readonly plan: FaultPlan;
  /** The call that the fault struck; null: it reached nothing. */
  readonly struck: DiskCall | null;
  readonly told: 'success' | 'error';
  readonly failures: readonly string[];
};

export const ALL_CODES: readonly DiskErrorCode[] = [
  'ENOSPC',
  'EIO',
  'EDQUOT',
  'EMFILE',
  'EROFS',
  'EPERM',
  'EXDEV',
];

/** Every call that a scenario makes, and the faults that it can meet. */
export async function planFaults(
  disk: DiskInterception,
  scenario: Scenario,
  codes: readonly DiskErrorCode[],
): Promise<readonly FaultPlan[]> {
  const calls = await recordCalls(disk, scenario);
  return calls.flatMap((call, at) => {
    const faults: readonly DiskFault[] = CHANGING_CALLS.has(call.name)
      ? codes.map((code) => ({ kind: 'error', code }))
      : [{ kind: 'error', code: 'EIO' }];
    const short: readonly DiskFault[] = call.name === 'write' ? [{ kind: 'short', bytes: 1 }] : [];
    return [
      ...[...faults, ...short].map((fault) => ({ scenario, at, fault, lasting: false })),
      { scenario, at, fault: { kind: 'error', code: 'EIO' } as const, lasting: true },
    ];
  });
}

export async function recordCalls(
  disk: DiskInterception,
  scenario: Scenario,
): Promise<readonly DiskCall[]> {
  const place = makePlace(scenario.initial);
  const calls: DiskCall[] = [];
  try {
    await playEarlier(place, scenario);
    const workspace = await place.open();
    disk.use((call) => {
      if (isOf(place, call)) calls.push(call);
      return null;
    });
    await scenario.run(workspace);
    disk.use(null);
    await workspace.close();
    return calls;
  } finally {
    disk.use(null);
    place.remove();
  }
}

export async function runFault(disk: DiskInterception, plan: FaultPlan): Promise<FaultOutcome> {
  const { scenario } = plan;
  const place = makePlace(scenario.initial);
  const failures: string[] = [];
  try {
    await playEarlier(place, scenario);
    const workspace = await place.open();
    const struck: DiskCall[] = [];
    let count = 0;
    disk.use((call) => {
      if (!isOf(place, call)) return null;
      const strikes = plan.lasting ? count >= plan.at : count === plan.at;
      count += 1;
      if (strikes) struck.push(call);
      return strikes ? plan.fault : null;
    });
    const told = await attempt(workspace, scenario, failures);
    await workspace.close().catch((error: unknown) => failures.push(`close: ${String(error)}`));
    disk.use(null);
    if (struck.length === 0) failures.push('the fault reached nothing');
    checkFiles(place, scenario, told, failures);
    await checkNextStart(place, scenario, told, failures);
    return { plan, struck: struck[0] ?? null, told: told === null ? 'success' : 'error', failures };
  } finally {
    disk.use(null);
    place.remove();
  }
}

/** Calls on anything else, such as the programs that Node itself looks for, are not the scenario's. */
function isOf(place: Place, call: DiskCall): boolean {
  return call.path.startsWith(place.root);
}

export async function playEarlier(place: Place, scenario: Scenario): Promise<void> {
  if (scenario.earlier === undefined) return;
  const workspace = await place.reopen();
  await scenario.earlier(workspace);
  await workspace.close();
}

/** Null: success was told. */
async function attempt(
  workspace: Awaited<ReturnType<Place['open']>>,
  scenario: Scenario,
  failures: string[],
): Promise<OrionError | null> {
  try {
    await scenario.run(workspace);
    return null;
  } catch (error) {
    if (OrionError.isInstance(error)) return error;
    failures.push(`it failed with ${error instanceof Error ? error.stack : String(error)}`);
    return new OrionError({ code: 'INTERNAL_ERROR', message: String(error) });
  }
}

/** F2. Whoever was killed told nothing. */
export function checkFiles(
  place: Place,
  { from, to }: Scenario,
  told: OrionError | 'killed' | null,
  failures: string[],
): void {
  const found = place.filesAt(Object.keys(from));
  for (const [path, text] of Object.entries(found)) {
    const isNew = text === to[path];
    const isOld = text === from[path];
    if (!isNew && !isOld) failures.push(`${path} is neither old nor new: ${JSON.stringify(text)}`);
    if (told === null && !isNew) failures.push(`${path} is old, but success was told`);
  }
}

/** F3, F4, F5. */
export async function checkNextStart(
  place: Place,
  scenario: Scenario,
  told: OrionError | 'killed' | null,
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
    // Also after success: a session whose directory could not be removed is finished by the next one who looks.
    if (told !== null || sessions.length > 0) await retry(place, workspace, scenario, failures);
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

/** Every record that says that its change is in effect names the bytes that stand there. */
async function checkRecords(
  place: Place,
  workspace: Awaited<ReturnType<Place['reopen']>>,
  paths: readonly string[],
  failures: string[],
): Promise<void> {
  const seen = new Set<string>();
  for (const change of await workspace.listChanges()) {
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

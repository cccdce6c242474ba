import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';

import { createRandom } from '@orion/common';

import type { Found, KillOutcome } from '../outcome.ts';
import type { KillPlan } from '../plan.ts';
import { runCommand, startCommand } from '../stage/command.ts';
import type { CommandPlace, Ended } from '../stage/command.ts';
import type { Providers } from '../stage/providers.ts';
import { startRelay } from '../stage/relay.ts';
import { estimateWireBytes, writerScript } from '../stage/scripts.ts';
import {
  ageLeftovers,
  leftovers,
  readIfThere,
  sessionDirectory,
  sessionIds,
} from '../stage/workspace-files.ts';
import { keepEvidence } from './evidence.ts';
import { checkReceipt } from './receipt.ts';
import { checkSavedText } from './saved-text.ts';
import type { SavedText } from './saved-text.ts';
import { streamAndKill } from './stream-and-kill.ts';

export type Lane = {
  /** The built command's file. */
  readonly main: string;
  /** Where each kill has a folder of its own. */
  readonly root: string;
  readonly providers: Providers;
};

const NOTHING_SAVED: SavedText = { loss: null, heldBack: false, failures: [] };

/** One kill and what comes after it, with nothing shared with any other but the provider process. */
export async function runKill(lane: Lane, plan: KillPlan): Promise<KillOutcome> {
  const began = performance.now();
  const folder = join(lane.root, `seed-${plan.seed}`);
  const workspace = join(folder, 'workspace');
  const place: CommandPlace = { main: lane.main, home: join(folder, 'home') };
  await mkdir(workspace, { recursive: true });
  await mkdir(place.home);

  const { shape } = plan;
  const random = createRandom(plan.seed ^ 0x5bd1_e995);
  const document = shape.document(random);
  const expected = Buffer.from(document);
  const flow = shape.flow(random);
  const { eventsPerSecond: _pace, ...flatOut } = flow;
  const writer = await lane.providers.start(
    writerScript(shape.target, document, flow, shape.faults),
  );
  const continuer = await lane.providers.start(writerScript(shape.target, document, flatOut));
  const relay = await startRelay();
  relay.target = writer.url;

  const common = [`--cwd=${workspace}`, '--json'];
  const provider = [`--base-url=http://127.0.0.1:${relay.port}/v1`, '--model=scripted'];
  const writeAll = ['run', `Write ${shape.target}`, ...common, ...provider];
  const failures: string[] = [];
  const commands: Ended[] = [];

  const kill = await streamAndKill({
    relay,
    plan,
    wireBytes: estimateWireBytes(document, flow),
    start: () => startCommand(place, writeAll),
  });
  commands.push(kill.ended);
  relay.target = continuer.url;

  const target = join(workspace, shape.target);
  const ids = await sessionIds(workspace);
  const [id] = ids;
  const before = await readIfThere(target);
  const found: Found =
    id !== undefined ? 'session' : before === undefined ? 'no session' : 'committed';
  if (ids.length > 1) failures.push(`${ids.length} sessions were left`);
  if (before !== undefined && !before.equals(expected)) {
    failures.push('the target was there after the kill and is not the document');
  }
  if (found !== 'session' && kill.ended.signal === null && kill.ended.exitCode !== 0) {
    failures.push(`the command ended by itself with ${kill.ended.exitCode}`);
  }

  let savedText = NOTHING_SAVED;
  let joins = false;
  let withoutTurn = false;
  let next = writeAll;
  if (id !== undefined) {
    const session = sessionDirectory(workspace, id);
    const saved = (await readIfThere(join(session, 'content.txt'))) ?? Buffer.alloc(0);
    savedText = checkSavedText(document, saved, kill, shape);
    failures.push(...savedText.failures);
    // A commit that the kill found under way is only finished: nothing is joined then.
    joins = saved.length > 0 && saved.length < expected.length;
    withoutTurn = (await readIfThere(join(session, 'turn.json'))) === undefined;
    next = ['recover-session', id, ...common, ...(withoutTurn ? provider : [])];
  }

  let recovered = true;
  let seams = 0;
  if (found !== 'committed') {
    const after = await runCommand(place, next);
    commands.push(after);
    recovered = after.exitCode === 0;
    const receipt = checkReceipt(after.stdout, expected);
    seams = receipt.seams;
    failures.push(...receipt.failures);
    if (!recovered) failures.push(describeEnd(after));
    else if (joins && seams === 0) failures.push('the receipt names no seam');
  }

  const written = await readIfThere(target);
  const byteEqual = written?.equals(expected) === true;
  if (written === undefined) failures.push('there is no target');
  else if (!byteEqual) failures.push(`the target differs (${written.length} bytes)`);
  if ((await sessionIds(workspace)).length > 0) {
    failures.push('the session directory is still there');
  }
  const leftByKill = await leftovers(workspace, shape.target);
  const cleanedLater = leftByKill.length > 0;
  if (cleanedLater) {
    // What a kill leaves need not be gone before the next start.
    await ageLeftovers(workspace, leftByKill);
    commands.push(await runCommand(place, ['run', 'Say one sentence.', ...common, ...provider]));
    const left = await leftovers(workspace, shape.target);
    if (left.length > 0) failures.push(`left behind: ${left.join(', ')}`);
  }

  writer.stop();
  continuer.stop();
  await relay.close();
  const { loss, heldBack } = savedText;
  if (failures.length === 0) await rm(folder, { recursive: true, force: true });
  else {
    const { samples } = kill;
    await keepEvidence(folder, { plan, document, loss, commands, failures, samples });
  }
  return {
    seed: plan.seed,
    shape: shape.name,
    moment: plan.moment.kind,
    found,
    documentBytes: expected.length,
    loss,
    heldBack,
    recovered,
    byteEqual,
    seams,
    cleanedLater,
    withoutTurn,
    failures,
    folder: failures.length === 0 ? null : folder,
    tookMs: performance.now() - began,
  };
}

function describeEnd({ exitCode, stderr }: Ended): string {
  const lastWords = stderr.trimEnd().split('\n').slice(-2).join(' ');
  return `after the kill the command ended with ${exitCode}: ${lastWords}`;
}

import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';

import { mayBeHeldBack, mayBeUndecided } from '../measure/held-back.ts';
import { measureLoss, PROMISED_MS } from '../measure/loss.ts';
import type { Loss } from '../measure/loss.ts';
import { startSampler } from '../measure/samples.ts';
import type { Sample } from '../measure/samples.ts';
import type { Found, KillOutcome } from '../outcome.ts';
import type { KillPlan } from '../plan.ts';
import { createRandom } from '../random.ts';
import { runCommand, startCommand } from '../stage/command.ts';
import type { CommandPlace, Ended, RunningCommand } from '../stage/command.ts';
import type { Providers } from '../stage/providers.ts';
import { startRelay } from '../stage/relay.ts';
import type { Relay, RelayedConnection } from '../stage/relay.ts';
import { estimateWireBytes, writerScript } from '../stage/scripts.ts';
import { leftovers, readIfThere, sessionDirectory, sessionIds } from '../stage/workspace-files.ts';
import { checkReceipt } from './receipt.ts';

export type Lane = {
  /** The built command's file. */
  readonly main: string;
  /** Where each kill has a folder of its own. */
  readonly root: string;
  readonly providers: Providers;
};

/** The relay's events are random in time already; this is more than any run takes. */
const LONGEST_STREAM_MS = 30_000;

/** One kill and what comes after it, with nothing shared with any other but the provider process. */
export async function runKill(lane: Lane, plan: KillPlan): Promise<KillOutcome> {
  const began = performance.now();
  const folder = join(lane.root, `seed-${plan.seed}`);
  const workspace = join(folder, 'workspace');
  const home = join(folder, 'home');
  await mkdir(workspace, { recursive: true });
  await mkdir(home);
  const place: CommandPlace = { main: lane.main, home };

  const { shape } = plan;
  const random = createRandom(plan.seed ^ 0x5bd1_e995);
  const document = shape.document(random);
  const expected = Buffer.from(document);
  const flow = shape.flow(random);
  const writer = await lane.providers.start(
    writerScript(shape.target, document, flow, shape.faults),
  );
  const { eventsPerSecond: _pace, ...unpaced } = flow;
  const continuer = await lane.providers.start(writerScript(shape.target, document, unpaced));
  const relay = await startRelay();
  relay.target = writer.url;
  const run = [
    'run',
    `Write ${shape.target}`,
    `--cwd=${workspace}`,
    `--base-url=http://127.0.0.1:${relay.port}/v1`,
    '--model=scripted',
    '--json',
  ];

  const failures: string[] = [];
  const logs: Ended[] = [];
  const kill = await streamAndKill({
    relay,
    plan,
    wireBytes: estimateWireBytes(document, flow),
    start: () => startCommand(place, run),
  });
  logs.push(kill.ended);
  relay.forget();
  relay.target = continuer.url;

  const target = join(workspace, shape.target);
  const ids = await sessionIds(workspace);
  const [id] = ids;
  const before = await readIfThere(target);
  const found: Found =
    id !== undefined ? 'session' : before === undefined ? 'no session' : 'committed';
  if (ids.length > 1) failures.push(`${ids.length} sessions were left`);
  if (before !== undefined && !before.equals(expected)) {
    failures.push(`the target was there after the kill and is not the document`);
  }
  if (found !== 'session' && kill.ended.signal === null && kill.ended.exitCode !== 0) {
    failures.push(`the command ended by itself with ${kill.ended.exitCode}`);
  }

  let loss: Loss | null = null;
  let heldBack = false;
  let saved: Buffer = Buffer.alloc(0);
  if (id !== undefined) {
    saved = (await readIfThere(join(sessionDirectory(workspace, id), 'content.txt'))) ?? saved;
    const text = saved.toString('utf8');
    if (!expected.subarray(0, saved.length).equals(saved)) {
      failures.push(`what was saved (${saved.length} bytes) is not the document's beginning`);
    } else if (!Buffer.from(text).equals(saved)) {
      failures.push('what was saved ends inside a code point');
    } else {
      loss = measureLoss({ document, saved, ...kill });
      heldBack =
        loss.overdueText !== '' &&
        (mayBeHeldBack(document, text.length, loss.overdueText) ||
          (shape.faults !== undefined && mayBeUndecided(loss.overdueText)));
      if (loss.overdueText !== '' && !heldBack) failures.push(overdue(loss));
    }
  }

  let seams = 0;
  let recovered = true;
  if (found !== 'committed' || before === undefined) {
    const after = await runCommand(
      place,
      id === undefined ? run : ['recover-session', id, `--cwd=${workspace}`, '--json'],
    );
    logs.push(after);
    recovered = after.exitCode === 0;
    if (!recovered) {
      const lastWords = after.stderr.trimEnd().split('\n').slice(-2).join(' ');
      failures.push(`after the kill the command ended with ${after.exitCode}: ${lastWords}`);
    }
    const receipt = checkReceipt(after.stdout, expected);
    seams = receipt.seams;
    failures.push(...receipt.failures);
    // A commit that the kill found under way is only finished: nothing is joined then.
    const joined = id !== undefined && saved.length > 0 && saved.length < expected.length;
    if (joined && recovered && seams === 0) failures.push('the receipt names no seam');
  }
  const written = await readIfThere(target);
  const byteEqual = written?.equals(expected) === true;
  if (!byteEqual) {
    failures.push(
      written === undefined ? 'there is no target' : `the target differs (${written.length} bytes)`,
    );
  }
  if ((await sessionIds(workspace)).length > 0)
    failures.push('the session directory is still there');
  const left = await leftovers(workspace, shape.target);
  if (found !== 'committed' && left.length > 0) failures.push(`left behind: ${left.join(', ')}`);

  writer.stop();
  continuer.stop();
  await relay.close();
  if (failures.length === 0) await rm(folder, { recursive: true, force: true });
  else await keepEvidence(folder, { plan, document, loss, logs, failures });
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
    failures,
    folder: failures.length === 0 ? null : folder,
    tookMs: performance.now() - began,
  };
}

type KillRequest = {
  readonly relay: Relay;
  readonly plan: KillPlan;
  readonly wireBytes: number;
  readonly start: () => RunningCommand;
};

type Kill = {
  readonly ended: Ended;
  readonly killedAt: number;
  readonly samples: readonly Sample[];
  readonly connections: readonly RelayedConnection[];
};

async function streamAndKill(request: KillRequest): Promise<Kill> {
  const { relay, plan, wireBytes } = request;
  const { moment } = plan;
  const due = whenDue(relay, plan, wireBytes);
  const command = request.start();
  const sampler = startSampler(command.pid, relay.port, () => relay.connections);
  let hasEnded = false;
  const ended = command.ended.finally(() => {
    hasEnded = true;
  });
  await Promise.race([
    due.then(() => wait(moment.afterMs)),
    ended,
    wait(LONGEST_STREAM_MS, undefined, { ref: false }),
  ]);
  sampler.take();
  const killedAt = performance.now();
  if (!hasEnded) process.kill(command.pid, 'SIGKILL');
  sampler.stop();
  const { connections } = relay;
  return { ended: await ended, killedAt, samples: sampler.samples, connections };
}

/** The call that begins the session, and the heads of both answers. */
const BEGIN_WIRE_BYTES = 3_000;

async function whenDue(relay: Relay, { moment }: KillPlan, wireBytes: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  switch (moment.kind) {
    case 'start':
      return;
    case 'stream':
      relay.onSend = (total) => {
        if (total >= BEGIN_WIRE_BYTES + moment.part * wireBytes) resolve();
      };
      break;
    case 'end': {
      let sent = 0;
      relay.onSend = (total) => {
        sent = total;
      };
      relay.onAnswerEnd = () => {
        // The end of the document, not of the call before it.
        if (sent > wireBytes / 2) resolve();
      };
      break;
    }
    default:
      moment satisfies never;
  }
  await promise;
}

function overdue(loss: Loss): string {
  return (
    `lost text had been read ${Math.round(loss.certainAgeMs)} ms before the kill ` +
    `(allowed: ${PROMISED_MS}): ${Buffer.byteLength(loss.overdueText)} bytes`
  );
}

async function keepEvidence(
  folder: string,
  evidence: {
    readonly plan: KillPlan;
    readonly document: string;
    readonly loss: Loss | null;
    readonly logs: readonly Ended[];
    readonly failures: readonly string[];
  },
): Promise<void> {
  const { document, logs, plan, ...rest } = evidence;
  await writeFile(join(folder, 'document.txt'), document);
  const { shape, ...planned } = plan;
  await writeFile(
    join(folder, 'failure.json'),
    JSON.stringify({ ...planned, shape: shape.name, ...rest }, null, 2),
  );
  for (const [index, log] of logs.entries()) {
    await writeFile(join(folder, `command-${index + 1}.log`), `${log.stdout}\n${log.stderr}`);
  }
}

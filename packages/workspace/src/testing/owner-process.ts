/**
 * A process of its own for tests of leases and commits. Reads one JSON command per line, answers each
 * with one JSON line. `hostname` makes it another host; `state` moves the state directory.
 */
import { randomUUID } from 'node:crypto';
import { unlink, writeFile } from 'node:fs/promises';
import { flushCompileCache } from 'node:module';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { OrionError, systemClock } from '@orion/contracts';
import type { CommitPart, SessionHandle, TargetSnapshot, WriteOperation } from '@orion/contracts';
import { SESSION_RECORD as RECORD } from '@orion/testkit/records';
import { createWorkspace } from '../index.ts';
import { ownIdentity } from '../ownership/process-identity.ts';

type Command =
  | { readonly do: 'begin'; readonly target: string }
  | { readonly do: 'append'; readonly text: string }
  | { readonly do: 'save' }
  | { readonly do: 'claim' | 'discard'; readonly id: string }
  | { readonly do: 'clean' | 'list' | 'housekeep' }
  | { readonly do: 'commit'; readonly target: string; readonly operation: WriteOperation }
  | { readonly do: 'release' | 'lost' }
  | { readonly do: 'contend'; readonly targets: readonly string[]; readonly times: number };

const settings = JSON.parse(process.argv[2] ?? '{}') as { root: string; hostname?: string };
const workspace = await createWorkspace({
  root: settings.root,
  clock: systemClock,
  ...(settings.hostname === undefined
    ? {}
    : { identity: async () => ({ ...(await ownIdentity()), host: settings.hostname ?? '' }) }),
});
// It is killed in the end, and would keep nothing then.
flushCompileCache();
let handle: SessionHandle | null = null;

function partsOf(operation: WriteOperation, expected: TargetSnapshot): readonly CommitPart[] {
  const added: CommitPart = {
    kind: 'new',
    source: async function* () {
      yield Buffer.from('new bytes\n');
    },
  };
  return operation === 'append'
    ? [{ kind: 'kept', start: 0, end: expected.bytes }, added]
    : [added];
}

async function beginOn(target: string): Promise<SessionHandle> {
  const sessionId = randomUUID();
  return workspace.sessions.begin({
    version: 1,
    session_id: sessionId,
    intent: 'a test',
    target_file: target,
    operation: 'overwrite',
    created_at: new Date().toISOString(),
    end_marker: 'DONE 0000',
    final_newline: true,
    target: await workspace.checkTarget(target, 'overwrite'),
  });
}

/** Begins until it had the target so often. Whoever has it makes a file that nobody else may have made then. */
async function contend(target: string, times: number): Promise<{ refused: number; both: number }> {
  const held = join(settings.root, `${target}.held`);
  const seen = { refused: 0, both: 0 };
  for (let won = 0; won < times;) {
    let session: SessionHandle;
    try {
      session = await beginOn(target);
    } catch (error) {
      if (!OrionError.isInstance(error) || error.code !== 'TARGET_LOCKED') throw error;
      seen.refused += 1;
      await delay(1 + Math.random() * 20);
      continue;
    }
    won += 1;
    try {
      await writeFile(held, session.id, { flag: 'wx' });
      await delay(2);
      await unlink(held);
    } catch {
      seen.both += 1;
    }
    await session.remove();
  }
  return seen;
}

async function run(command: Command): Promise<unknown> {
  const { sessions } = workspace;
  switch (command.do) {
    case 'begin':
      handle = await beginOn(command.target);
      return { id: handle.id };
    case 'contend': {
      const { targets, times } = command;
      const seen = await Promise.all(targets.map((target) => contend(target, times)));
      return {
        refused: seen.reduce((sum, each) => sum + each.refused, 0),
        both: seen.reduce((sum, each) => sum + each.both, 0),
      };
    }
    case 'append':
      handle?.append(command.text);
      return {};
    case 'save':
      return handle?.save(RECORD);
    case 'claim': {
      const claimed = await sessions.claim(command.id);
      handle = claimed.handle;
      return { bytes: handle.bytes() };
    }
    case 'discard':
      return sessions.discard(command.id);
    case 'clean':
      return sessions.clean({ all: true });
    case 'housekeep':
      return sessions.housekeep();
    case 'list':
      return sessions.list();
    case 'release':
      await handle?.release();
      handle = null;
      return {};
    case 'lost':
      return { lost: handle?.lost.aborted };
    case 'commit': {
      const expected = await workspace.checkTarget(command.target, command.operation);
      return workspace.commit({
        target: command.target,
        operation: command.operation,
        expected,
        parts: partsOf(command.operation, expected),
        eol: 'match',
        journal: async () => undefined,
      });
    }
  }
}

process.stdout.write('{"ready":true}\n');
for await (const line of createInterface({ input: process.stdin })) {
  const answer = await run(JSON.parse(line) as Command).catch((error: unknown) => ({
    error: error instanceof Error && 'code' in error ? error.code : String(error),
  }));
  process.stdout.write(`${JSON.stringify(answer ?? null)}\n`);
}
process.exit(0);

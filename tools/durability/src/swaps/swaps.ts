/**
 * Another process swaps a directory in the target's path for a link to the outside, a hundred thousand times, while
 * files are changed there (B3): nothing outside is ever touched, read for a change or taken for a previous version.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { OrionError } from '@orion/contracts';
import type { CommitPart, Workspace, WriteOperation } from '@orion/contracts';

import { commitPlan } from '../changes/commit-plan.ts';
import { newText } from '../changes/new-text.ts';
import { openPlain, TEMPORARY } from '../changes/place.ts';

const SWAPPER = fileURLToPath(new URL('./swap-process.ts', import.meta.url));
/** The same bytes on both sides: no hash distinguishes them. */
const CANARY = 'outside and inside alike\n';
const ADDED = 'added\n';

export type SwapReport = {
  readonly swaps: number;
  readonly changes: number;
  /** How often each error was the answer. */
  readonly refusals: Readonly<Record<string, number>>;
  readonly failures: readonly string[];
};

export async function swapWhileWriting(swaps: number): Promise<SwapReport> {
  const folder = mkdtempSync(join(TEMPORARY, 'orion-swaps-'));
  const root = join(folder, 'workspace');
  const outside = join(folder, 'outside');
  for (const path of [join(root, 'dir', 'sub'), join(outside, 'sub'), join(root, '.swap')]) {
    mkdirSync(path, { recursive: true });
  }
  for (const path of [join(root, 'dir'), outside]) writeFileSync(join(path, 'sub/a.txt'), CANARY);
  const link = join(root, '.swap', 'link');
  symlinkSync(outside, link);
  const before = lookOutside(outside);

  const workspace = await openPlain(root);
  const swapper = spawn(
    process.execPath,
    [SWAPPER, join(root, 'dir'), link, join(root, '.swap', 'aside'), String(swaps)],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  const ended = once(swapper, 'close').then(([code]) => code as number | null);
  let racing = true;
  void ended.then(() => (racing = false));

  const refusals: Record<string, number> = {};
  const failures: string[] = [];
  let changes = 0;
  try {
    for (let attempt = 0; racing; attempt++) {
      const change = CHANGES[attempt % CHANGES.length];
      if (change === undefined) break;
      try {
        await change(workspace, attempt);
        changes += 1;
      } catch (error) {
        const code = OrionError.isInstance(error) ? error.code : String(error);
        refusals[code] = (refusals[code] ?? 0) + 1;
      }
      const after = lookOutside(outside);
      if (after !== before) {
        failures.push(`attempt ${attempt}: outside was ${before}, is ${after}`);
        break;
      }
    }
    const code = await ended;
    if (code !== 0) failures.push(`the process that swaps ended with ${code}`);
    if (changes === 0) failures.push('no change ever got through');
    if (Object.keys(refusals).length === 0) failures.push('no change ever met the link');
    return { swaps, changes, refusals, failures };
  } finally {
    swapper.kill();
    await ended;
    await workspace.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

type SwapChange = (workspace: Workspace, attempt: number) => Promise<void>;

const CHANGES: readonly SwapChange[] = [
  (workspace, attempt) => commit(workspace, `dir/sub/new-${attempt}.txt`, 'create', attempt),
  (workspace, attempt) => commit(workspace, 'dir/sub/a.txt', 'append', attempt),
  (workspace, attempt) => commit(workspace, `dir/sub/deep-${attempt}/new.txt`, 'create', attempt),
  (workspace, attempt) => commit(workspace, 'dir/sub/a.txt', 'overwrite', attempt),
  async (workspace, attempt) => {
    const targets = [`dir/sub/one-${attempt}.txt`, `dir/sub/two-${attempt}.txt`];
    const changes = await Promise.all(
      targets.map(async (target) => {
        const expected = await workspace.checkTarget(target, 'create');
        const parts: readonly CommitPart[] = [newText(ADDED)];
        return { target, operation: 'create' as const, parts, eol: 'as-is' as const, expected };
      }),
    );
    await commitPlan(workspace, {
      planId: `plan-${attempt}`,
      changes,
      siblingBackups: false,
      atomic: true,
    });
  },
  async (workspace, attempt) => {
    await commit(workspace, 'dir/sub/a.txt', 'append', attempt);
    await workspace.undo({ id: `change-${attempt}`, force: true });
  },
];

async function commit(
  workspace: Workspace,
  target: string,
  operation: WriteOperation,
  attempt: number,
): Promise<void> {
  const expected = await workspace.checkTarget(target, operation);
  const kept: readonly CommitPart[] =
    operation === 'append' ? [{ kind: 'kept', start: 0, end: expected.bytes }] : [];
  await workspace.commit({
    target,
    operation,
    parts: [...kept, newText(ADDED)],
    eol: 'as-is',
    expected,
    changeId: `change-${attempt}`,
    journal: () => Promise.resolve(),
  });
}

/** Every name, its bytes and its inode. */
function lookOutside(outside: string): string {
  return readdirSync(outside, { recursive: true })
    .map((name) => String(name))
    .sort()
    .map((name) => {
      const { ino, mtimeMs, mode } = statSync(join(outside, name));
      const text = name.endsWith('.txt') ? readFileSync(join(outside, name), 'utf8') : '';
      return `${name} ${ino} ${mtimeMs} ${mode} ${JSON.stringify(text)}`;
    })
    .join('; ');
}

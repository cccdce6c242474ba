import { spawnSync } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import type { Sandbox } from './sandbox.ts';

const ARCHIVE = fileURLToPath(new URL('../earlier-state/state.tar.gz', import.meta.url));
/** The machine's folder and the day as the archive has them; both are replaced by those of the test. */
const ROOT = '/earlier-state';
const DAY = '2026-11-22';
const DAY_MS = 86_400_000;

/**
 * Puts a workspace that an earlier version left, and its user's key, into a machine. Text that names the folder or
 * the day is brought up to date, and signed again as the earlier version did.
 */
export async function putEarlierState(machine: Sandbox, name: string): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'orion-earlier-'));
  try {
    // With the time of now: what lies in the attic for too long goes.
    const { status, stderr } = spawnSync('tar', ['-xzmf', ARCHIVE, '-C', folder, name]);
    if (status !== 0) throw new Error(String(stderr));
    const keyFile = join(folder, name, 'home', '.config', 'orion', 'session.key');
    const key = Buffer.from((await readFile(keyFile, 'utf8')).trim(), 'hex');
    const workspace = join(folder, name, 'workspace');
    const yesterday = new Date(Date.now() - DAY_MS).toISOString().slice(0, DAY.length);
    for (const file of await readdir(workspace, { recursive: true, withFileTypes: true })) {
      if (!file.isFile() || !file.name.endsWith('.json')) continue;
      const path = join(file.parentPath, file.name);
      const text = (await readFile(path, 'utf8'))
        .replaceAll(ROOT, machine.root)
        .replaceAll(`${DAY}T`, `${yesterday}T`);
      await writeFile(path, signed(text, key));
    }
    await cp(workspace, machine.workspace, { recursive: true });
    await mkdir(join(machine.home, '.config', 'orion'), { recursive: true });
    await cp(keyFile, join(machine.home, '.config', 'orion', 'session.key'));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function signed(text: string, key: Buffer): string {
  const { mac, ...fields } = JSON.parse(text) as Record<string, unknown>;
  if (mac === undefined) return text;
  const newMac = createHmac('sha256', key).update(canonical(fields)).digest('hex');
  return `${JSON.stringify({ ...fields, mac: newMac })}\n`;
}

function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const entries = Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1));
  return `{${entries.map(([name, inner]) => `${JSON.stringify(name)}:${canonical(inner)}`).join(',')}}`;
}

import { createHash } from 'node:crypto';
import { open, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import type { WriteOperation } from '@orion/contracts';
import type { ReviewRequest, WritePlanTool } from '@orion/core';
import { beforeEach, describe, expect, it } from 'vitest';
import { temporaryDirectory, openWriteTool, RECORD, WHOLE } from './testing/set-up.ts';

/** Hazard: what was approved is not what is written, and the receipt does not say so (B18). */

const OLD = 'old\n';
const NEW = 'new\n';
const OTHER = 'bad\n';

let root: string;
beforeEach(async () => {
  root = await temporaryDirectory();
});

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
const there = (name = 'a.txt'): Promise<string> => readFile(join(root, name), 'utf8');
const leftOver = async (): Promise<readonly string[]> =>
  (await readdir(root)).filter((name) => name.endsWith('.tmp'));

/** As another program would that sees the folder: what lies ready is found by its name. */
type Attack = (path: string) => Promise<void>;

const ATTACKS: readonly (readonly [string, Attack])[] = [
  ['overwritten', (path) => writeFile(path, OTHER)],
  ['longer', (path) => writeFile(path, NEW + OTHER)],
  ['shorter', (path) => writeFile(path, '')],
  [
    'one byte of it another',
    async (path) => {
      const file = await open(path, 'r+');
      await file.write('N', 0);
      await file.close();
    },
  ],
  [
    'another file under its name',
    async (path) => {
      await writeFile(`${path}.x`, OTHER);
      await rename(`${path}.x`, path);
    },
  ],
  ['gone', (path) => rm(path)],
];

async function toolWith(
  attack: (path: string, question: number) => Promise<void>,
): Promise<{ readonly tool: WritePlanTool; readonly asked: ReviewRequest[] }> {
  const asked: ReviewRequest[] = [];
  const { tool } = await openWriteTool(root, {
    approval: {
      kind: 'ask',
      review: async (request) => {
        asked.push(request);
        for (const name of await leftOver()) await attack(join(root, name), asked.length);
        return { approved: true };
      },
    },
  });
  return { tool, asked };
}

async function streamed(tool: WritePlanTool, operation: WriteOperation) {
  const { handle } = await tool.begin({
    intent: 'a test',
    target_file: 'a.txt',
    operation,
    final_newline: true,
  });
  handle.append(NEW);
  await handle.save({ ...RECORD, state: 'session_active.finalizing' });
  const finalize = () => tool.finalizeSession(handle.id, handle.contentPath(), WHOLE);
  return { handle, finalize };
}

describe.each(['create', 'overwrite'] as const)('a session that does %s', (operation) => {
  beforeEach(async () => {
    if (operation === 'overwrite') await writeFile(join(root, 'a.txt'), OLD);
  });

  it.each(ATTACKS)('%s while the question stands: asked anew', async (_name, attack) => {
    const { tool, asked } = await toolWith(async (path, question) => {
      if (question === 1) await attack(path);
    });
    const { finalize } = await streamed(tool, operation);
    expect(await finalize()).toMatchObject({ kind: 'written', receipt: { sha256: sha256(NEW) } });
    expect(await there()).toBe(NEW);
    expect(asked.map(({ changes }) => changes[0]?.after.sha256)).toEqual([
      sha256(NEW),
      sha256(NEW),
    ]);
    expect(await leftOver()).toEqual([]);
  });

  it.each(ATTACKS)('%s each time: refused, the text kept', async (_name, attack) => {
    const { tool, asked } = await toolWith(attack);
    const { finalize, handle } = await streamed(tool, operation);
    await expect(finalize()).rejects.toMatchObject({ code: 'APPROVAL_STALE' });
    expect(asked).toHaveLength(3);
    if (operation === 'overwrite') expect(await there()).toBe(OLD);
    else await expect(there()).rejects.toThrow('ENOENT');
    expect(await readFile(handle.contentPath(), 'utf8')).toBe(NEW);
  });
});

describe('a plan', () => {
  const PLAN = {
    intent: 'a test',
    operations: [
      { type: 'overwrite', target_file: 'a.txt', content: NEW },
      { type: 'create', target_file: 'b.txt', content: NEW },
    ],
  };
  beforeEach(() => writeFile(join(root, 'a.txt'), OLD));

  it.each(ATTACKS)('%s while the question stands: asked anew', async (_name, attack) => {
    const { tool, asked } = await toolWith(async (path, question) => {
      if (question === 1) await attack(path);
    });
    const report = await tool.execute(PLAN);
    expect(report.status).toBe('done');
    expect(asked).toHaveLength(2);
    expect(report.receipts.map((receipt) => receipt.sha256)).toEqual([sha256(NEW), sha256(NEW)]);
    expect([await there(), await there('b.txt')]).toEqual([NEW, NEW]);
    expect(await leftOver()).toEqual([]);
  });

  it('each time: refused, and nothing has changed', async () => {
    const { tool, asked } = await toolWith((path) => writeFile(path, OTHER));
    const report = await tool.execute(PLAN);
    expect(report.results.map(({ status, error }) => [status, error?.code])).toEqual([
      ['failed', 'APPROVAL_STALE'],
      ['skipped', undefined],
    ]);
    expect(asked).toHaveLength(3);
    expect(await there()).toBe(OLD);
    await expect(there('b.txt')).rejects.toThrow('ENOENT');
    expect(await leftOver()).toEqual([]);
  });

  it('the last of its files: those before it are taken back first', async () => {
    let last = '';
    const { tool, asked } = await toolWith(async (path, question) => {
      if (question === 1 && (await readFile(path, 'utf8')) === `${NEW}b`) {
        last = path;
        await writeFile(path, OTHER);
      }
    });
    const second = { type: 'create', target_file: 'b.txt', content: `${NEW}b` };
    const report = await tool.execute({ ...PLAN, operations: [PLAN.operations[0], second] });
    expect(last).not.toBe('');
    expect(report.status).toBe('done');
    expect(asked).toHaveLength(2);
    expect([await there(), await there('b.txt')]).toEqual([NEW, `${NEW}b`]);
  });
});

import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { createOrion } from '@orion/agent';
import type { Orion } from '@orion/agent';
import type { RecordedChange } from '@orion/contracts';
import { expect, onTestFinished, test } from 'vitest';

import type { ChatTools } from '../tools.ts';
import { changeCommands } from './changes.ts';

/** Hazard: the more was ever changed in a workspace, the longer a person waits for a few changes. */

const command = changeCommands.find(({ name }) => name === 'changes');

async function openOrion(): Promise<Orion> {
  const workspace = await realpath(await mkdtemp(join(tmpdir(), 'orion-changes-')));
  const orion = await createOrion({ workspace, store: 'memory' });
  onTestFinished(async () => {
    await orion.close();
    await rm(workspace, { recursive: true, force: true });
  });
  return orion;
}

/** Creates a file. Resolves to the backup of that change. */
async function make(orion: Orion, target: string): Promise<string> {
  const operations = [{ type: 'create', target_file: target, content: 'x\n' }] as const;
  const { receipts } = await orion.applyPlan({ intent: 'a test', operations: [...operations] });
  return receipts[0]?.backup_id ?? '';
}

test('/changes reads no change that is older than those of its conversation', async () => {
  const orion = await openOrion();
  await make(orion, 'older.txt');
  const own = await make(orion, 'own.txt');
  await make(orion, 'newest.txt');
  const printed: unknown[] = [];
  const read: unknown[] = [];
  async function* changes(): AsyncGenerator<RecordedChange, void> {
    for await (const change of orion.changes()) {
      read.push(change.files[0]?.target_file);
      yield change;
    }
  }
  const tools = {
    orion: { ...orion, changes },
    turns: { conversationId: null, facts: { backups: [own] } },
    face: { print: (item: unknown) => printed.push(item) },
    line: (text: string) => printed.push(text),
  } as unknown as ChatTools;
  await command?.run(tools, '', new AbortController().signal);
  expect(read).toEqual(['newest.txt', 'own.txt']);
  expect(JSON.stringify(printed)).toContain('own.txt');
  expect(JSON.stringify(printed)).not.toContain('newest.txt');
});

test('of changes without end the newest are offered', async () => {
  async function* changes(): AsyncGenerator<object, void> {
    for (let number = 0; ; number += 1) {
      yield await Promise.resolve({ change_id: String(number), files: [] });
    }
  }
  const items = await command?.complete?.({ orion: { changes } } as unknown as ChatTools);
  expect(items?.map(({ value }) => value).slice(0, 3)).toEqual(['0', '1', '2']);
  expect(items).toHaveLength(200);
});

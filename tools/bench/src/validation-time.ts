import { systemClock } from '@orion/contracts';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';

import type { SessionHandle, Workspace, WritingRecord } from '@orion/contracts';
import { createWritePlanTool, wholeTextChange } from '@orion/core';
import { SESSION_RECORD } from '@orion/testkit/records';
import { createPatternMatcher } from '@orion/workspace';

export type WriteTimes = {
  readonly text: string;
  readonly bytes: number;
  /** The commit alone: read, write, sync, put in place. */
  readonly withoutMs: number[];
  /** The same behind the gate that every text goes through. */
  readonly withMs: number[];
};

const PIECE = 64 * 1024;

/** Texts that the platform checks by different ways. */
const LINES: readonly (readonly [string, string])[] = [
  [
    'source code, ASCII',
    '  const total = lines.reduce((sum, line) => sum + line.length, 0); // {n}\n',
  ],
  ['prose in many scripts', 'Größe {n}: 世界の言葉、العربية, 한국어 und 👩‍👩‍👧, naïve café.\n'],
];

/** Writes the same saved text in turn with and without validation, in changing order. */
export async function compareWrites(
  workspace: Workspace,
  bytes: number,
  runs: number,
): Promise<readonly WriteTimes[]> {
  const results: WriteTimes[] = [];
  for (const [text, line] of LINES) {
    const handle = await save(workspace, line, bytes);
    const times: WriteTimes = { text, bytes: handle.bytes(), withoutMs: [], withMs: [] };
    // The first run warms everything up and is not counted.
    for (let run = 0; run <= runs; run += 1) {
      const measured = { without: 0, with: 0 };
      const order = run % 2 === 0 ? (['without', 'with'] as const) : (['with', 'without'] as const);
      for (const way of order) measured[way] = await timeOf(workspace, handle, way);
      if (run === 0) continue;
      times.withoutMs.push(measured.without);
      times.withMs.push(measured.with);
    }
    await handle.discard();
    results.push(times);
  }
  return results;
}

async function save(workspace: Workspace, line: string, bytes: number): Promise<SessionHandle> {
  const tool = createWritePlanTool({
    workspace,
    clock: systemClock,
    createId: () => crypto.randomUUID(),
    patterns: createPatternMatcher(systemClock),
  });
  const { handle } = await tool.begin({
    intent: 'bench',
    target_file: 'session.txt',
    operation: 'create',
    final_newline: true,
  });
  let piece = '';
  for (let number = 0; handle.bytes() + piece.length < bytes; number += 1) {
    piece += line.replace('{n}', String(number));
    if (piece.length < PIECE) continue;
    handle.append(piece);
    piece = '';
  }
  handle.append(piece);
  await handle.save({ ...SESSION_RECORD, state: 'session_active.finalizing' });
  return handle;
}

async function timeOf(
  workspace: Workspace,
  handle: SessionHandle,
  way: 'with' | 'without',
): Promise<number> {
  const target = 'written.txt';
  const expected = await workspace.checkTarget(target, 'create');
  const source = () => handle.readContent();
  const journal = (writing: WritingRecord) => handle.recordWriting(writing);
  const began = performance.now();
  if (way === 'with') {
    const { request } = wholeTextChange({
      operation: 'create',
      expected,
      source,
      eol: 'match',
      startOnNewLine: false,
    });
    await workspace.commit({ ...request, changeId: handle.id, journal });
  } else {
    await workspace.commit({
      target,
      operation: 'create',
      parts: [{ kind: 'new', source }],
      eol: 'match',
      expected,
      journal,
    });
  }
  const took = performance.now() - began;
  await rm(join(workspace.root, target));
  return took;
}

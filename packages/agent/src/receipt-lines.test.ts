import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import type {
  EditLocation,
  Seam,
  SessionHandle,
  Workspace,
  WriteOperation,
  WriteReceipt,
} from '@orion/contracts';
import type { FinalizeFacts } from '@orion/core';
import { beforeEach, describe, expect, it } from 'vitest';

import { recoverSession } from './turn/recovery.ts';
import { SETTINGS } from './testing/session-settings.ts';
import { temporaryDirectory, openWriteTool, RECORD } from './testing/set-up.ts';

/** Hazard: a receipt names lines of the text as it arrived, and a person looks there in another file. */

type Case = {
  readonly title: string;
  readonly content: string;
  readonly start?: number;
  readonly end?: number;
  readonly operation?: WriteOperation;
  readonly location?: EditLocation;
  readonly before?: string;
  /** Lines of the content; `seams` where a second message began. */
  readonly doneLines: readonly number[];
  readonly seams?: readonly number[];
  readonly told: readonly number[];
  readonly toldSeams?: readonly number[];
  readonly facts?: Partial<FinalizeFacts>;
};

const START = '// start';
const END = '// end';
const BLOCK = { start_marker: START, end_marker: END, marker_type: 'string' } as const;

const cases: readonly Case[] = [
  {
    title: 'all of the content',
    content: 'one\nDONE\nthree\n',
    doneLines: [2],
    seams: [3],
    told: [2],
    toldSeams: [3],
  },
  {
    title: 'END n: lines from the end on are not of the file',
    content: 'one\nDONE\nthree\nDONE\nI am finished.\n',
    end: 'one\nDONE\nthree\n'.length,
    doneLines: [2, 4],
    seams: [3, 4, 5],
    told: [2],
    toldSeams: [3],
  },
  {
    title: 'END 2: nothing of it is left',
    content: 'one\nDONE\nThat is all.\n',
    end: 'one\n'.length,
    doneLines: [2],
    seams: [2],
    told: [],
    toldSeams: [],
  },
  {
    title: 'STRIP: lines before the start do not count',
    content: 'Here it is:\n```\none\nDONE\nthree\n```\n',
    start: 'Here it is:\n```\n'.length,
    end: 'Here it is:\n```\none\nDONE\nthree\n'.length,
    doneLines: [4],
    seams: [2, 5, 6],
    told: [2],
    toldSeams: [3],
  },
  {
    title: 'a last line without its line ending',
    content: 'one\nDONE\nlast\n',
    end: 'one\nDONE\nlast'.length,
    doneLines: [2],
    seams: [4],
    told: [2],
    toldSeams: [4],
  },
  {
    title: 'append: behind the lines that were there',
    operation: 'append',
    before: 'a\nb\nc\n',
    content: 'one\nDONE\nthree\n',
    doneLines: [2],
    seams: [3],
    told: [5],
    toldSeams: [6],
  },
  {
    title: 'append to an open line: the first line joins it',
    operation: 'append',
    before: 'a\nb',
    content: 'one\nDONE\nthree\n',
    doneLines: [2],
    told: [3],
  },
  {
    title: 'insert: behind the marker',
    operation: 'insert',
    location: { marker: START, marker_type: 'string', position: 'after' },
    before: `a\n${START}\nb\n`,
    content: 'one\nDONE\n',
    doneLines: [2],
    told: [4],
  },
  {
    title: 'insert behind a last line without a line ending',
    operation: 'insert',
    location: { marker: START, marker_type: 'string', position: 'after' },
    before: `a\n${START}`,
    content: 'one\nDONE\n',
    doneLines: [2],
    told: [4],
  },
  {
    title: 'insert before the first line',
    operation: 'insert',
    location: { marker: START, marker_type: 'string', position: 'before' },
    before: `${START}\nb\n`,
    content: 'one\nDONE\n',
    doneLines: [2],
    told: [2],
  },
  {
    title: 'replace: where the block stands',
    operation: 'replace',
    location: { ...BLOCK, include_markers: false },
    before: `a\nb\n${START}\nold\nold\n${END}\nz\n`,
    content: 'one\nDONE\nthree\n',
    doneLines: [2],
    seams: [3],
    told: [5],
    toldSeams: [6],
  },
  {
    title: 'replace with the markers, in a file with CRLF',
    operation: 'replace',
    location: { ...BLOCK, include_markers: true },
    before: `a\r\n${START}\r\nold\r\n${END}\r\nz\r\n`,
    content: 'one\nDONE\nthree\n',
    doneLines: [2],
    told: [3],
  },
];

let root: string;
beforeEach(async () => {
  root = await temporaryDirectory();
});

async function written(
  each: Case,
  approval: 'auto' | 'ask',
): Promise<{
  readonly receipt: WriteReceipt;
  readonly handle: SessionHandle;
  readonly workspace: Workspace;
}> {
  if (each.before !== undefined) await writeFile(join(root, 'a.txt'), each.before);
  const { tool, workspace } = await openWriteTool(
    root,
    approval === 'auto'
      ? {}
      : { approval: { kind: 'ask', review: () => Promise.resolve({ approved: true }) } },
  );
  const { handle } = await tool.begin({
    intent: 'a test',
    target_file: 'a.txt',
    operation: each.operation ?? 'create',
    final_newline: true,
    ...(each.location === undefined ? {} : { location: each.location }),
  });
  handle.append(each.content);
  await handle.save({
    ...RECORD,
    state: 'session_active.finalizing',
    ...(each.start === undefined ? {} : { content_start: each.start }),
    ...(each.end === undefined ? {} : { content_end: each.end }),
    fence_stripped: each.start !== undefined,
    inner_done_lines: each.doneLines,
    seams: (each.seams ?? []).map(seamAt),
  });
  const outcome = await tool.finalizeSession(handle.id, handle.contentPath(), {
    start: each.start ?? 0,
    end: each.end ?? null,
    notes: { fence_stripped: each.start !== undefined, warnings: [] },
    innerDoneLines: each.doneLines,
    seams: (each.seams ?? []).map(seamAt),
    repair: null,
    askOmissions: false,
    ...each.facts,
  });
  if (outcome.kind !== 'written') throw new Error(`nothing was written: ${outcome.kind}`);
  return { receipt: outcome.receipt, handle, workspace };
}

function seamAt(line: number): Seam {
  return {
    line,
    status: 'verified',
    via: 'anchor',
    lines_dropped: 0,
    text_set_aside: 0,
    conversion: 'none',
  };
}

describe.each(['auto', 'ask'] as const)('R245: the lines of a receipt, approval %s', (approval) => {
  it.each(cases)('$title', async (each) => {
    const { receipt } = await written(each, approval);
    expect(receipt.inner_done_lines).toEqual(each.told);
    expect(receipt.seams.map(({ line }) => line)).toEqual(each.toldSeams ?? []);
    const lines = (await readFile(join(root, 'a.txt'), 'utf8')).split(/\r?\n/u);
    for (const line of receipt.inner_done_lines) expect(lines[line - 1]).toBe('DONE');
  });
});

describe('R088, R245: the receipt of a commit whose process did not live to tell', () => {
  it.each(cases)('$title', async (each) => {
    const { receipt, handle, workspace } = await written(each, 'auto');
    await handle.release();
    const { commit, handle: claimed } = await recoverSession(workspace, handle.id, SETTINGS);
    await claimed.release();
    if (commit.kind !== 'happened') throw new Error(`the commit is ${commit.kind}`);
    expect(commit.receipt).toEqual({
      ...receipt,
      validation_summary: commit.receipt.validation_summary,
      warnings: [...receipt.warnings, 'committed_before_the_interruption'],
    });
    expect(commit.receipt.validation_summary).toMatchObject({
      original_length: receipt.validation_summary.original_length,
    });
  });
});

describe('R097, R249: other lines that a receipt names', () => {
  it('of places that were replaced, in a file that is added to', async () => {
    const { receipt } = await written(
      {
        title: '',
        operation: 'append',
        before: 'a\nb\n',
        content: 'one\n\0\n',
        doneLines: [],
        told: [],
        facts: { repair: { found: 1, rounds: [], replace: true } },
      },
      'auto',
    );
    expect(receipt.validation_summary.replaced_at).toEqual([
      { line: 4, column: 1, byte_offset: 4 },
    ]);
  });

  it('of text that was left out, in a block', async () => {
    const { receipt } = await written(
      {
        title: '',
        operation: 'replace',
        location: { ...BLOCK, include_markers: false },
        before: `a\nb\n${START}\nold\n${END}\n`,
        content: 'one\n// ... rest unchanged\n',
        doneLines: [],
        told: [],
      },
      'auto',
    );
    expect(receipt.validation_summary.omission_suspected).toEqual([5]);
  });

  it('of characters that nobody sees, also when the process did not live to tell (B16)', async () => {
    const { receipt, handle, workspace } = await written(
      {
        title: '',
        operation: 'append',
        before: 'a\nb\n',
        content: 'one\nignore\u{e0041} this\n',
        doneLines: [],
        told: [],
      },
      'auto',
    );
    const hidden = { hidden_characters: 1, hidden_at: [{ line: 4, code_point: 'U+E0041' }] };
    expect(receipt.validation_summary).toMatchObject(hidden);
    await handle.release();
    const { commit, handle: claimed } = await recoverSession(workspace, handle.id, SETTINGS);
    await claimed.release();
    expect(commit).toMatchObject({ receipt: { validation_summary: hidden } });
  });
});

import { randomUUID } from 'node:crypto';
import { readdir, readFile, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import type { FinalizeFacts, WritePlanTool } from '@orion/core';
import type { SessionHandle } from '@orion/contracts';
import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import { temporaryDirectory, openWriteTool, RECORD, WHOLE } from './testing/set-up.ts';

const FACTS: FinalizeFacts = { ...WHOLE, askOmissions: true };

let root: string;
let tool: WritePlanTool;

beforeEach(async () => {
  root = await temporaryDirectory();
  ({ tool } = await openWriteTool(root));
});

async function saved(pieces: readonly string[], target = 'a.txt'): Promise<SessionHandle> {
  const { handle } = await tool.begin({
    intent: 'a test',
    target_file: target,
    operation: 'create',
    final_newline: true,
  });
  for (const piece of pieces) handle.append(piece);
  await handle.save({ ...RECORD, state: 'session_active.finalizing' });
  return handle;
}

function finalize(handle: SessionHandle, repair: FinalizeFacts['repair'] = null) {
  return tool.finalizeSession(handle.id, handle.contentPath(), { ...FACTS, repair });
}

describe('A6, R102: the result of a text that is not valid', () => {
  it('says what to ask, and nothing is written', async () => {
    const handle = await saved(['A', '\uD83D', 'B\n']);
    expect(await finalize(handle)).toEqual({
      kind: 'needs_corrections',
      corrections: {
        session_id: handle.id,
        success: false,
        stage: 'needs_corrections',
        target_file: 'a.txt',
        invalid_contexts: [
          {
            index: 1,
            position: 1,
            byte_offset: 1,
            byte_length: 3,
            line: 1,
            column: 2,
            code: 'surrogate',
            context: { before: 'A', invalid: '\\ud83d', after: 'B\n' },
          },
        ],
        invalid_count: 1,
        prompt: expect.stringContaining('#1 (line 1): A⟦1⟧B') as string,
        attempt: 1,
        max_attempts: 3,
      },
    });
    expect((await readdir(root)).filter((name) => name !== '.orion')).toEqual([]);
    const repair = { found: 1, rounds: [[{ start: 1, end: 4, text: '-' }]], replace: false };
    expect((await finalize(handle, repair)).kind).toBe('written');
    expect(await readFile(join(root, 'a.txt'), 'utf8')).toBe('A-B\n');
  });
});

describe('R101: text that cannot be validated is never written', () => {
  it('a content file that was cut from outside is noticed, although what is left is valid', async () => {
    const handle = await saved(['one\n', 'two\n']);
    await truncate(handle.contentPath(), 4);
    await expect(finalize(handle)).rejects.toMatchObject({
      code: 'VALIDATION_FAILED',
      details: { saved_bytes: 8, read_bytes: 4 },
    });
    expect((await readdir(root)).filter((name) => name !== '.orion')).toEqual([]);
  });
});

describe('R099: the places that were replaced', () => {
  it.each([
    [25, 25],
    [1_001, 1_000],
  ])('of %i the receipt names %i one by one, and counts all', async (number, named) => {
    const handle = await saved(Array.from({ length: number }, () => 'A\uD83D\n'));
    const replace = { found: number, rounds: [], replace: true };
    const outcome = await finalize(handle, replace);
    if (outcome.kind !== 'written') throw new Error('not written');
    const { replaced, replaced_at } = outcome.receipt.validation_summary;
    expect(replaced).toBe(number);
    expect(replaced_at).toHaveLength(named);
    expect(replaced_at?.at(-1)).toMatchObject({ line: named, column: 2 });
  });
});

describe('R092, R099: any text, on a real disk', () => {
  it('is written as the platform would make it well-formed, and unchanged where it was', async () => {
    let number = 0;
    const units = fc.constantFrom(
      'a',
      '\n',
      'é',
      '😀',
      '\ud83d',
      '\ude00',
      '\0',
      '\ufeff',
      '\ufffd',
    );
    await fc.assert(
      fc.asyncProperty(fc.array(units, { minLength: 1, maxLength: 40 }), async (pieces) => {
        const target = `${(number += 1)}.txt`;
        const text = pieces.join('');
        const handle = await saved(pieces, target);
        const first = await finalize(handle);
        const isText = text.isWellFormed() && !text.includes('\0');
        expect(first.kind).toBe(isText ? 'written' : 'needs_corrections');
        if (first.kind === 'needs_corrections') {
          const found = first.corrections.invalid_count;
          const last = await finalize(handle, { found, rounds: [], replace: true });
          expect(last).toMatchObject({
            kind: 'written',
            receipt: { validation_summary: { replaced: found, used_safe_replacement: true } },
          });
        }
        const expected = text.toWellFormed().replaceAll('\0', '\ufffd');
        expect(await readFile(join(root, target))).toEqual(Buffer.from(expected));
        await handle.remove();
      }),
      { numRuns: 40 },
    );
    // Two files are made durable in each run.
  }, 30_000);
});

describe('R082, R083: finalizeSession takes a session that it knows, and that session’s own content file', () => {
  it('an unknown id: SESSION_NOT_FOUND, in these words', async () => {
    const handle = await saved(['mine\n']);
    await expect(tool.finalizeSession(randomUUID(), handle.contentPath(), FACTS)).rejects.toThrow(
      expect.objectContaining({
        code: 'SESSION_NOT_FOUND',
        message: 'Session not found or expired. Please start a new write session.',
      }),
    );
  });

  it('an id that was forgotten', async () => {
    const handle = await saved(['mine\n']);
    tool.forget(handle.id);
    await expect(finalize(handle)).rejects.toMatchObject({ code: 'SESSION_NOT_FOUND' });
  });

  it.each<[string, (own: SessionHandle, other: SessionHandle) => string | Promise<string>]>([
    ['the file of another session', (_own, other) => other.contentPath()],
    [
      'a way out of the directory and into another one',
      (own, other) => join(own.directory, '..', other.id, 'content.txt'),
    ],
    ['… without being normalised', (own, other) => `${own.directory}/../${other.id}/content.txt`],
    ['another file of the session', (own) => join(own.directory, 'state.json')],
    ['a file of the workspace', () => join(root, 'secret.txt')],
    ['a relative path', () => 'content.txt'],
    ['nothing', () => ''],
    [
      'a link to a file of the workspace',
      async (own) => {
        const link = join(own.directory, 'link.txt');
        await symlink(join(root, 'secret.txt'), link);
        return link;
      },
    ],
  ])('%s: INVALID_CONTENT_PATH, and nothing is written', async (_name, pathOf) => {
    await writeFile(join(root, 'secret.txt'), 'secret\n');
    const own = await saved(['mine\n'], 'own.txt');
    const other = await saved(['theirs\n'], 'other.txt');
    const path = await pathOf(own, other);
    await expect(tool.finalizeSession(own.id, path, FACTS)).rejects.toMatchObject({
      code: 'INVALID_CONTENT_PATH',
    });
    expect((await readdir(root)).sort()).toEqual(['.orion', 'secret.txt']);
  });

  it('its own file that somebody replaced by a link: the link is not followed, the text is written', async () => {
    await writeFile(join(root, 'secret.txt'), 'secret\n');
    const own = await saved(['mine\n'], 'own.txt');
    await rm(own.contentPath());
    await symlink(join(root, 'secret.txt'), own.contentPath());
    await finalize(own);
    expect(await readFile(join(root, 'own.txt'), 'utf8')).toBe('mine\n');
  });
});

import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import type {
  EditLocation,
  JsonObject,
  SessionHandle,
  WriteOperation,
  WriteReceipt,
} from '@orion/contracts';
import type { ApprovalPolicy, BeginRequest, WritePlanTool } from '@orion/core';
import { beforeEach, describe, expect, it } from 'vitest';

import { recoverSession } from './turn/recovery.ts';
import { SETTINGS } from './testing/session-settings.ts';
import { temporaryDirectory, openWriteTool, RECORD, WHOLE } from './testing/set-up.ts';

/** Hazard: new text that does not fit what the file has already (R276, R298). */

let root: string;
beforeEach(async () => {
  root = await temporaryDirectory();
});

const REVIEWED: ApprovalPolicy = {
  kind: 'ask',
  review: () => Promise.resolve({ approved: true }),
};

async function put(bytes: string | Uint8Array): Promise<void> {
  await writeFile(join(root, 'a.txt'), bytes);
}

const bytesThere = (): Promise<Buffer> => readFile(join(root, 'a.txt'));
const textThere = (): Promise<string> => readFile(join(root, 'a.txt'), 'utf8');

function request(operation: WriteOperation, more: Partial<BeginRequest> = {}): BeginRequest {
  return { intent: 'a test', target_file: 'a.txt', operation, final_newline: true, ...more };
}

async function streamed(
  tool: WritePlanTool,
  asked: BeginRequest,
  text: string,
): Promise<{
  readonly handle: SessionHandle;
  readonly result: JsonObject;
  readonly receipt: WriteReceipt;
}> {
  const { handle, result } = await tool.begin(asked);
  handle.append(text);
  await handle.save({ ...RECORD, state: 'session_active.finalizing' });
  const outcome = await tool.finalizeSession(handle.id, handle.contentPath(), WHOLE);
  if (outcome.kind !== 'written') throw new Error(outcome.kind);
  return { handle, result, receipt: outcome.receipt };
}

const APPROVALS: readonly ApprovalPolicy[] = [{ kind: 'auto' }, REVIEWED];

describe.each(APPROVALS)(
  'A5, R298: append to a file without a last line ending, approval $kind',
  (approval) => {
    it.each([
      ['last line', 'more\n', false, 'last linemore\n', 1, ['joined_without_newline']],
      ['last line', 'more\n', true, 'last line\nmore\n', 1, []],
      ['one\r\nlast', 'a\nb\n', true, 'one\r\nlast\r\na\r\nb\r\n', 2, []],
      ['last line\n', 'more\n', true, 'last line\nmore\n', 1, []],
      ['', 'more\n', true, 'more\n', 1, []],
      ['', 'more\n', false, 'more\n', 1, []],
    ])('%j + %j, on a new line: %s', async (before, text, fresh, after, lines, warnings) => {
      const { tool } = await openWriteTool(root, { approval });
      await put(before);
      const asked = request('append', fresh ? { start_on_new_line: true } : {});
      const { result, receipt } = await streamed(tool, asked, text);
      expect(await textThere()).toBe(after);
      expect(receipt.warnings).toEqual(warnings);
      expect(receipt.lines).toBe(lines);
      expect(receipt.bytes).toBe(Buffer.byteLength(after) - Buffer.byteLength(before));
      const isOpen = before !== '' && !before.endsWith('\n');
      expect(result['ends_without_newline']).toBe(isOpen ? true : undefined);
    });

    it('a receipt after a kill says the same', async () => {
      const { tool, workspace } = await openWriteTool(root, { approval });
      await put('last line');
      const { handle, receipt } = await streamed(tool, request('append'), 'more\n');
      await handle.release();
      const { commit } = await recoverSession(workspace, receipt.session_id, SETTINGS);
      expect(commit).toMatchObject({
        kind: 'happened',
        receipt: { warnings: ['joined_without_newline', 'committed_before_the_interruption'] },
      });
    });

    it('other operations do not speak of it', async () => {
      const { tool } = await openWriteTool(root, { approval });
      await put('last line');
      const { result } = await tool.begin(request('overwrite'));
      expect(result).not.toHaveProperty('ends_without_newline');
    });
  },
);

it('R029: a receipt after a kill describes the text without the line ending that was left out', async () => {
  const { tool, workspace } = await openWriteTool(root);
  const { handle } = await tool.begin(request('create', { final_newline: false }));
  handle.append('```\nx = 1\n```\n');
  const file = { content_start: 4, content_end: 10, fence_stripped: true };
  await handle.save({ ...RECORD, ...file, state: 'session_active.finalizing' });
  const written = { ...WHOLE, start: 4, end: 9 };
  await tool.finalizeSession(handle.id, handle.contentPath(), written);
  await handle.release();
  const { commit } = await recoverSession(workspace, handle.id, SETTINGS);
  expect(commit).toMatchObject({
    kind: 'happened',
    receipt: { bytes: 5, validation_summary: { original_length: 5 } },
  });
});

describe('R272, R298: whether blank lines at the start are kept is on disk from the begin on', () => {
  it.each([
    ['overwrite', '\nold\n', {}, true],
    ['overwrite', ' \t\r\nold\n', {}, true],
    ['overwrite', 'old\n', {}, undefined],
    ['overwrite', 'old\n', { keep_leading_blank_lines: true }, true],
    ['overwrite', null, {}, undefined],
    ['create', null, { keep_leading_blank_lines: true }, true],
    ['create', null, {}, undefined],
    ['append', '\nold\n', { keep_leading_blank_lines: true }, undefined],
  ] as const)('%s over %j', async (operation, before, more, kept) => {
    const { tool, workspace } = await openWriteTool(root);
    if (before !== null) await put(before);
    const { handle } = await tool.begin(request(operation, more));
    handle.append('x\n');
    await handle.save(RECORD);
    await handle.release();
    const recovered = await recoverSession(workspace, handle.id, SETTINGS);
    expect(handle.metadata.keep_leading_blank_lines).toBe(kept);
    expect(recovered.handle.metadata.keep_leading_blank_lines).toBe(kept);
  });
});

const AT: EditLocation = { marker: 'two', marker_type: 'string', position: 'after' };
const BLOCK: EditLocation = {
  start_marker: 'one',
  end_marker: 'three',
  marker_type: 'string',
  include_markers: false,
};
const EDITS: readonly BeginRequest[] = [
  request('append'),
  request('insert', { location: AT }),
  request('replace', { location: BLOCK }),
];
const TEXT = 'one\ntwo\nthree\n';
const LATIN_1 = Buffer.from('Grüße\none\ntwo\nthree\n', 'latin1');

describe.each(EDITS)('R276: $operation', (asked) => {
  it.each([
    ['UTF-16 (little-endian)', 'utf-16le', Buffer.from(TEXT, 'utf16le')],
    ['UTF-16 (little-endian)', 'utf-16le', Buffer.from(`\ufeff${TEXT}`, 'utf16le')],
    ['UTF-16 (big-endian)', 'utf-16be', Buffer.from(`\ufeff${TEXT}`, 'utf16le').swap16()],
    ['NUL', 'binary', Buffer.from('one\ntwo\0\nthree\n')],
  ])('refuses %s at begin', async (named, encoding, bytes) => {
    const { tool } = await openWriteTool(root);
    await put(bytes);
    await expect(tool.begin(asked)).rejects.toMatchObject({
      code: 'TARGET_NOT_UTF8',
      message: expect.stringContaining(named) as string,
      hint: expect.stringContaining('overwrite') as string,
      details: { encoding },
    });
  });

  it.each(APPROVALS)('an 8-bit file takes pure ASCII, approval $kind', async (approval) => {
    const { tool } = await openWriteTool(root, { approval });
    await put(LATIN_1);
    const { result, receipt } = await streamed(tool, asked, 'new\n');
    expect(result).toMatchObject({
      encoding: '8-bit',
      encoding_note: expect.stringContaining('write ASCII characters only') as string,
    });
    expect(receipt.warnings).toEqual([]);
    const there = (await bytesThere()).toString('latin1');
    expect(there.replace('new\n', '')).toBe(
      asked.operation === 'replace' ? 'Grüße\none\nthree\n' : LATIN_1.toString('latin1'),
    );
  });

  it.each(APPROVALS)(
    'and nothing else: the commit is refused, approval $kind',
    async (approval) => {
      const { tool } = await openWriteTool(root, { approval });
      await put(LATIN_1);
      await expect(streamed(tool, asked, 'né\n')).rejects.toMatchObject({
        code: 'TARGET_NOT_UTF8',
        message: expect.stringContaining('not pure ASCII') as string,
      });
      expect(await bytesThere()).toEqual(LATIN_1);
    },
  );

  it.each(APPROVALS)(
    'leaves a byte order mark out and names it, approval $kind',
    async (approval) => {
      const { tool } = await openWriteTool(root, { approval });
      await put(TEXT);
      const { receipt } = await streamed(tool, asked, '\ufeffné\n');
      expect(receipt.warnings).toEqual(['byte_order_mark_left_out']);
      expect(receipt.bytes).toBe(Buffer.byteLength('né\n'));
      expect(await textThere()).not.toContain('\ufeff');
      expect(await textThere()).toContain('\nné\n');
    },
  );
});

describe.each(APPROVALS)('R276: overwrite, approval $kind', (approval) => {
  it.each([
    ['utf-16le', Buffer.from(TEXT, 'utf16le')],
    ['8-bit', LATIN_1],
  ])('of %s says that the encoding changed', async (encoding, bytes) => {
    const { tool } = await openWriteTool(root, { approval });
    await put(bytes);
    const { result, receipt } = await streamed(tool, request('overwrite'), '\ufeffné\n');
    expect(result['encoding']).toBe(encoding);
    expect(receipt.warnings).toEqual(['encoding_changed']);
    // Here the mark begins the file.
    expect(await textThere()).toBe('\ufeffné\n');
  });

  it('of UTF-8 says nothing', async () => {
    const { tool } = await openWriteTool(root, { approval });
    await put('é\n');
    const { result, receipt } = await streamed(tool, request('overwrite'), 'né\n');
    expect(result).not.toHaveProperty('encoding');
    expect(receipt.warnings).toEqual([]);
  });
});

describe('R276, R298: plans', () => {
  const run = async (operation: object, more: object = {}) => {
    const { tool } = await openWriteTool(root);
    return tool.execute({
      intent: 'a test',
      target_file: 'a.txt',
      operations: [operation],
      ...more,
    });
  };

  it.each([
    { type: 'append', content: 'new\n' },
    { type: 'insert', content: 'new\n', marker: 'two', position: 'before' },
    { type: 'replace', content: 'new\n', start_marker: 'one', end_marker: 'three' },
    { type: 'replace_all', content: 'new', find: 'two' },
  ])('$type', async (operation) => {
    await put(Buffer.from(TEXT, 'utf16le'));
    const wide = await run(operation);
    expect(wide.results[0]?.error).toMatchObject({ code: 'TARGET_NOT_UTF8' });
    expect(await bytesThere()).toEqual(Buffer.from(TEXT, 'utf16le'));

    await put(LATIN_1);
    const refused = await run({ ...operation, content: 'é' });
    expect(refused.results[0]?.error).toMatchObject({ code: 'TARGET_NOT_UTF8' });
    expect(await bytesThere()).toEqual(LATIN_1);
    expect((await run(operation)).status).toBe('done');
    expect((await bytesThere()).toString('latin1')).toMatch(/^Grüße\n[^]*new/u);

    await put(TEXT);
    const marked = await run({ ...operation, content: '\ufeffé' });
    expect(marked.results[0]?.warnings).toContain('byte_order_mark_left_out');
    expect(marked.text).toContain('The byte order mark at the start of its text was left out.');
    expect(await textThere()).not.toContain('\ufeff');
  });

  it('an overwrite says that the encoding changed, and what follows it is UTF-8', async () => {
    await put(LATIN_1);
    const { tool } = await openWriteTool(root);
    const report = await tool.execute({
      intent: 'a test',
      target_file: 'a.txt',
      operations: [
        { type: 'overwrite', content: 'é\n' },
        { type: 'append', content: 'né\n' },
      ],
    });
    expect(report.results.map(({ warnings }) => warnings)).toEqual([['encoding_changed'], []]);
    expect(report.text).toContain('The file was not UTF-8 before; it is now.');
    expect(await textThere()).toBe('é\nné\n');
  });

  it('an append starts on a line of its own where the plan says so', async () => {
    await put('a\r\nb');
    const report = await run({ type: 'append', content: 'c\n', start_on_new_line: true });
    expect(report.results[0]).toMatchObject({ lines: 1, bytes: 5, warnings: [] });
    expect(await textThere()).toBe('a\r\nb\r\nc\r\n');
    const wrong = await run({ type: 'append', content: 'c\n', start_on_new_line: 'yes' });
    expect(wrong.results[0]?.error).toMatchObject({
      code: 'INVALID_OPERATION',
      message: 'start_on_new_line must be true or false.',
    });
  });
});

it('C3: a line inserted behind a last line without an ending is one line', async () => {
  const { tool } = await openWriteTool(root);
  await put('one\ntwo');
  const { receipt } = await streamed(tool, request('insert', { location: AT }), 'new\n');
  expect(receipt.lines).toBe(1);
  expect(await textThere()).toBe('one\ntwo\nnew');
});

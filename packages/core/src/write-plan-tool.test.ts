/**
 * Begins, plans and finalized sessions, word by word: what they are answered with, what the workspace is asked for, and
 * what the files hold. Other tests say what matters of it; this one notices any other change.
 * `vitest run packages/core/src/write-plan-tool.test.ts -u` writes the files anew.
 */
import { OrionError } from '@orion/contracts';
import type { JsonObject, PlanReport, TextRepair, WriteOperation } from '@orion/contracts';
import { createFakeClock } from '@orion/testkit';
import { describe, expect, test } from 'vitest';

import { inProcess } from './write-plan/testing/memory-files.ts';
import { createMemoryWorkspace } from './write-plan/testing/memory-workspace.ts';
import type { PlanEnds } from './write-plan/testing/memory-workspace.ts';
import type { ReviewRequest } from './write-plan/review.ts';
import { createWritePlanTool } from './write-plan-tool.ts';
import type { WritePlanToolOptions } from './write-plan-tool.ts';
import type { FinalizeFacts } from './write-plan/finalize-session.ts';

type Files = Readonly<Record<string, string | Uint8Array>>;

function open(files: Files, options: Partial<WritePlanToolOptions> = {}, ends: PlanEnds = {}) {
  const memory = createMemoryWorkspace(files, ends);
  let ids = 0;
  const tool = createWritePlanTool({
    workspace: memory.workspace,
    clock: createFakeClock(),
    createId: () => `7f3a0000-0000-4000-8000-00000000000${(ids += 1)}`,
    patterns: inProcess,
    ...options,
  });
  return { ...memory, tool };
}

function told(error: unknown): unknown {
  if (!OrionError.isInstance(error)) throw error;
  return { refused: error.toInfo(), details: error.details };
}

const lineOf = (value: unknown): string => JSON.stringify(value) ?? '';

/** Every scene with its name and its lines. */
async function golden(
  name: string,
  scenes: Readonly<Record<string, () => Promise<readonly unknown[]>>>,
): Promise<void> {
  const lines: string[] = [];
  for (const [scene, run] of Object.entries(scenes)) {
    lines.push(`== ${scene}`, ...(await run()).map(lineOf));
  }
  await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot(
    `__snapshots__/write-plan-tool/${name}.txt`,
  );
}

const textsOf = (files: ReadonlyMap<string, Buffer>): readonly object[] =>
  [...files].map(([path, bytes]) => ({ path, text: bytes.toString('latin1') }));

describe('plans', () => {
  const plan = async (
    files: Files,
    input: unknown,
    more: {
      readonly options?: Partial<WritePlanToolOptions>;
      readonly run?: object;
      readonly ends?: PlanEnds;
    } = {},
  ): Promise<readonly unknown[]> => {
    const opened = open(files, more.options, more.ends);
    const steps: unknown[] = [];
    const result = await opened.tool
      .execute(input, {
        onStep: (step) => steps.push(step.kind === 'finished' ? step.kind : step),
        ...more.run,
      })
      .then(
        ({ text, ...report }: PlanReport) => [report, ...text.split('\n')],
        (error: unknown) => [told(error)],
      );
    return [...steps, ...result, ...opened.asked, ...textsOf(opened.files)];
  };
  const op = (type: string, more: object = {}) => ({ type, target_file: 'a.md', ...more });
  const of = (...operations: readonly object[]) => ({ intent: 'a test', operations });
  const old = { 'a.md': 'one\ntwo\nthree\n' };

  test('what is done', () =>
    golden('plans-done', {
      create: () => plan({}, of(op('create', { content: 'new\n' }))),
      overwrite: () => plan(old, of(op('overwrite', { content: 'new' }))),
      append: () => plan({ 'a.md': 'old' }, of(op('append', { content: 'new\n' }))),
      'append on a new line': () =>
        plan({ 'a.md': 'old' }, of(op('append', { content: 'new\n', start_on_new_line: true }))),
      insert: () =>
        plan(
          old,
          of(op('insert', { content: 'x', location: { marker: 'one', position: 'after' } })),
        ),
      replace: () =>
        plan(
          old,
          of(
            op('replace', {
              content: 'x\ny',
              location: { start_marker: 'one', end_marker: 'three', include_markers: false },
            }),
          ),
        ),
      'replace by a pattern': () =>
        plan(
          old,
          of(
            op('replace', {
              content: '',
              location: {
                start_marker: '^t.o$',
                end_marker: 'th',
                include_markers: true,
                marker_type: 'regex',
              },
            }),
          ),
        ),
      'replace all': () => plan(old, of(op('replace_all', { search: 't', content: 'T' }))),
      'several, of one file and of two, in one plan': () =>
        plan(
          { ...old, 'b.md': 'b\r\n' },
          {
            ...of(
              op('append', { content: 'four\n' }),
              op('append', { content: 'five\n' }),
              { type: 'append', target_file: 'b.md', content: 'c\n' },
              { type: 'create', target_file: 'c.md', content: 'd' },
            ),
            safety_checks: { backup_required: true },
            atomic: false,
            eol: 'match',
          },
        ),
      'one operation': () =>
        plan(old, { operation: 'append', path: 'a.md', content: 'four\n', atomic: true }),
      'in a wrapper, with words of its own': () =>
        plan(old, { plan: { ...of(op('append', { content: 'x', mood: 1 })), color: 'red' } }),
      'left-out text': () =>
        plan(
          { 'a.py': 'def a():\n    return 1\n\n\ndef b():\n    return 2\n' },
          of({
            type: 'overwrite',
            target_file: 'a.py',
            content: 'def a():\n    return 3\n\n\n# ... rest of the code unchanged ...\n',
          }),
        ),
      approved: async () => {
        const shown: string[] = [];
        const review = async ({ changes }: ReviewRequest) => {
          for await (const line of changes[0]?.diff() ?? []) shown.push(line);
          return { approved: true };
        };
        const options = { approval: { kind: 'ask', review } } as const;
        const lines = await plan(old, of(op('append', { content: 'x\n' })), { options });
        return [...lines, ...shown];
      },
      'a dry run': () =>
        plan(
          { ...old, 'b.md': 'b\r\nc\r\n' },
          {
            ...of(
              op('replace', {
                content: 'x',
                location: { start_marker: 'two', end_marker: 'two', include_markers: true },
              }),
              { type: 'append', target_file: 'b.md', content: 'd\n' },
              { type: 'create', target_file: 'c.md', content: 'e\n' },
            ),
            dry_run: true,
          },
        ),
    }));

  test('what is not', () => {
    const error = new OrionError({ code: 'DISK_FULL', message: 'Full.', retryable: false });
    const result = {
      path: 'a.md',
      bytes: 1,
      lines: 1,
      sha256: 'f00d',
      eol: 'lf',
      bom: false,
      mode: '0644',
      warnings: [],
      not_kept: [],
    } as const;
    const two = of(op('append', { content: 'x' }), {
      type: 'create',
      target_file: 'b.md',
      content: 'y',
    });
    const inputs: Readonly<Record<string, unknown>> = {
      'no object': 'text',
      'a list': [],
      'no intent': { operations: [op('create')] },
      'a blank intent': { intent: ' ', operations: [op('create')] },
      'no operations': { intent: 'i' },
      'an empty list': { intent: 'i', operations: [] },
      'too many': { intent: 'i', operations: Array.from({ length: 10001 }, () => op('create')) },
      'a target that is no text': { ...of(op('create')), target_file: 1 },
      'safety that is none': { ...of(op('create')), safety_checks: [] },
      'an unknown check': { ...of(op('create')), safety_checks: { never: true } },
      'a check that is no flag': { ...of(op('create')), safety_checks: { must_exist: 'yes' } },
      'an unknown line ending': { ...of(op('create')), eol: 'cr' },
      'atomic that is no flag': { ...of(op('create')), atomic: 1 },
      'a dry run that is no flag': { ...of(op('create')), dry_run: 1 },
      'an operation that is none': of(7 as never),
      'an unknown type': of(op('dream', { content: 'x' })),
      'no content': of(op('append')),
      'content that is no text': of(op('append', { content: 5 })),
      'no target': of({ type: 'append', content: 'x' }),
      'a location that does not belong': of(op('append', { content: 'x', location: {} })),
      'no location': of(op('insert', { content: 'x' })),
      'an unknown position': of(
        op('insert', { content: 'x', location: { marker: 'one', position: 'at' } }),
      ),
      'an unknown marker type': of(
        op('insert', {
          content: 'x',
          location: { marker: 'o', position: 'after', marker_type: 'x' },
        }),
      ),
      'a marker that is not there': of(
        op('insert', { content: 'x', location: { marker: 'zero', position: 'after' } }),
      ),
      'a marker that is there twice': of(
        op('insert', { content: 'x', location: { marker: 'o', position: 'after' } }),
      ),
      'markers the wrong way round': of(
        op('replace', { content: 'x', location: { start_marker: 'three', end_marker: 'one' } }),
      ),
      'nothing to replace': of(op('replace_all', { search: 'zzz', content: 'x' })),
      'an empty search': of(op('replace_all', { search: '', content: 'x' })),
      'a file that is there': of(op('create', { content: 'x' })),
      'a file that has to be there': {
        ...of({ type: 'append', target_file: 'none.md', content: 'x' }),
        safety_checks: { must_exist: true },
      },
      'a file that is too large then': of(op('append', { content: 'x'.repeat(2_000) })),
      'one operation that fails': { operation: 'create', path: 'a.md', content: 'x' },
      'one operation without an intent or a content': { operation: 'append', target_file: 'a.md' },
      'one of several': of(
        op('append', { content: 'x' }),
        op('dream'),
        op('append', { content: 'y' }),
      ),
    };
    const ends: Readonly<Record<string, PlanEnds>> = {
      'a file failed': { 'a.md': { kind: 'failed', error }, 'b.md': { kind: 'skipped' } },
      'a file was restored': { 'a.md': { kind: 'restored' }, 'b.md': { kind: 'failed', error } },
      'a file stays changed': {
        'a.md': { kind: 'left', result, error, willBeRestored: false },
        'b.md': { kind: 'failed', error },
      },
      'a file is restored later': {
        'a.md': { kind: 'left', result, error, willBeRestored: true },
        'b.md': { kind: 'failed', error },
      },
    };
    const answer = (review: () => Promise<{ approved: boolean; reason?: string }>) => ({
      options: { approval: { kind: 'ask', review } as const },
    });
    return golden('plans-not-done', {
      ...Object.fromEntries(
        Object.entries(inputs).map(([name, input]) => [name, () => plan(old, input)]),
      ),
      ...Object.fromEntries(
        Object.entries(ends).map(([name, each]) => [name, () => plan(old, two, { ends: each })]),
      ),
      'never approved': () => plan(old, two, { options: { approval: { kind: 'never' } } }),
      'not approved': () =>
        plan(
          old,
          two,
          answer(async () => ({ approved: false })),
        ),
      'not approved, for a reason': () =>
        plan(
          old,
          two,
          answer(async () => ({ approved: false, reason: 'No.' })),
        ),
      'a reviewer that fails': () =>
        plan(
          old,
          two,
          answer(() => Promise.reject(new Error('gone'))),
        ),
      'called off before': () =>
        plan(old, two, { run: { signal: AbortSignal.abort(new Error('stop')) } }),
      'a file of another encoding': () =>
        plan({ 'a.md': Buffer.from('h\0i\0', 'latin1') }, of(op('append', { content: 'x' }))),
      'a file of eight bits': () =>
        plan(
          { 'a.md': Buffer.from('caf\u00e9\n', 'latin1') },
          of(op('append', { content: '\u00e9' })),
        ),
      'a file of eight bits, and ASCII': () =>
        plan({ 'a.md': Buffer.from('caf\u00e9\n', 'latin1') }, of(op('append', { content: 'e' }))),
    });
  });
});

describe('sessions', () => {
  const FACTS: FinalizeFacts = {
    start: 0,
    end: null,
    innerDoneLines: [],
    seams: [],
    repair: null,
    askOmissions: true,
    notes: { fence_stripped: false, warnings: [] },
  };
  const session = async (
    files: Files,
    args: JsonObject,
    texts: readonly string[],
    facts: Partial<FinalizeFacts> = {},
    options: Partial<WritePlanToolOptions> = {},
  ): Promise<readonly unknown[]> => {
    const opened = open(files, options);
    const tool = opened.tool.tool((request) => opened.tool.begin(request));
    const lines: unknown[] = [];
    try {
      const request = { intent: 'a test', target_file: 'a.md', ...args };
      const { result } = await tool.execute(request, { toolCallId: 'c' } as never);
      lines.push(result, tool.normalize?.(request));
      const [handle] = opened.sessions;
      if (handle === undefined) throw new Error('no session was begun');
      lines.push(handle.metadata);
      for (const text of texts) handle.append(text);
      const { id } = handle;
      const path = handle.contentPath();
      lines.push(await opened.tool.finalizeSession(id, path, { ...FACTS, ...facts }));
    } catch (error) {
      lines.push(told(error));
    }
    return [...lines, ...opened.asked, ...opened.journal, ...textsOf(opened.files)];
  };
  const create = { operation: 'create' };
  const seam = {
    line: 3,
    status: 'verified',
    via: 'anchor',
    lines_dropped: 1,
    text_set_aside: 0,
    conversion: 'none',
  } as const;
  const old = { 'a.md': 'one\ntwo\nthree\n' };
  const insert = { operation: 'insert', location: { marker: 'one', position: 'after' } };
  const replace = {
    operation: 'replace',
    location: { start_marker: 'one', end_marker: 'three', marker_type: 'string' },
  };
  const python = { 'a.md': 'def a():\n    return 1\n\n\ndef b():\n    return 2\n' };
  const leavesOut = 'def a():\n    return 3\n\n\n# ... rest of the code unchanged ...\n';
  const repair: TextRepair = { found: 1, replace: true, rounds: [] };

  test('what is written', () =>
    golden('sessions-written', {
      create: () => session({}, create, ['one\n', 'two\n']),
      'create, a part of the text, with an ending': () =>
        session({}, create, ['aside\none\ntwoDONE\n'], { start: 6, end: 13, lineEnding: '\n' }),
      'create, without a line ending': () =>
        session({}, { ...create, final_newline: false, keep_leading_blank_lines: true }, ['one']),
      overwrite: () => session({ 'a.md': '\r\nold\r\n' }, { operation: 'overwrite' }, ['new\n']),
      'append to an open line': () =>
        session({ 'a.md': 'old' }, { operation: 'append' }, ['new\n']),
      'append on a new line': () =>
        session({ 'a.md': 'old' }, { operation: 'append', start_on_new_line: true }, ['new\n'], {
          seams: [seam],
          innerDoneLines: [2],
        }),
      insert: () => session(old, insert, ['x\ny\n'], { seams: [seam], innerDoneLines: [1] }),
      replace: () => session(old, replace, ['x\n']),
      'left-out text that nobody asks about': () =>
        session(python, { operation: 'overwrite' }, [leavesOut], { askOmissions: false }),
      'hidden characters': () => session({}, create, ['a\u200bb\u202ec\n\u00a0\n']),
      'invalid text that is replaced': () => session({}, create, ['a\ud800b\n'], { repair }),
      'invalid text that was corrected': () =>
        session({}, create, ['a\ud800b\n'], {
          repair: { found: 1, replace: false, rounds: [[{ start: 1, end: 4, text: '\u00e4' }]] },
        }),
      'as it is': () =>
        session({ 'a.md': 'a\r\n' }, { operation: 'append' }, ['b\n'], {}, { eol: 'as-is' }),
      'in strict mode': () => session({}, create, ['a\n'], {}, { strict: true }),
      approved: () =>
        session(
          old,
          insert,
          ['x\n'],
          {},
          {
            approval: { kind: 'ask', review: async () => ({ approved: true }) },
          },
        ),
      'another target': () =>
        session(old, { operation: 'append' }, ['x\n'], {
          target: {
            operation: 'create',
            expected: {
              path: 'b.md',
              realPath: '/b.md',
              exists: false,
              sha256: null,
              bytes: 0,
              mode: 0,
              eol: 'none',
              bom: false,
            },
          },
          notes: { fence_stripped: true, final_newline_added: true, warnings: ['w'] },
        }),
    }));

  test('what is not', () => {
    const begins: Readonly<Record<string, JsonObject>> = {
      'no operation': {},
      'an unknown operation': { operation: 'dream' },
      'no intent': { ...create, intent: ' ' },
      'no target': { ...create, target_file: 7 },
      'a flag that is none': { ...create, final_newline: 'no' },
      'a location of another operation': { ...create, location: {} },
      'no location': { operation: 'insert' },
      'a place that is not there': {
        operation: 'insert',
        location: { marker: 'zero', position: 'after' },
      },
      ...Object.fromEntries(
        ['content', 'raw_content', 'content_block', 'text', 'file_content', 'body', 'data'].map(
          (key) => [`with ${key}`, { ...create, [key]: 'x' }],
        ),
      ),
      'a file that is there': create,
    };
    return golden('sessions-not-written', {
      ...Object.fromEntries(
        Object.entries(begins).map(([name, args]) => [name, () => session(old, args, [])]),
      ),
      'left-out text': () => session(python, { operation: 'overwrite' }, [leavesOut]),
      'invalid text': () => session({}, create, ['a\ud800b\nc\udfff']),
      'never approved': () => session({}, create, ['a'], {}, { approval: { kind: 'never' } }),
      'not approved': () =>
        session(
          {},
          create,
          ['a'],
          {},
          {
            approval: { kind: 'ask', review: async () => ({ approved: false, reason: 'No.' }) },
          },
        ),
      'another encoding': () =>
        session({ 'a.md': Buffer.from('h\0i\0', 'latin1') }, { operation: 'append' }, ['x']),
      'eight bits': () =>
        session({ 'a.md': Buffer.from('caf\u00e9\n', 'latin1') }, { operation: 'append' }, [
          '\u00e9',
        ]),
    });
  });

  test('a session that is not known, and a file that is not its own', async () => {
    const { tool } = open({});
    const { handle } = await tool.begin({
      intent: 'i',
      target_file: 'a.md',
      operation: 'create' satisfies WriteOperation,
      final_newline: true,
    });
    await expect(tool.finalizeSession('other', handle.contentPath(), FACTS)).rejects.toMatchObject({
      code: 'SESSION_NOT_FOUND',
      message: 'Session not found or expired. Please start a new write session.',
    });
    await expect(tool.finalizeSession(handle.id, '/etc/passwd', FACTS)).rejects.toMatchObject({
      code: 'INVALID_CONTENT_PATH',
      message: `/etc/passwd is not the content file of session ${handle.id}.`,
    });
    tool.forget(handle.id);
    await expect(
      tool.finalizeSession(handle.id, handle.contentPath(), FACTS),
    ).rejects.toMatchObject({ code: 'SESSION_NOT_FOUND' });
    tool.adopt(handle);
    expect(await tool.finalizeSession(handle.id, handle.contentPath(), FACTS)).toMatchObject({
      kind: 'written',
      receipt: { target_file: 'a.md', bytes: 0 },
    });
  });

  test('the tool that a model sees', () => {
    const { tool } = open({});
    const own = tool.tool(() => Promise.reject());
    expect(own.summarize?.({} as never)).toBe('The write session is open.');
    return golden('begin-tool', {
      tool: async () => [own],
      'in strict mode': async () => {
        const strict = open({}, { strict: true }).tool.tool(() => Promise.reject());
        return [strict.definition.description];
      },
    });
  });
});

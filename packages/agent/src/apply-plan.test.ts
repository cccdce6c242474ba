import { createHash } from 'node:crypto';
import { link, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { TraceEvent } from '@orion/contracts';
import { expect, it } from 'vitest';

import type { Orion, OrionOptions, ReviewRequest } from './index.ts';
import { temporaryDirectory, openOrion } from './testing/set-up.ts';

/** Hazard: a program that embeds Orion gets another contract than the command. R122, R123, R269. */

async function orionWith(
  options: Partial<OrionOptions> = {},
): Promise<{ readonly orion: Orion; readonly file: string }> {
  const workspace = await temporaryDirectory();
  const orion = await openOrion({ workspace, ...options });
  const file = join(workspace, 'a.txt');
  await writeFile(file, 'old\n');
  return { orion, file };
}

const PLAN = {
  intent: 'a test',
  target_file: 'a.txt',
  operations: [{ type: 'append', content: 'new\n' }],
};

it('takes the plan, or {plan} around it, and tells what came of it', async () => {
  const { orion, file } = await orionWith();
  expect((await orion.applyPlan(PLAN)).text).toBe('Appended 1 line to `a.txt`.');
  expect((await orion.applyPlan({ plan: PLAN })).status).toBe('done');
  expect(await readFile(file, 'utf8')).toBe('old\nnew\nnew\n');
});

const recordOf = (traces: readonly TraceEvent[]) =>
  traces.map(({ type, projectId, sessionId, details }) => ({
    type,
    projectId,
    sessionId,
    details,
  }));

it('D1, R231: a plan leaves received, validated, op and finished events', async () => {
  const traces: TraceEvent[] = [];
  const { orion } = await orionWith({ onTrace: (event) => traces.push(event) });
  const report = await orion.applyPlan(PLAN);
  const of = { projectId: orion.projectId, sessionId: report.plan_id };
  const plan_id = report.plan_id;
  const written = { index: 0, type: 'append', target: 'a.txt', bytes: 4, lines: 1 };
  expect(recordOf(traces)).toEqual([
    {
      type: 'write_plan_received',
      ...of,
      details: { plan_id, intent: 'a test', operations: 1, dry_run: false },
    },
    { type: 'write_plan_validated', ...of, details: { plan_id, files: 1, refused: 0 } },
    { type: 'write_plan_op', ...of, details: { ...written, status: 'done' } },
    {
      type: 'write_plan_finished',
      ...of,
      details: { plan_id, status: 'done', operations: 1, files: 1, codes: '' },
    },
  ]);
});

it('D1, R231: so does one that is refused, cancelled or no plan', async () => {
  const traces: TraceEvent[] = [];
  const { orion } = await orionWith({ onTrace: (event) => traces.push(event) });
  const told = (): readonly unknown[] =>
    traces.splice(0).map(({ type, details }) => [type, details]);
  const create = { type: 'create', content: '' };
  await orion.applyPlan({ ...PLAN, operations: [create, create] });
  expect(told()).toMatchObject([
    ['write_plan_received', { operations: 2 }],
    ['write_plan_validated', { refused: 2 }],
    ['write_plan_op', { index: 0, status: 'failed', code: 'FILE_EXISTS' }],
    ['write_plan_op', { index: 1, status: 'skipped' }],
    ['write_plan_finished', { status: 'failed', codes: 'FILE_EXISTS' }],
  ]);
  await orion.applyPlan(PLAN, { signal: AbortSignal.abort() }).catch(() => undefined);
  expect(told()).toMatchObject([
    ['write_plan_received', {}],
    ['write_plan_finished', { status: 'failed', codes: 'ABORTED' }],
  ]);
  await orion.applyPlan({}).catch(() => undefined);
  expect(told()).toEqual([
    [
      'write_plan_finished',
      { plan_id: null, status: 'failed', operations: 0, files: 0, codes: 'INVALID_PLAN' },
    ],
  ]);
});

it('D1: of very many operations the first thousand are recorded one by one', async () => {
  const traces: TraceEvent[] = [];
  const { orion } = await orionWith({ onTrace: (event) => traces.push(event) });
  const operations = Array.from({ length: 1001 }, () => ({ type: 'append', content: '' }));
  await orion.applyPlan({ ...PLAN, operations });
  expect(traces.filter(({ type }) => type === 'write_plan_op')).toHaveLength(1000);
  expect(traces.at(-1)?.details).toMatchObject({ operations: 1001 });
});

it('D1: an undo and a cleaning carry project and session', async () => {
  const traces: TraceEvent[] = [];
  const { orion } = await orionWith({ onTrace: (event) => traces.push(event) });
  const report = await orion.applyPlan(PLAN);
  traces.length = 0;
  await orion.undo();
  expect(recordOf(traces)).toMatchObject([
    { type: 'change_undone', projectId: orion.projectId, sessionId: report.plan_id },
  ]);
});

it('R237: one operation by itself works, and throws what it fails with', async () => {
  const { orion, file } = await orionWith();
  const report = await orion.applyPlan({ operation: 'append', path: 'a.txt', content: 'new\n' });
  expect(report).toMatchObject({
    status: 'done',
    intent: 'append a.txt',
    text: 'Appended 1 line to `a.txt`.',
  });
  await orion.applyPlan({
    operation: 'insert',
    path: 'a.txt',
    content: 'x\n',
    marker: 'new',
    position: 'before',
    intent: 'why',
    safety_checks: { backup_required: true },
  });
  expect(await readFile(file, 'utf8')).toBe('old\nx\nnew\n');
  expect(await readFile(`${file}.bak`, 'utf8')).toBe('old\nnew\n');
  const single = (more: object) =>
    orion.applyPlan({ operation: 'overwrite', path: 'a.txt', content: '', ...more });
  await expect(single({ operation: 'create' })).rejects.toMatchObject({ code: 'FILE_EXISTS' });
  await expect(single({ content: '\ud83d' })).rejects.toMatchObject({
    code: 'INVALID_CONTENT',
    details: { invalid_count: 1 },
  });
  await expect(single({ path: undefined })).rejects.toMatchObject({ code: 'INVALID_TARGET' });
  await expect(single({ operation: 5 })).rejects.toMatchObject({ code: 'INVALID_OPERATION' });
  expect((await single({ dry_run: true })).status).toBe('planned');
  expect(await readFile(file, 'utf8')).toBe('old\nx\nnew\n');
});

it('C4: the report has a whole receipt of each file', async () => {
  const { orion, file } = await orionWith();
  await writeFile(file, 'old');
  const report = await orion.applyPlan({
    ...PLAN,
    operations: [
      ...PLAN.operations,
      { type: 'append', content: 'x\ny\n' },
      { type: 'create', target_file: 'b.txt', content: 'b' },
    ],
  });
  const sha256 = createHash('sha256').update('oldnew\nx\ny\n').digest('hex');
  expect(report.receipts).toEqual([
    {
      plan_id: report.plan_id,
      target_file: 'a.txt',
      operation: 'append',
      bytes: 8,
      lines: 3,
      sha256,
      eol: 'lf',
      bom: false,
      mode: '0644',
      backup_id: report.changes[0]?.backup_id,
      backup_path: expect.stringContaining('/.orion/backups/') as string,
      warnings: ['joined_without_newline'],
      not_kept: [],
    },
    expect.objectContaining({ target_file: 'b.txt', operation: 'create', bytes: 1, lines: 1 }),
  ]);
  expect((await orion.applyPlan({ ...PLAN, dry_run: true })).receipts).toEqual([]);
});

it('C3: what is wrong with content is not said of its encoding', async () => {
  const { orion } = await orionWith();
  const { results } = await orion.applyPlan({
    ...PLAN,
    operations: [{ type: 'append', content: 5 }],
  });
  expect(results[0]?.error).toEqual({
    code: 'INVALID_CONTENT',
    message: 'content is required and must be a text; "" is allowed.',
    hint: 'Give the text of the operation as a JSON string.',
    retryable: false,
  });
});

it('rejects what is no plan, and reports what cannot be done', async () => {
  const { orion } = await orionWith();
  for (const plan of [null, 'x', [], {}, { ...PLAN, operations: 'all' }, { plan: null }]) {
    await expect(orion.applyPlan(plan)).rejects.toMatchObject({ code: 'INVALID_PLAN' });
  }
  const report = await orion.applyPlan({ ...PLAN, operations: [{ type: 'create', content: '' }] });
  expect(report.results).toMatchObject([{ status: 'failed', error: { code: 'FILE_EXISTS' } }]);
});

it('shows a reviewer what is about to be written, and writes only after a yes', async () => {
  const seen: ReviewRequest[] = [];
  let diff = '';
  const { orion, file } = await orionWith({
    approve: async (request) => {
      seen.push(request);
      for await (const line of request.changes[0]?.diff() ?? []) diff += `${line}\n`;
      return { approved: seen.length > 1, reason: 'too early' };
    },
  });
  const refused = await orion.applyPlan(PLAN);
  expect(refused).toMatchObject({
    status: 'failed',
    results: [{ error: { code: 'APPROVAL_REFUSED', message: 'too early' } }],
  });
  expect(await readFile(file, 'utf8')).toBe('old\n');
  expect(diff).toBe('--- a/a.txt\n+++ b/a.txt\n@@ -1 +1,2 @@\n old\n+new\n');
  expect(seen[0]?.changes).toMatchObject([
    { target_file: 'a.txt', real_path: file, operation: 'append', after: { bytes: 8 } },
  ]);
  const done = await orion.applyPlan(PLAN);
  expect(done.changes[0]?.after).toBe(seen[1]?.changes[0]?.after.sha256);
});

it('tells a reviewer of other names of the file, which keep its text', async () => {
  const seen: (boolean | undefined)[] = [];
  const { orion, file } = await orionWith({
    settings: { allowHardLink: true },
    approve: (request) => {
      seen.push(request.changes[0]?.hard_link);
      return Promise.resolve({ approved: false });
    },
  });
  await orion.applyPlan(PLAN);
  await link(file, `${file}.other`);
  await orion.applyPlan(PLAN);
  expect(seen).toEqual([false, true]);
});

it('takes a reviewer that fails for a no, and a cancelled one for the end', async () => {
  const { orion, file } = await orionWith();
  const failing = await orion.applyPlan(PLAN, { approve: () => Promise.reject(new Error('away')) });
  expect(failing.results[0]?.error?.message).toContain('away');
  const stop = new AbortController();
  const asking = orion.applyPlan(PLAN, {
    signal: stop.signal,
    approve: (_request, signal) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason as Error));
        stop.abort();
      }),
  });
  await expect(asking).rejects.toMatchObject({ code: 'ABORTED' });
  await expect(orion.applyPlan(PLAN, { signal: stop.signal })).rejects.toMatchObject({
    code: 'ABORTED',
  });
  expect(await readFile(file, 'utf8')).toBe('old\n');
  expect((await orion.applyPlan(PLAN, { approve: 'never' })).status).toBe('failed');
});

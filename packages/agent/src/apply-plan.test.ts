import { mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';

import { createOrion } from './index.ts';
import type { Orion, OrionOptions, ReviewRequest } from './index.ts';

/** Hazard: a program that embeds Orion gets another contract than the command. R122, R123, R269. */

async function orionWith(
  options: Partial<OrionOptions> = {},
): Promise<{ readonly orion: Orion; readonly file: string }> {
  const workspace = await realpath(await mkdtemp(join(tmpdir(), 'orion-plan-')));
  const orion = await createOrion({ workspace, store: 'memory', ...options });
  onTestFinished(async () => {
    await orion.close();
    await rm(workspace, { recursive: true, force: true });
  });
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
  const events: string[] = [];
  const { orion, file } = await orionWith({ onTrace: ({ type }) => events.push(type) });
  expect((await orion.applyPlan(PLAN)).text).toBe('Appended 1 line to `a.txt`.');
  expect((await orion.applyPlan({ plan: PLAN })).status).toBe('done');
  expect(await readFile(file, 'utf8')).toBe('old\nnew\nnew\n');
  expect(events.filter((type) => type === 'write_plan')).toHaveLength(2);
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

// A plan is applied exactly as it was shown, and every change can be looked at and undone over HTTP.
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import type {
  ChangeDiffAnswer,
  ChangesAnswer,
  PlanPreviewAnswer,
  PlanReport,
  UndoReport,
} from '@orion/contracts';
import { describe, expect, it } from 'vitest';

import { codeOf, startTestServer } from '../testing/test-server.ts';
import type { TestServer } from '../testing/test-server.ts';

const create = (target_file: string, content: string) => ({
  type: 'create',
  target_file,
  content,
});
const planOf = (...operations: readonly object[]) => ({ intent: 'Try it.', operations });

async function preview({ ask }: TestServer, plan: object): Promise<PlanPreviewAnswer> {
  const { status, json } = await ask('/api/plans/preview', { json: { plan } });
  expect(status).toBe(200);
  return json as PlanPreviewAnswer;
}

/** Previews and applies. */
async function apply(server: TestServer, plan: object): Promise<PlanReport> {
  const { previewHash } = await preview(server, plan);
  const { status, json } = await server.ask('/api/plans/apply', { json: { plan, previewHash } });
  expect(status).toBe(200);
  return json as PlanReport;
}

const textOf = (root: string, name: string): Promise<string | null> =>
  readFile(join(root, name), 'utf8').catch(() => null);

describe('a plan', () => {
  it('is shown, and changes nothing before it is applied', async () => {
    const server = await startTestServer();
    await writeFile(join(server.root, 'a.md'), 'one\ntwo\n');
    const plan = planOf(create('b.md', 'new\n'), {
      type: 'replace_all',
      target_file: 'a.md',
      find: 'two',
      content: 'TWO',
    });
    const { report, previewHash } = await preview(server, plan);
    expect(report).toMatchObject({ status: 'planned', results: [{}, { occurrences: 1 }] });
    expect(report.changes.map(({ diff }) => diff).join('')).toContain('-two\n+TWO');
    expect(await textOf(server.root, 'b.md')).toBeNull();
    const { json } = await server.ask('/api/plans/apply', { json: { plan, previewHash } });
    expect(json).toMatchObject({ status: 'done', receipts: [{}, {}] });
    expect([await textOf(server.root, 'a.md'), await textOf(server.root, 'b.md')]).toEqual([
      'one\nTWO\n',
      'new\n',
    ]);
  });

  it('that cannot be applied has no hash, and says why', async () => {
    const server = await startTestServer();
    const plan = planOf({ type: 'append', target_file: '../outside', content: 'x' });
    const { report, previewHash } = await preview(server, plan);
    expect([report.status, previewHash]).toEqual(['failed', null]);
    expect(report.results[0]?.error?.code).toBe('INVALID_TARGET');
  });

  it.each<[string, (root: string) => Promise<unknown>, object]>([
    ['a file was changed', (root) => writeFile(join(root, 'a.md'), 'edited\n'), {}],
    ['another plan is sent', () => Promise.resolve(), { intent: 'Something else.' }],
    ['another hash is sent', () => Promise.resolve(), { previewHash: 'abc' }],
  ])('is refused when %s since it was shown', async (_name, change, { ...other }) => {
    const server = await startTestServer();
    await writeFile(join(server.root, 'a.md'), 'one\n');
    const plan = planOf(
      { type: 'append', target_file: 'a.md', content: 'two\n' },
      create('b', 'x'),
    );
    const { previewHash } = await preview(server, plan);
    await change(server.root);
    const before = await textOf(server.root, 'a.md');
    const { previewHash: hash = previewHash, ...fields } = other as { previewHash?: string };
    const { status, json } = await server.ask('/api/plans/apply', {
      json: { plan: { ...plan, ...fields }, previewHash: hash },
    });
    expect([status, codeOf(json)]).toEqual([409, 'APPROVAL_STALE']);
    expect([await textOf(server.root, 'a.md'), await textOf(server.root, 'b')]).toEqual([
      before,
      null,
    ]);
  });

  it('is refused where no change is approved, whatever was shown', async () => {
    const server = await startTestServer({}, { approve: 'never' });
    const report = await apply(server, planOf(create('a.md', 'x\n')));
    expect(report.status).toBe('failed');
    expect(report.results[0]?.error?.code).toBe('APPROVAL_REFUSED');
    expect(await textOf(server.root, 'a.md')).toBeNull();
  });

  it('is asked about where a reviewer decides', async () => {
    const asked: string[] = [];
    const server = await startTestServer(
      {},
      {
        approve: ({ changes }) => {
          asked.push(...changes.map(({ target_file }) => target_file));
          return Promise.resolve({ approved: false, reason: 'Not today.' });
        },
      },
    );
    const report = await apply(server, planOf(create('a.md', 'x\n')));
    expect([asked, report.results[0]?.error?.message]).toEqual([['a.md'], 'Not today.']);
  });

  it('does not become a dry run by a key of its own, nor a preview an application', async () => {
    const server = await startTestServer();
    const plan = { ...planOf(create('a.md', 'x\n')), dry_run: true };
    expect((await apply(server, plan)).status).toBe('done');
    await preview(server, { ...planOf(create('b.md', 'x\n')), dry_run: false });
    expect(await textOf(server.root, 'b.md')).toBeNull();
  });

  it.each([
    [{ plan: 7 }, '400 INVALID_PLAN'],
    [{ plan: {} }, '400 INVALID_PLAN'],
    [{}, '400 REQUEST_INVALID'],
  ])('%j is answered %s', async (json, expected) => {
    const { ask } = await startTestServer();
    const answer = await ask('/api/plans/preview', { json });
    expect(`${answer.status} ${codeOf(answer.json)}`).toBe(expected);
  });
});

describe('changes', () => {
  it('are listed page by page, newest first', async () => {
    const server = await startTestServer();
    for (const name of ['a', 'b', 'c']) await apply(server, planOf(create(name, `${name}\n`)));
    const files: string[] = [];
    let query = '?limit=2';
    for (let pages = 0; query !== '' && pages < 4; pages++) {
      const { changes, next } = (await server.ask(`/api/changes${query}`)).json as ChangesAnswer;
      files.push(...changes.flatMap((change) => change.files.map((file) => file.target_file)));
      query = next === null ? '' : `?limit=2&before=${next}`;
    }
    expect(files).toEqual(['c', 'b', 'a']);
    const unknown = await server.ask('/api/changes?before=none');
    expect([unknown.status, codeOf(unknown.json)]).toEqual([404, 'CHANGE_NOT_FOUND']);
  });

  it('are shown as diffs, which say when not all of them is there', async () => {
    const server = await startTestServer();
    const long = `${'x'.repeat(99)}\n`.repeat(11_000);
    const line = `${'x'.repeat(100_000)}\n`;
    await apply(
      server,
      planOf(create('a.md', 'one\n'), create('long.md', long), create('b', line)),
    );
    const { changes } = (await server.ask('/api/changes')).json as ChangesAnswer;
    const { json } = await server.ask(`/api/changes/${changes[0]?.change_id}/diff`);
    const [short, cut, shortened] = (json as ChangeDiffAnswer).files;
    expect([short?.cut, short?.diff]).toEqual([false, expect.stringMatching(/\+one\n$/u)]);
    expect([cut?.cut, cut?.diff?.endsWith('\n')]).toEqual([true, true]);
    expect(cut?.diff?.length).toBeLessThanOrEqual(1024 * 1024);
    expect(cut?.diff?.length).toBeGreaterThan(1024 * 1024 - 200);
    expect(shortened).toMatchObject({ cut: true, diff: expect.stringContaining('+xxx') });
  });

  it('are undone, but not over a later edit unless that is asked for', async () => {
    const server = await startTestServer();
    const { plan_id: id } = await apply(server, planOf(create('a.md', 'one\n')));
    await writeFile(join(server.root, 'a.md'), 'edited\n');
    const undo = (json: object) => server.ask(`/api/changes/${id}/undo`, { json });
    const refused = await undo({});
    expect([refused.status, codeOf(refused.json)]).toEqual([409, 'TARGET_CHANGED']);
    expect(JSON.stringify(refused.json)).toContain('POST /api/changes/{id}/undo with force');
    expect(await textOf(server.root, 'a.md')).toBe('edited\n');
    const undone = await undo({ force: true });
    expect(undone.status).toBe(200);
    expect((undone.json as UndoReport).files).toMatchObject([{ outcome: 'removed' }]);
    expect(await textOf(server.root, 'a.md')).toBeNull();
    const none = await server.ask('/api/changes/none/undo', { json: {} });
    expect([none.status, codeOf(none.json)]).toEqual([404, 'CHANGE_NOT_FOUND']);
  });
});

import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { openStore } from '@orion/agent';
import type { ApprovalAnswer, ApprovalsAnswer } from '@orion/contracts';
import { systemClock } from '@orion/contracts';
import { callsReply, createFakeAdapter, textReply, toolCall } from '@orion/testkit';
import { expect, it, onTestFinished } from 'vitest';

import { makeDatabase } from '../testing/test-database.ts';
import { startTestServer, temporaryDirectory } from '../testing/test-server.ts';
import type { TestServer } from '../testing/test-server.ts';

/** Hazard: of two servers on one Postgres, the one that a person asks cannot show what the other one's turn would write. */

const begin = toolCall('w', 'WritePlanTool_begin', {
  intent: 'to test',
  target_file: 'a.txt',
  operation: 'overwrite',
});

/** A server whose turn waits for a yes, and another one that knows it from the store alone. */
async function startBoth(): Promise<{
  readonly workspace: string;
  readonly databaseUrl: string;
  readonly other: TestServer;
  readonly read: () => Promise<ApprovalAnswer>;
}> {
  const workspace = await temporaryDirectory();
  await writeFile(join(workspace, 'a.txt'), 'old\nsame\n');
  const databaseUrl = await makeDatabase();
  const replies = [callsReply([begin]), textReply('new\nsame\nDONE\n'), textReply('written')];
  const start = (adapter = createFakeAdapter([])): Promise<TestServer> => {
    const store = openStore({ kind: 'postgres', url: databaseUrl }, { clock: systemClock });
    onTestFinished(() => store.close());
    return startTestServer({ queue: 'pg-boss' }, { workspace, adapter, store, approve: 'ask' });
  };
  const asking = await start(createFakeAdapter(replies));
  await asking.ask('/api/chat/messages', {
    json: { content: 'Write it.' },
    headers: { accept: 'application/json' },
  });
  await expect.poll(() => asking.orion.store.approvals.countPending(), { timeout: 10_000 }).toBe(1);
  // Only now, so that the turn is the first one's.
  const other = await start();
  return {
    workspace,
    databaseUrl,
    other,
    async read() {
      const { json } = await other.ask('/api/approvals?state=pending');
      const [pending] = (json as ApprovalsAnswer).approvals;
      return (await other.ask(`/api/approvals/${pending?.approvalId}`)).json as ApprovalAnswer;
    },
  };
}

it('shows what the other one would write, and its yes is done there', async () => {
  const { workspace, other, read } = await startBoth();
  const { approvalId, hash, diffs } = await read();
  expect(diffs).toEqual([
    {
      target_file: 'a.txt',
      diff: expect.stringContaining('@@ -1,2 +1,2 @@\n-old\n+new\n same\n'),
      cut: false,
    },
  ]);
  const decided = await other.ask(`/api/approvals/${approvalId}`, {
    json: { decision: 'yes', hash },
  });
  expect(decided).toMatchObject({ status: 200, json: { state: 'yes' } });
  const written = (): Promise<string> => readFile(join(workspace, 'a.txt'), 'utf8');
  await expect.poll(written, { timeout: 10_000 }).toBe('new\nsame\n');
});

it('says that a question has no diff where an earlier version has asked, which stored none', async () => {
  const { workspace, databaseUrl, other, read } = await startBoth();
  const store = openStore({ kind: 'postgres', url: databaseUrl }, { clock: systemClock });
  await store.engineDatabase?.executeSql('update approval set diffs = null');
  await store.close();
  const { approvalId, hash, diffs, state } = await read();
  expect([state, diffs]).toEqual(['pending', [{ target_file: 'a.txt', diff: null, cut: false }]]);
  const decided = await other.ask(`/api/approvals/${approvalId}`, {
    json: { decision: 'no', hash },
  });
  expect(decided).toMatchObject({ status: 200, json: { state: 'no' } });
  expect(await readFile(join(workspace, 'a.txt'), 'utf8')).toBe('old\nsame\n');
});

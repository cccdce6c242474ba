// A status line may ask often: it gets counts, and nothing when they are the same.
import { createFakeClock } from '@orion/testkit';
import { expect, it } from 'vitest';

import { startTestServer } from '../testing/test-server.ts';

it('counts turns and write sessions, and says when nothing has changed', async () => {
  const clock = createFakeClock();
  const { ask, orion } = await startTestServer({ clock });
  const first = await ask('/api/status');
  expect(first.json).toEqual({
    projects: null,
    folder: orion.workspace,
    page: null,
    pendingApprovals: 0,
    turns: { queued: 0, running: 0 },
    writeSessions: { live: 0, unfinished: 0 },
  });
  const { etag = '' } = first.headers;
  expect(etag).toMatch(/^"[\w-]{22}"$/u);
  const again = async (tag: string) => {
    const answer = await ask('/api/status', { headers: { 'if-none-match': tag } });
    return [answer.status, answer.text === '', answer.headers.etag === etag];
  };
  for (const tag of [etag, `"x", W/${etag}`, '*'])
    expect(await again(tag)).toEqual([304, true, true]);
  expect(await again('"x"')).toEqual([200, false, true]);
  await orion.writeSessions.begin({
    intent: 'Try it.',
    target_file: 'a.md',
    operation: 'create',
  });
  // Counted at most twice a second.
  expect(await again(etag)).toEqual([304, true, true]);
  await clock.advance(500);
  expect(await again(etag)).toEqual([200, false, false]);
  expect((await ask('/api/status')).json).toMatchObject({
    writeSessions: { live: 1, unfinished: 0 },
  });
});

it('names the projects that are served', async () => {
  const { orion } = await startTestServer();
  const { ask } = await startTestServer({ projects: { docs: orion, api: orion } });
  expect((await ask('/api/status')).json).toMatchObject({
    projects: ['docs', 'api'],
    folder: null,
  });
});

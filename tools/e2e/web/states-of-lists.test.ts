// Hazard: a list that is loading, refused, old, or full of long names cannot be read or reached by everybody.
import { describe, expect } from 'vitest';

import { missingBrowser, useBrowser } from '../support/browser.ts';
import { judge } from './support/judge.ts';
import { fully } from './support/page-writes.ts';
import { openTold, refusal, SILENCE } from './support/told-page.ts';
import type { Told } from './support/told-page.ts';
import {
  approval,
  change,
  conversation,
  LONG_LINE,
  LONG_NAME,
  servedTurn,
  STATUS,
  tracedTurn,
  upload,
} from './support/told-answers.ts';

const STATUSES = [
  'open',
  'needs_corrections',
  'finalizing',
  'paused',
  'in_use',
  'damaged',
  'foreign',
];

/** A list, the route that it reads, and what that answers where there is much. */
const LISTS: readonly (readonly [view: string, path: string, route: string, full: object])[] = [
  [
    'Conversations',
    '/c',
    '/api/conversations',
    {
      conversations: [
        conversation(),
        conversation({ conversationId: 'd', title: '', messages: 1 }),
      ],
      next: 'later',
    },
  ],
  [
    'Writes',
    '/w',
    '/api/write-sessions',
    {
      sessions: STATUSES.map((status, index) =>
        upload({ session_id: `s${index}`, status: status as 'open', code: 'TARGET_CHANGED' }),
      ),
      total: 40,
    },
  ],
  [
    'Changes',
    '/changes',
    '/api/changes',
    {
      changes: [
        change(),
        change({ change_id: 'undone', status: 'undone', foreign: true }),
        change({ change_id: 'plan', files: [...change().files, ...change().files] }),
      ],
      next: 'later',
    },
  ],
  [
    'Traces',
    '/t',
    '/api/traces',
    {
      turns: [tracedTurn(), tracedTurn({ requestId: 'u', status: null, durationMs: null })],
      next: 7,
    },
  ],
];

const REFUSED = refusal('STORE_UNAVAILABLE', LONG_LINE, LONG_LINE);

describe.skipIf(missingBrowser !== null)('the states of lists', () => {
  const browser = useBrowser();

  for (const [view, path, route, full] of LISTS) {
    fully(`${view}: empty, loading, refused, old, and full`, async ({ machine }) => {
      const { page, open, tell } = await openTold(machine, browser());
      await open(path);
      await page.locator('.empty').waitFor();
      await judge(page, `${view}, empty`);
      await open(path, { [route]: SILENCE });
      await page.getByText('Loading…').waitFor();
      await judge(page, `${view}, loading`);
      await open(path, { [route]: REFUSED });
      await page.getByRole('group', { name: 'Error' }).waitFor();
      await judge(page, `${view}, refused`);
      await open(path, { [route]: full });
      await page.locator('main li').first().waitFor();
      await judge(page, `${view}, full`);
      if (route === '/api/write-sessions' || route === '/api/changes') {
        tell({ [route]: REFUSED });
        await page.getByText(/^As of/u).waitFor();
        await judge(page, `${view}, old`);
      }
      if (view === 'Conversations') {
        await page.getByRole('searchbox').fill('nowhere');
        await page.locator('main li').first().waitFor({ state: 'detached' });
        await judge(page, `${view}, not found`);
      }
    });
  }

  fully('Now: quiet, loading, refused, full; and what is above every view', async ({ machine }) => {
    const { page, open } = await openTold(machine, browser());
    const pending = '/api/approvals?state=pending';
    const running = '/api/turns?state=running';
    await open('/');
    await page.locator('.empty').waitFor();
    await judge(page, 'Now, quiet');
    await open('/', { '/api/turns': SILENCE, '/api/write-sessions': SILENCE });
    await page.getByText('Loading…').first().waitFor();
    await judge(page, 'Now, loading');
    await open('/', { '/api/turns': REFUSED, '/api/write-sessions': REFUSED, [pending]: REFUSED });
    await page.getByRole('group', { name: 'Error' }).first().waitFor();
    await judge(page, 'Now, refused');
    const full: Told = {
      '/api/status': { ...STATUS, page: 'another' },
      [running]: {
        turns: Array.from({ length: 6 }, (_, index) => servedTurn({ turnId: `t${index}` })),
      },
      [pending]: {
        approvals: Array.from({ length: 22 }, (_, index) => approval({ approvalId: `a${index}` })),
        next: null,
      },
      '/api/write-sessions': { sessions: [upload(), upload({ session_id: 'o' })], total: 2 },
      ...Object.fromEntries(
        Array.from({ length: 6 }, (_, index) => [`/api/turns/t${index}/events`, SILENCE]),
      ),
    };
    await open('/', full);
    await page.getByText('further approvals').waitFor();
    await page.getByText('another version of this page').waitFor();
    await page.getByText(LONG_NAME).first().waitFor();
    await judge(page, 'Now, full, with a newer version');
    await open('/', { ...full, '/api/status': { ...STATUS, folder: null, projects: ['a', 'b'] } });
    await page.getByText('2 projects').waitFor();
    await judge(page, 'Now, of several projects');
    await open('/');
    // The server has no such page: only a link within it leads there.
    await page.evaluate(() => history.pushState(null, '', '/nowhere'));
    await page.getByRole('heading', { level: 1, name: 'Not here' }).waitFor();
    await judge(page, 'no such view');
    await page.getByRole('button', { name: 'Keys' }).click();
    await page.getByRole('dialog').waitFor();
    await judge(page, 'keys');
    expect(await page.locator('dialog[open]').count()).toBe(1);
  });
});

// Hazard: a write waits for a reason that the page puts in the words of a model or a terminal, or offers what cannot succeed.
import { describe, expect } from 'vitest';

import {
  expectClean,
  missingBrowser,
  openPage,
  pageLink,
  sendMessage,
  useBrowser,
} from '../support/browser.ts';
import { at } from '../support/sandbox.ts';
import { numbered, writeDocument } from '../support/scripts.ts';
import { serve } from '../support/serve.ts';
import { upload } from '../support/upload.ts';
import { waitFor } from '../support/wait.ts';
import { fully } from './support/page-writes.ts';

/** Nobody's time is so far from it that it is today. */
const RECOVERED = { recovered_at: '2024-02-03T04:05:06.000Z' };
const ALL = ['Write a.txt…', 'Copy out', 'Discard…'];
const READ_ONLY = ['Copy out', 'Discard…'];
const IS_ANOTHER = 'The file is not the one that the write began with';

type Case = {
  readonly code: string;
  readonly words: string;
  readonly status?: string;
  readonly offers?: readonly string[];
  /** What is asked before anything is written, and what is chosen until somebody chooses. */
  readonly choice?: string;
};

const CASES: readonly Case[] = [
  { code: 'NO_DONE', words: 'The model stopped without saying that the file is complete.' },
  { code: 'SEAM_UNVERIFIED', words: 'could not be joined to it without doubt.' },
  { code: 'CONTENT_TOO_LARGE', words: 'the largest size that a file may have here.' },
  { code: 'TARGET_CHANGED', words: 'was changed by something else', choice: IS_ANOTHER },
  { code: 'FILE_EXISTS', words: 'Something else made a file of this name', choice: IS_ANOTHER },
  { code: 'TARGET_NOT_UTF8', words: 'The file is not UTF-8', offers: READ_ONLY },
  { code: 'INVALID_CONTENT', words: 'The text is not valid UTF-8 in some places.' },
  { code: 'EMPTY_CONTENT', words: 'There is no text yet.' },
  { code: 'VALIDATION_FAILED', words: 'Nothing was written; try again.' },
  { code: 'APPROVAL_REFUSED', words: 'The change was rejected. Nothing was written.' },
  { code: 'BUDGET_EXHAUSTED', words: 'A limit of the turn was reached.' },
  { code: 'ABORTED', words: 'The turn was stopped.' },
  { code: 'DISK_FULL', words: 'Free some space, then try again.' },
  { code: 'READ_ONLY', words: 'The file system is read-only' },
  { code: 'PERMISSION_DENIED', words: 'Check the permissions of the file and its directory.' },
  { code: 'PROTECTED_PATH', words: 'Choose another path, or have this one allowed.' },
  { code: 'PROVIDER_AUTH', words: 'Check the API key.' },
  { code: 'STREAM_BROKEN', words: 'The connection to the provider broke; try again.' },
  {
    code: 'SESSION_DAMAGED',
    status: 'damaged',
    words: 'Its files on the disk are not what Orion left there.',
    offers: READ_ONLY,
  },
  {
    code: 'SESSION_FOREIGN',
    status: 'foreign',
    words: 'It came with the folder, or another user began it.',
    offers: READ_ONLY,
  },
];

describe.skipIf(missingBrowser !== null)('why a write waits', () => {
  const browser = useBrowser();

  fully(
    `is said for each of ${CASES.length} codes, with the ways on that exist`,
    async ({ machine }) => {
      const server = await serve(machine);
      const id = await upload(server, 'a.txt', 'saved\n');
      const watched = await openPage(browser(), pageLink(server), { hasFakeClock: true });
      const { page } = watched;
      await page.getByRole('heading', { name: 'Now' }).waitFor();
      // The real answer, but for the reason.
      const { json: session } = await server.ask(`/api/write-sessions/${id}`);
      let [now] = CASES as [Case, ...Case[]];
      await page.route(`**/api/write-sessions/${id}`, (route) => {
        const { status = 'paused', code } = now;
        return route.fulfill({ json: { ...(session as object), status, code, ...RECOVERED } });
      });
      await page.getByRole('link', { name: 'a.txt' }).click();
      const ways = page.getByRole('region', { name: 'What can be done' });
      const dialog = page.getByRole('dialog');
      for (now of CASES) {
        const { code, words, status = 'paused', offers = ALL, choice } = now;
        const state = page.locator('.state', { hasText: `(${code})` });
        await waitFor(code, async () => {
          await page.clock.runFor(1000);
          return (await state.count()) === 1;
        });
        await page.getByText(/recovered Feb [234], 2024 \d\d:\d5/u).waitFor();
        const [said = ''] = await ways.locator('p').allTextContents();
        expect([code, said.includes(words), /[`$]|orion |--/u.test(said)]).toEqual([
          code,
          true,
          false,
        ]);
        expect(await state.textContent()).toContain(status === 'foreign' ? 'another' : status);
        expect([code, await ways.getByRole('button').allTextContents()]).toEqual([code, offers]);
        if (!offers.includes('Write a.txt…')) continue;
        await ways.getByRole('button', { name: 'Write a.txt…' }).click();
        await dialog.getByRole('cell', { name: 'saved' }).waitFor();
        const asked = await dialog.getByRole('group').locator('legend').allTextContents();
        expect([code, asked]).toEqual([code, choice === undefined ? [] : [choice]]);
        if (choice !== undefined)
          expect(await dialog.getByRole('radio', { name: /^Keep both/u }).isChecked()).toBe(true);
        await page.keyboard.press('Escape');
        await dialog.waitFor({ state: 'detached' });
      }
      expect(await machine.exists('a.txt')).toBe(false);
      expectClean(watched, server.url);
    },
  );

  fully(
    'that is still held as its turn ends can be acted on once it is free',
    async ({ machine }) => {
      const script = { target: 'a.txt', content: numbered('line', 1, 200) };
      const faults = [{ kind: 'stall', at: { lines: 100 } }] as const;
      const provider = await machine.provider(writeDocument(script, { faults }));
      const server = await serve(machine, at(provider));
      const { page } = await openPage(browser(), pageLink(server));
      await sendMessage(page, 'Write it.');
      await page.getByRole('link', { name: 'a.txt' }).click();
      await page.getByText('line 99').waitFor();
      await page.route('**/api/write-sessions/*', async (route) => {
        const { pathname } = new URL(route.request().url());
        const { json } = await server.ask(pathname);
        await route.fulfill({ json: { ...(json as object), status: 'in_use' } });
      });
      await page.getByRole('button', { name: 'Stop' }).click();
      await page.getByText('Another process writes it').waitFor();
      await page.unroute('**/api/write-sessions/*');
      await page.getByRole('button', { name: 'Write a.txt…' }).waitFor();
    },
  );
});

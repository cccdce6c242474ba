// Hazard: how a write is, or why it waits, cannot be read or reached by everybody.
import type { Page } from 'playwright-core';
import { describe, expect } from 'vitest';

import { missingBrowser, useBrowser } from '../support/browser.ts';
import { numbered } from '../support/scripts.ts';
import { judge } from './support/judge.ts';
import { fully } from './support/page-writes.ts';
import { openTold, refusal, SILENCE, turnSoFar } from './support/told-page.ts';
import type { Told } from './support/told-page.ts';
import {
  approvalAnswer,
  DIFF,
  HASH,
  LONG_LINE,
  LONG_NAME,
  LONG_WORD,
  receipt,
  upload,
} from './support/told-answers.ts';

const PATH = '/w/s?turn=t';
const STORED = '/api/write-sessions/s';
const EVENTS = '/api/turns/t/events';
const TEXT = `${numbered('a line of the file', 1, 300)}${LONG_LINE}\n${'x'.repeat(11_000)}\n`;
const BYTES = Buffer.byteLength(TEXT);
const ACTIVE = 'session_active.awaiting_done_or_more_content';
const SEAM = receipt().seams[0];

const session = (more: object = {}): object => ({
  type: 'write_session',
  sessionId: 's',
  status: ACTIVE,
  targetFile: LONG_NAME,
  operation: 'create',
  bytes: BYTES,
  lines: 302,
  durableBytes: 400,
  ...more,
});
const TEXT_CAME = {
  type: 'write_chunk',
  sessionId: 's',
  offset: 0,
  length: BYTES,
  content: TEXT,
  durableBytes: 400,
};
const BEGUN = session({
  status: 'session_active.awaiting_content',
  bytes: 0,
  lines: 0,
  durableBytes: 0,
});
const PAUSED = {
  session_id: 's',
  target_file: LONG_NAME,
  operation: 'create',
  code: 'NO_DONE',
  lines: 302,
  bytes: BYTES,
  session_dir: LONG_WORD,
  commands: [],
};
const DONE = { type: 'done', fullContent: '', protocolReason: 'default', status: 'paused' };

/** States of a write that a turn tells of, by what is seen of them. */
const TOLD: readonly (readonly [words: string, events: readonly object[]])[] = [
  ['waiting for text', [BEGUN]],
  ['receiving', [BEGUN, TEXT_CAME, session()]],
  [
    'asking where the file ends',
    [TEXT_CAME, session({ status: 'session_active.awaiting_answer' })],
  ],
  [
    'corrections 1 of 3',
    [
      TEXT_CAME,
      session({
        status: 'session_active.needs_corrections',
        corrections: { attempt: 1, max_attempts: 3, invalid_found: 1, places: [] },
      }),
    ],
  ],
  ['writing the file', [TEXT_CAME, session({ status: 'session_active.finalizing' })]],
  [
    'saving is held up',
    [
      session(),
      TEXT_CAME,
      {
        type: 'write_progress',
        sessionId: 's',
        receivedBytes: BYTES,
        savedBytes: 500,
        durableBytes: 400,
        lines: 302,
      },
      { type: 'chunk', source: 'notice', content: `The disk is full: ${LONG_LINE}` },
    ],
  ],
  ['recovered, receiving', [TEXT_CAME, session({ recovered: true, seam: SEAM })]],
  [
    'not written',
    [
      TEXT_CAME,
      { type: 'write_rewind', sessionId: 's', toOffset: 1000 },
      session({ status: 'aborted', bytes: 1000 }),
      { ...DONE, status: 'error' },
    ],
  ],
  [
    'paused',
    [
      TEXT_CAME,
      session({ status: 'session_active.paused', code: 'NO_DONE', paused: PAUSED }),
      DONE,
    ],
  ],
  // The server ended its turn.
  ['left unfinished', [TEXT_CAME, session(), { ...DONE, status: 'error' }]],
  [
    'written',
    [TEXT_CAME, session({ status: 'done', receipt: receipt() }), { ...DONE, status: 'complete' }],
  ],
];

/** States of a write that nobody writes. */
const LEFT = [
  { status: 'open', uploaded: true },
  { status: 'needs_corrections', uploaded: true },
  { status: 'finalizing' },
  { status: 'paused', code: 'TARGET_CHANGED', seams: receipt().seams },
  { status: 'in_use' },
  { status: 'damaged', code: 'SESSION_DAMAGED' },
  { status: 'foreign', code: 'SESSION_FOREIGN' },
] as const;

const stored = (more: Partial<ReturnType<typeof upload>>): Told => ({
  [STORED]: upload({ bytes: 0, saved_bytes: 0, ...more }),
  [`${STORED}/content`]: TEXT,
  [`${STORED}/diff`]: { session_id: 's', target_file: LONG_NAME, diff: DIFF, truncated: true },
});

const inDialog = async (page: Page, button: RegExp, state: string): Promise<void> => {
  await page.getByRole('button', { name: button }).click();
  await page.getByRole('dialog').waitFor();
  await judge(page, state);
};

describe.skipIf(missingBrowser !== null)('the states of a write', () => {
  const browser = useBrowser();

  fully('that a turn writes', async ({ machine }) => {
    const { page, open } = await openTold(machine, browser());
    for (const [words, events] of TOLD) {
      await open(PATH, {
        ...stored({ bytes: 10, code: 'NO_DONE' }),
        [EVENTS]: turnSoFar('t', events),
      });
      await page.locator('main .state', { hasText: words }).waitFor();
      if (words === 'paused') await page.getByText('The model stopped').waitFor();
      if (words === 'left unfinished')
        await page.getByRole('button', { name: /^Write /u }).waitFor();
      await judge(page, `a write: ${words}`);
    }
    await open(PATH, {
      '/api/approvals/a': approvalAnswer(),
      [EVENTS]: turnSoFar('t', [
        BEGUN,
        TEXT_CAME,
        { type: 'approval_requested', approvalId: 'a', sessionId: 's', action: {}, hash: 'h' },
      ]),
    });
    await page.locator('.approval [inert]').waitFor({ state: 'detached' });
    await page.getByRole('region', { name: 'Text of the file' }).press('Home');
    await page.getByRole('button', { name: /new line/u }).waitFor();
    await judge(page, 'a write that waits for a yes, read from its middle');
    await open(PATH, { [EVENTS]: SILENCE });
    await page.getByText('Waiting for the turn').waitFor();
    await judge(page, 'a write whose turn is awaited');
  });

  fully('whose text the disk has not confirmed for long', async ({ machine }) => {
    const { page, open } = await openTold(machine, browser());
    await page.clock.install();
    const turn = turnSoFar('t', [TEXT_CAME, session()]);
    await open(PATH, { ...stored({ bytes: BYTES }), [EVENTS]: turn });
    await page.locator('[data-live-text]').nth(1).waitFor();
    const content = `${LONG_LINE}\n`;
    const length = Buffer.byteLength(content);
    const marks = { receivedBytes: BYTES + length, savedBytes: BYTES + length, durableBytes: 400 };
    turn.goOn([
      { ...TEXT_CAME, offset: BYTES, length, content },
      { type: 'write_progress', sessionId: 's', ...marks, lines: 303 },
    ]);
    await page.getByText('303 lines here').waitFor();
    const standstill = page.getByRole('region', { name: 'Syncing is held up' });
    expect(await standstill.count()).toBe(0);
    await page.clock.setSystemTime((await page.evaluate(() => Date.now())) + 15_000);
    await standstill.getByText('the disk has confirmed nothing').waitFor();
    await judge(page, 'a write that is saved, and not synced');
  });

  fully('of more lines than are drawn', async ({ machine }) => {
    const { page, open } = await openTold(machine, browser());
    // The last lines are those to be read; of the others only the number counts.
    const content = `${'\n'.repeat(500_000)}${TEXT}`;
    const bytes = Buffer.byteLength(content);
    await open('/w/s', { ...stored({ bytes }), [`${STORED}/content`]: content });
    await page.getByText('500,302 lines here').waitFor();
    await page.getByText('500 earlier lines are not drawn here').waitFor();
    await judge(page, 'a write of more lines than are drawn');
  });

  fully('that nobody writes now', async ({ machine }) => {
    const { page, open } = await openTold(machine, browser());
    for (const state of LEFT) {
      await open('/w/s', stored({ bytes: BYTES, ...state }));
      await page.getByRole('button', { name: 'Copy out' }).waitFor();
      await page.locator('[data-live-text]').nth(1).waitFor();
      await judge(page, `a write that is left: ${state.status}`);
    }
    await open('/w/s', stored({ bytes: 10, code: 'TARGET_CHANGED' }));
    const refused = refusal(
      'QUESTION_OPEN',
      `Decide with --answer keep or --end-at 3. ${LONG_LINE}`,
      LONG_LINE,
      409,
    );
    await page.route(`**${STORED}/recover`, (route) =>
      route.fulfill({ status: refused.status, json: refused.body }),
    );
    await inDialog(page, /^Write /u, 'recover');
    await page.getByRole('button', { name: /^Write beside/u }).click();
    await page.getByText('QUESTION_OPEN').waitFor();
    await judge(page, 'recover, with a question');
    await page.keyboard.press('Escape');
    await inDialog(page, /^Discard/u, 'discard');
    await open('/w/s', { [STORED]: SILENCE });
    await page.getByText('Loading…').waitFor();
    await judge(page, 'a write, loading');
    await open('/w/s');
    await page.getByText('SESSION_NOT_FOUND').waitFor();
    await judge(page, 'a write that is not there');
    const done = { session_id: 's', status: 'done', target_file: LONG_NAME, operation: 'create' };
    await open('/w/s', { [STORED]: { ...done, sha256: HASH, receipt: null } });
    await page.getByText('Its receipt is not kept').waitFor();
    await judge(page, 'a write without its receipt');
    await open('/w/s', {
      ...stored({ bytes: 10 }),
      [`${STORED}/content`]: refusal('STORE_UNAVAILABLE', LONG_LINE, LONG_LINE),
    });
    await page.getByText('STORE_UNAVAILABLE').waitFor();
    await judge(page, 'a write whose text cannot be read');
  });
});

// Hazard: what somebody decides about, or why they cannot, cannot be read or reached by everybody.
import type { ApprovalAnswer } from '@orion/contracts';
import type { Page } from 'playwright-core';
import { describe } from 'vitest';

import { missingBrowser, useBrowser } from '../support/browser.ts';
import { judge } from './support/judge.ts';
import { fully } from './support/page-writes.ts';
import { openTold, refusal, SILENCE } from './support/told-page.ts';
import {
  approvalAnswer,
  COMMAND_ACTION,
  LONG_LINE,
  LONG_NAME,
  MCP_ACTION,
} from './support/told-answers.ts';

const ROUTE = '/api/approvals/a';
const NOBODY = { callId: 'call', sessionId: null, diffs: [] };
const DIFFS = [{ target_file: LONG_NAME, diff: `+${LONG_LINE}\n`, cut: true }];

const QUESTIONS: readonly (readonly [name: string, answer: ApprovalAnswer])[] = [
  ['of a write', approvalAnswer()],
  ['of a command', approvalAnswer({ ...NOBODY, action: COMMAND_ACTION })],
  ['of a tool of an MCP server', approvalAnswer({ ...NOBODY, action: MCP_ACTION })],
  ['of which only the beginning is here', approvalAnswer({ diffs: DIFFS })],
  [
    'that an earlier version has asked',
    approvalAnswer({ diffs: [{ target_file: LONG_NAME, diff: null, cut: false }] }),
  ],
];

const ENDS = ['yes', 'turn', 'no', 'expired', 'withdrawn'] as const;

/** What is shown takes a yes. */
const settled = (page: Page): Promise<void> =>
  page.locator('.approval [inert]').waitFor({ state: 'detached' });

describe.skipIf(missingBrowser !== null)('the states of an approval', () => {
  const browser = useBrowser();

  fully('that waits, and that is on its way', async ({ machine }) => {
    const { page, open } = await openTold(machine, browser());
    for (const [name, answer] of QUESTIONS) {
      await open('/a/a', { [ROUTE]: answer });
      await page.getByRole('button', { name: 'No', exact: true }).waitFor();
      await settled(page);
      await judge(page, `an approval ${name}`);
    }
    await open('/a/a', { [ROUTE]: SILENCE });
    await page.getByText('Loading…').waitFor();
    await judge(page, 'an approval, loading');
    await open('/a/a');
    await page.getByText('APPROVAL_NOT_FOUND').waitFor();
    await judge(page, 'an approval that is not there');
  });

  fully('that is decided, was decided, or is another one now', async ({ machine }) => {
    const { page, open, tell } = await openTold(machine, browser());
    for (const state of ENDS) {
      const decided = { state, diffs: [], reason: state === 'no' ? LONG_LINE : null };
      await open('/a/a', { [ROUTE]: approvalAnswer(decided) });
      await page.getByText('What it was about').click();
      await judge(page, `an approval, ${state}`);
    }
    const refused = async (code: 'APPROVAL_STALE' | 'APPROVAL_DECIDED'): Promise<void> => {
      await open('/a/a', { [ROUTE]: approvalAnswer() });
      await settled(page);
      // Only what is sent is refused.
      await page.route(`**${ROUTE}`, async (route) => {
        if (route.request().method() === 'GET') return route.fallback();
        if (code === 'APPROVAL_DECIDED') tell({ [ROUTE]: approvalAnswer({ state: 'yes' }) });
        const { status, body } = refusal(code, LONG_LINE, LONG_LINE, 409);
        await route.fulfill({ status, json: body });
      });
      await page.getByRole('button', { name: /^Yes: /u }).click();
    };
    await refused('APPROVAL_STALE');
    await page.getByText('APPROVAL_STALE').waitFor();
    await judge(page, 'an approval of what changed since');
    await refused('APPROVAL_DECIDED');
    await page.getByText('It had been decided before').waitFor();
    await judge(page, 'an approval that somebody else decided');
  });
});

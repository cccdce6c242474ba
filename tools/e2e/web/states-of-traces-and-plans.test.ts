// Hazard: a trace, a plan or an undo that cannot be had, or is longer than the screen, cannot be read by everybody.
import type { PlanReport, TracedEvent } from '@orion/contracts';
import { describe } from 'vitest';

import { missingBrowser, useBrowser } from '../support/browser.ts';
import { judge } from './support/judge.ts';
import { fully } from './support/page-writes.ts';
import { openTold, refusal, SILENCE } from './support/told-page.ts';
import { change, DIFF, HASH, LONG_LINE, LONG_NAME, LONG_WORD } from './support/told-answers.ts';

const REFUSED = refusal('STORE_UNAVAILABLE', LONG_LINE, LONG_LINE);

const event = (id: number, type: string, more: Partial<TracedEvent> = {}): TracedEvent => ({
  id,
  type,
  timestamp: id * 1000,
  projectId: 'p',
  requestId: 't',
  sessionId: null,
  source: null,
  summary: LONG_LINE,
  direction: null,
  toolName: null,
  phaseIndex: null,
  cycleIndex: null,
  truncated: false,
  hasError: false,
  ...more,
});
const EVENTS = [
  event(1, 'turn_started'),
  event(2, 'phase_start', { phaseIndex: 1 }),
  event(3, 'tool_call', { phaseIndex: 1, toolName: LONG_WORD }),
  event(4, 'tool_executed', { phaseIndex: 1, toolName: LONG_WORD, hasError: true }),
  event(5, 'phase_end', { phaseIndex: 1 }),
  event(6, 'turn_ended'),
];
const DETAILS = {
  text: LONG_LINE,
  details: {
    limits: [
      { limit: 'maxTurns', used: 3, most: 3 },
      { limit: 'maxSeconds', used: 2, most: 1_000_000 },
    ],
  },
};

const report = (more: Partial<PlanReport>): PlanReport => ({
  plan_id: 'plan',
  intent: LONG_LINE,
  status: 'planned',
  text: `Would overwrite ${LONG_NAME}: ${LONG_LINE}`,
  results: [],
  changes: [
    {
      target_file: LONG_NAME,
      operations: [0],
      status: 'planned',
      before: HASH,
      after: HASH,
      not_kept: [],
      diff: DIFF,
      diff_cut: true,
    },
  ],
  receipts: [],
  warnings: [LONG_LINE],
  ...more,
});

describe.skipIf(missingBrowser !== null)('the states of traces, plans and undo', () => {
  const browser = useBrowser();

  fully('a trace', async ({ machine }) => {
    const { page, open } = await openTold(machine, browser());
    const trace = { requestId: 't', events: EVENTS, next: null };
    const told = {
      '/api/traces': trace,
      '/api/traces/t/events/6': DETAILS,
      '/api/traces/t/events/4': DETAILS,
    };
    await open('/t/t', told);
    await page.getByText('(reached)').waitFor();
    await judge(page, 'a trace');
    await page.getByRole('row', { name: /tool_executed/u }).click();
    await page.getByRole('region', { name: 'tool_executed' }).getByText('limits').waitFor();
    await page.getByRole('searchbox').fill('nowhere');
    await page.keyboard.press('Enter');
    await judge(page, 'a trace, with details');
    await open('/t/t', { ...told, '/api/traces/t/events/4': REFUSED });
    await page.getByRole('row', { name: /tool_executed/u }).click();
    await page.getByText('STORE_UNAVAILABLE').waitFor();
    await judge(page, 'a trace whose details cannot be read');
    await open('/t/t', { '/api/traces': SILENCE });
    await page.getByText('Loading…').waitFor();
    await judge(page, 'a trace, loading');
    await open('/t/t', { '/api/traces': REFUSED });
    await page.getByText('STORE_UNAVAILABLE').waitFor();
    await judge(page, 'a trace, refused');
    // As many as are read without being asked for, all in one answer.
    const many = Array.from({ length: 50_000 }, (_, index) =>
      event(index + 1, 'model_response', { summary: index < 100 ? LONG_LINE : 'more' }),
    );
    await open('/t/t', { '/api/traces': { requestId: 't', events: many, next: 50_000 } });
    await page.getByText('50,000 events; there are more').waitFor();
    await judge(page, 'a trace of which there is more');
    await open('/t/nowhere');
    await page.getByText('Nothing is recorded of this turn').waitFor();
    await judge(page, 'a trace that is not there');
    await page.route('**/trace-view*.js', (route) => route.abort());
    await open('/t/t', told);
    await page.getByText('PAGE_OUTDATED').waitFor();
    await judge(page, 'a trace that cannot be drawn');
  });

  fully('a plan', async ({ machine }) => {
    const { page, open, tell } = await openTold(machine, browser());
    const [preview, apply] = ['/api/plans/preview', '/api/plans/apply'];
    const show = async (): Promise<void> => {
      await page.getByLabel('Its text').fill('{}');
      await page.getByRole('button', { name: 'Show what it would change' }).click();
    };
    await open('/plan', { [preview]: REFUSED });
    await page.locator('.empty').waitFor();
    await judge(page, 'no plan');
    await show();
    await page.getByText('STORE_UNAVAILABLE').waitFor();
    await judge(page, 'a plan, refused');
    tell({ [preview]: { report: report({ status: 'failed' }), previewHash: null } });
    await show();
    await page.getByText('It cannot be applied as it is.').waitFor();
    await judge(page, 'a plan that cannot be applied');
    tell({
      [preview]: { report: report({}), previewHash: HASH },
      [apply]: report({ status: 'failed' }),
    });
    await show();
    await page.getByRole('button', { name: 'Change 1 file' }).waitFor();
    await judge(page, 'a plan, shown');
    await page.getByRole('button', { name: 'Change 1 file' }).click();
    await page.getByText('Not applied').waitFor();
    await judge(page, 'a plan, not applied');
  });

  fully('a difference, and an undo', async ({ machine }) => {
    const { page, open, tell } = await openTold(machine, browser());
    const lines = Array.from({ length: 450 }, (_, line) => `+${line}\n`).join('');
    const files = [
      { target_file: LONG_NAME, diff: DIFF, cut: true },
      { target_file: LONG_NAME, diff: null, cut: false },
      { target_file: LONG_NAME, diff: `@@ -0,0 +1,450 @@\n${lines}`, cut: false },
    ];
    const told = {
      '/api/changes': { changes: [change()], next: null },
      '/api/changes/change/undo': refusal('TARGET_CHANGED', LONG_LINE, LONG_LINE, 409),
    };
    const diffs = '/api/changes/change/diff';
    await open('/changes', { ...told, [diffs]: { files } });
    await page.getByRole('button', { name: 'Diff' }).click();
    await page.getByRole('button', { name: 'Show 50 further lines' }).waitFor();
    await judge(page, 'a difference');
    tell({ ...told, [diffs]: { files: files.slice(0, 2) } });
    await page.getByRole('button', { name: 'Diff' }).click();
    await page.getByRole('button', { name: 'Undo…' }).click();
    await page.getByRole('dialog').getByRole('table').first().waitFor();
    await judge(page, 'undo');
    await page.getByRole('button', { name: /^Undo docs/u }).click();
    await page.getByText('TARGET_CHANGED').waitFor();
    await judge(page, 'undo of what was edited');
  });
});

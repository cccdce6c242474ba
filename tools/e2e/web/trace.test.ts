// Hazard: a long trace that takes the page, the keyboard or the focus with it.
import { DatabaseSync } from 'node:sqlite';

import { describe, expect } from 'vitest';

import { expectClean, missingBrowser, openPage, pageLink, useBrowser } from '../support/browser.ts';
import type { Sandbox } from '../support/sandbox.ts';
import { writeDocument } from '../support/scripts.ts';
import { say, serve } from '../support/serve.ts';
import { fully } from './support/page-writes.ts';
import { waitFor } from '../support/wait.ts';

const EVENTS = 10_000;

async function recordTurn(machine: Sandbox) {
  const provider = await machine.provider(writeDocument({ target: 'a.md', content: 'one\n' }));
  const server = await serve(machine, ['--base-url', provider.url, '--model', 'scripted']);
  const { events } = await say(server, { content: 'Write it.' });
  const requestId = events[0]?.requestId ?? '';
  await waitFor('the end of the trace', async () => {
    const { text } = await server.ask(`/api/traces?requestId=${requestId}`);
    return text.includes('turn_ended');
  });
  return { server, requestId };
}

/** As if its tool had been called until there were so many events. */
function lengthenTrace(machine: Sandbox, count: number): void {
  const database = new DatabaseSync(machine.path('.orion', 'orion.db'));
  const { columns } = database
    .prepare(
      `select group_concat(name) columns from pragma_table_info('trace_event')
       where name not in ('id', 'uid', 'summary')`,
    )
    .get() as { columns: string };
  const { recorded } = database.prepare('select count(*) recorded from trace_event').get() as {
    recorded: number;
  };
  database.exec(`
    insert into trace_event (summary, ${columns})
    with recursive step (number) as
      (select 1 union all select number + 1 from step where number < ${count - recorded})
    select 'step ' || number, ${columns} from step,
      (select ${columns} from trace_event where type = 'tool_call' limit 1);
    update trace_event set id = (select max(id) + 1 from trace_event) where type = 'turn_ended';
  `);
  database.close();
}

describe.skipIf(missingBrowser !== null)('a trace on the page', () => {
  const browser = useBrowser();

  fully(
    'of 10,000 events is read by keyboard alone: to event 9,000, into its details and back',
    async ({ machine }) => {
      const { server, requestId } = await recordTurn(machine);
      lengthenTrace(machine, EVENTS);
      const watched = await openPage(browser(), pageLink(server));
      const { page } = watched;
      await page.getByRole('heading', { name: 'Now' }).waitFor();
      await page.goto(`${server.url}/t/${requestId}`);
      await page.getByText('10,000 events').waitFor();
      const active = page.locator('[role=row][aria-selected=true]');

      await page.keyboard.press('/');
      await page.keyboard.type(':9000');
      await page.keyboard.press('Enter');
      await page.getByText('Event 9,000').waitFor();
      expect(await active.getAttribute('aria-rowindex')).toBe('9001');
      const said = await active.textContent();
      const nodes = await page.locator('*').count();
      expect(nodes).toBeLessThan(2000);

      await page.keyboard.press('Escape');
      await page.keyboard.press('j');
      const focused = (): Promise<string | null> =>
        page.evaluate(
          () =>
            document.activeElement?.getAttribute('role') ?? document.activeElement?.tagName ?? null,
        );
      expect(await focused()).toBe('treegrid');
      await page.keyboard.press('Enter');
      const details = page.getByRole('region', { name: 'tool_call' });
      await details.getByText('"argumentsLength"').waitFor();
      await expect.poll(focused).toBe('H2');
      const [, step = ''] = /(step \d+)/u.exec(said ?? '') ?? [];
      expect(await details.textContent()).toContain(`"summary": "${step}"`);
      await page.keyboard.press('Escape');
      await details.waitFor({ state: 'detached' });
      await expect.poll(focused).toBe('treegrid');
      expect(await active.getAttribute('aria-rowindex')).toBe('9001');

      await page.keyboard.press('ArrowUp');
      await expect.poll(() => active.getAttribute('aria-rowindex')).toBe('9000');
      await page.keyboard.press('End');
      await active.getByText('turn_ended').waitFor();
      await page.keyboard.press('Home');
      await active.getByText('turn_started').waitFor();
      expect(await page.locator('*').count()).toBeLessThan(2000);
      expectClean(watched, server.url);
    },
  );

  fully(
    'folds its phases, finds text in them, and says what the turn used of its limits',
    async ({ machine }) => {
      const { server, requestId } = await recordTurn(machine);
      const watched = await openPage(browser(), pageLink(server));
      const { page } = watched;
      await page.getByRole('heading', { name: 'Now' }).waitFor();
      await page.getByRole('navigation').getByRole('link', { name: 'Traces' }).click();
      await page.locator('main a[data-row]').first().click();
      expect(page.url()).toContain(requestId);
      const grid = page.getByRole('treegrid');
      await grid.waitFor();
      await page
        .getByRole('list', { name: 'Limits' })
        .getByText(/of 32,768 tokens of answers/u)
        .waitFor();

      const count = async (): Promise<number> => Number(await grid.getAttribute('aria-rowcount'));
      const all = await count();
      const phase = grid.getByRole('row', { expanded: true }).first();
      await phase.waitFor();
      await grid.focus();
      await page.keyboard.press('Home');
      while ((await grid.locator('[aria-selected=true]').getAttribute('aria-expanded')) === null)
        await page.keyboard.press('ArrowDown');
      await page.keyboard.press('ArrowLeft');
      await grid.getByRole('row', { expanded: false }).waitFor();
      expect(await count()).toBeLessThan(all);
      await page.getByLabel('Find an event').fill('llm_call');
      await page.keyboard.press('Enter');
      await page.getByText(/^Event \d+$/u).waitFor();
      expect(await count()).toBe(all);
      expect(await grid.locator('[aria-selected=true]').textContent()).toContain('llm_call');
      expectClean(watched, server.url);
    },
  );
});

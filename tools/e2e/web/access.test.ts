// The page for a keyboard, a screen reader, a phone and forced colours.
import { describe, expect } from 'vitest';

import { missingBrowser, openPage, pageLink, useBrowser } from '../support/browser.ts';
import { numbered, writeDocument } from '../support/scripts.ts';
import { serve } from '../support/serve.ts';
import { test } from '../support/test.ts';
import { findings, findingsInAll } from './support/axe.ts';
import { goTo, hasFocus, press } from './support/keyboard.ts';
import { fully } from './support/page-writes.ts';

const VIEWS = ['Now', 'Conversations', 'Writes', 'Changes', 'Traces', 'Plan'];

describe.skipIf(missingBrowser !== null)('access to the page', () => {
  const browser = useBrowser();

  fully(
    'views, with a written file, in light, dark and forced colours, on 360 pixels',
    async ({ machine }) => {
      const content = numbered('a rather long line of text that does not fit on a phone', 1, 300);
      const provider = await machine.provider(
        writeDocument({ target: 'docs/a-long-name/of-a-file.md', content }),
      );
      const server = await serve(machine, ['--base-url', provider.url, '--model', 'scripted']);
      const { page } = await openPage(browser(), pageLink(server));
      await page.getByRole('navigation').getByRole('link', { name: 'Conversations' }).click();
      await page.getByRole('link', { name: 'New conversation' }).click();
      await page.getByLabel('Message').fill('Write it.');
      await page.keyboard.press('Control+Enter');
      await page.getByRole('region', { name: 'Receipt' }).waitFor();
      expect(await findings(page)).toEqual([]);
      await page.getByRole('button', { name: 'Diff' }).click();
      await page.getByRole('table').first().waitFor();
      expect(await findings(page)).toEqual([]);

      await page.setViewportSize({ width: 360, height: 640 });
      for (const view of VIEWS) {
        await page.getByRole('navigation').getByRole('link', { name: view }).click();
        await page.getByRole('heading', { level: 1, name: view }).waitFor();
        expect([view, await findingsInAll(page)]).toEqual([view, []]);
        const width = await page.evaluate(() => document.documentElement.scrollWidth);
        expect([view, width]).toEqual([view, 360]);
      }
    },
  );

  test('a message is sent, a file looked at and a change undone by keyboard alone', async ({
    machine,
  }) => {
    const provider = await machine.provider(
      writeDocument({ target: 'a.md', content: 'one\ntwo\n' }),
    );
    const server = await serve(machine, ['--base-url', provider.url, '--model', 'scripted']);
    const { page } = await openPage(browser(), pageLink(server));
    await page.getByRole('heading', { name: 'Now' }).waitFor();
    await press(page, 'Conversations');
    await page.getByRole('heading', { level: 1, name: 'Conversations' }).waitFor();
    await press(page, 'New conversation');
    await page.getByLabel('Message').waitFor();
    await goTo(page, 'Message');
    await page.keyboard.type('Write it.');
    await page.keyboard.press('Control+Enter');
    await page.getByRole('region', { name: 'Receipt' }).waitFor();
    await press(page, /^Undo… a\.md, change /u);
    await page.getByRole('dialog').waitFor();
    await press(page, 'Undo a.md');
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
    await hasFocus(page);
    expect(await machine.exists('a.md')).toBe(false);
  });
});

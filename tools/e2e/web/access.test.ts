// The page for a keyboard, a screen reader, a phone and forced colours.
import { describe, expect } from 'vitest';

import { missingBrowser, openPage, pageLink, useBrowser } from '../support/browser.ts';
import { numbered, writeDocument } from '../support/scripts.ts';
import { serve } from '../support/serve.ts';
import { test } from '../support/test.ts';
import { findings, findingsInAll } from './support/axe.ts';

const VIEWS = ['Now', 'Conversations', 'Writes', 'Changes', 'Traces', 'Plan'];

describe.skipIf(missingBrowser !== null)('access to the page', () => {
  const browser = useBrowser();

  test('every view, with a written file, in light, dark and forced colours, on 360 pixels', async ({
    machine,
  }) => {
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
  });

  test('a message is sent, a file looked at and a change undone by keyboard alone', async ({
    machine,
  }) => {
    const provider = await machine.provider(
      writeDocument({ target: 'a.md', content: 'one\ntwo\n' }),
    );
    const server = await serve(machine, ['--base-url', provider.url, '--model', 'scripted']);
    const { page } = await openPage(browser(), pageLink(server));
    await page.getByRole('heading', { name: 'Now' }).waitFor();
    /** Tabs to what has this name, and says whether one can see where one is. */
    const goTo = async (name: string): Promise<void> => {
      for (let step = 0; step < 60; step += 1) {
        await page.keyboard.press('Tab');
        const at = await page.evaluate(() => {
          const { activeElement: element } = document;
          if (element === null || element === document.body) return null;
          const label =
            element instanceof HTMLTextAreaElement
              ? element.labels[0]?.textContent
              : element.textContent;
          return { name: label ?? '', isSeen: getComputedStyle(element).outlineStyle !== 'none' };
        });
        if (at?.name.trim() !== name) continue;
        expect([name, at.isSeen]).toEqual([name, true]);
        return;
      }
      throw new Error(`the keyboard does not lead to ${name}`);
    };
    await goTo('Conversations');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Conversations' }).waitFor();
    await goTo('New conversation');
    await page.keyboard.press('Enter');
    await page.getByLabel('Message').waitFor();
    await goTo('Message');
    await page.keyboard.type('Write it.');
    await page.keyboard.press('Control+Enter');
    await page.getByRole('region', { name: 'Receipt' }).waitFor();
    await goTo('Undo…');
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').waitFor();
    await goTo('Undo a.md');
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
    expect(await machine.exists('a.md')).toBe(false);
  });

  test('a draft outlives a reload, and a double click sends one turn', async ({ machine }) => {
    const provider = await machine.provider(writeDocument({ target: 'a.md', content: 'one\n' }));
    const server = await serve(machine, ['--base-url', provider.url, '--model', 'scripted']);
    const { page } = await openPage(browser(), pageLink(server));
    await page.getByRole('navigation').getByRole('link', { name: 'Conversations' }).click();
    await page.getByRole('link', { name: 'New conversation' }).click();
    await page.getByLabel('Message').fill('Write it, once.');
    await page.reload();
    await page.getByLabel('Message').waitFor();
    expect(await page.getByLabel('Message').inputValue()).toBe('Write it, once.');
    await page.getByRole('button', { name: 'Send' }).dblclick();
    await page.getByRole('region', { name: 'Receipt' }).waitFor();
    const { json } = await server.ask('/api/turns');
    expect((json as { turns: unknown[] }).turns).toHaveLength(1);
    expect(await page.getByLabel('Message').inputValue()).toBe('');
  });
});

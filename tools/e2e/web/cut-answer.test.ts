// An answer on the page whose connection breaks again and again: its text is in the events, so an event that is read
// twice, or never, is seen in it.
import { describe, expect } from 'vitest';

import { missingBrowser, openPage, pageLink, useBrowser } from '../support/browser.ts';
import { serve } from '../support/serve.ts';
import { waitFor } from '../support/wait.ts';
import { startProxy } from './support/page-proxy.ts';
import { fully } from './support/page-writes.ts';

const CUTS = 20;
const WORDS = Array.from({ length: 1500 }, (_, index) => `word${index + 1}`);

describe.skipIf(missingBrowser !== null)('an answer on the page', () => {
  const browser = useBrowser();

  fully('has each word once and in order over 20 cut connections', async ({ machine }) => {
    const provider = await machine.provider({
      shape: { chunk: { min: 10, max: 30 }, eventsPerSecond: 60 },
      behaviours: [{ reply: { text: WORDS.join(' ') } }],
    });
    const proxy = await startProxy();
    const server = await serve(machine, [
      '--base-url',
      provider.url,
      '--model',
      'scripted',
      '--allow-host',
      `127.0.0.1:${proxy.port}`,
    ]);
    proxy.leadTo(server.port);
    const link = new URL(pageLink(server));
    link.port = String(proxy.port);
    const { page } = await openPage(browser(), link.href);
    await page.getByRole('navigation').getByRole('link', { name: 'Conversations' }).click();
    await page.getByRole('link', { name: 'New conversation' }).click();
    await page.getByLabel('Message').fill('Count.');
    await page.getByRole('button', { name: 'Send' }).click();
    const turn = page.getByRole('article', { name: 'Turn' });
    await turn.waitFor();
    const words = async (): Promise<readonly string[]> =>
      (await turn.innerText()).match(/\bword\d+/gu) ?? [];
    for (let cut = 1; cut <= CUTS; cut += 1) {
      const before = (await words()).length;
      await waitFor('further words', async () => (await words()).length > before);
      proxy.cut();
    }
    await waitFor('the end', async () => (await turn.getAttribute('aria-busy')) === 'false');
    expect(await words()).toEqual(WORDS);
  });
});

// Hazard: a page that a newer server breaks, or that takes away what somebody is typing.
import { describe, expect } from 'vitest';

import { expectClean, missingBrowser, useBrowser } from '../support/browser.ts';
import { writeDocument } from '../support/scripts.ts';
import { startProxy } from './support/page-proxy.ts';
import { fully } from './support/page-writes.ts';
import { openServed } from './support/served-page.ts';
import { waitFor } from '../support/wait.ts';

describe.skipIf(missingBrowser !== null)('a page of another version than its server', () => {
  const browser = useBrowser();

  fully(
    'offers the other one, is not reloaded by itself, and shows events that it does not know',
    async ({ machine }) => {
      const proxy = await startProxy();
      const script = writeDocument({ target: 'a.md', content: 'one\ntwo\n' });
      const surroundings = { proxy, hasFakeClock: true };
      const served = await openServed(machine, browser(), script, surroundings);
      const { page, server, watched } = served;
      await page.getByRole('heading', { name: 'Now' }).waitFor();
      const offer = page.getByText('another version of this page');
      let answers = 0;
      page.on('response', (response) => {
        if (response.url().endsWith('/api/status')) answers += 1;
      });
      await waitFor('two further answers', async () => {
        await page.clock.fastForward(31_000);
        return answers > 1;
      });
      expect(await offer.count()).toBe(0);

      const { json } = await server.ask('/api/status');
      const { page: version } = json as { page: string };
      proxy.rewrite(version, 'f'.repeat(version.length));
      // As a newer server would name and send them.
      proxy.rewrite('"type":"usage"', '"type":"u5age"');
      proxy.rewrite('event: usage', 'event: u5age');
      await page.getByRole('navigation').getByRole('link', { name: 'Conversations' }).click();
      await page.getByRole('link', { name: 'New conversation' }).click();
      await page.getByLabel('Message').fill('Write it.');
      // More than once: a question that is still on its way when time passes may have been answered as before.
      await waitFor('the offer', async () => {
        await page.clock.fastForward(31_000);
        return (await offer.count()) === 1;
      });
      expect(await page.getByLabel('Message').inputValue()).toBe('Write it.');
      await page.getByRole('button', { name: 'Send' }).click();
      await page.getByRole('region', { name: 'Receipt' }).waitFor();
      await page.getByText('u5age').first().waitFor();
      expect(String(await machine.read('a.md'))).toBe('one\ntwo\n');

      await page.getByLabel('Message').fill('And more.');
      await page.getByRole('button', { name: 'Load it' }).click();
      await page.locator('main').getByText('Write it.').first().waitFor();
      await page.getByLabel('Message').waitFor();
      expect(await page.getByLabel('Message').inputValue()).toBe('And more.');
      expectClean(watched, `http://127.0.0.1:${proxy.port}`);
    },
  );
});

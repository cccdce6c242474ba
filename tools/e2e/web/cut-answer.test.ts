// An answer on the page whose connection breaks again and again: its text is in the events, so an event that is read
// twice, or never, is seen in it.
import { describe, expect } from 'vitest';

import { missingBrowser, sendMessage, useBrowser } from '../support/browser.ts';
import { waitFor } from '../support/wait.ts';
import { startProxy } from './support/page-proxy.ts';
import { fully } from './support/page-writes.ts';
import { openServed } from './support/served-page.ts';

const CUTS = 20;
/** At its pace they take two minutes, which no test does. */
const WORDS = Array.from({ length: 8000 }, (_, index) => `word${index + 1}`);

describe.skipIf(missingBrowser !== null)('an answer on the page', () => {
  const browser = useBrowser();

  fully('has each word once and in order over 20 cut connections', async ({ machine }) => {
    const proxy = await startProxy();
    const script = {
      shape: { chunk: { min: 10, max: 30 }, eventsPerSecond: 30 },
      behaviours: [{ reply: { text: WORDS.join(' ') } }],
    };
    const { page, provider } = await openServed(machine, browser(), script, { proxy });
    await sendMessage(page, 'Count.');
    const turn = page.getByRole('article', { name: 'Turn' });
    await turn.waitFor();
    const words = async (): Promise<readonly string[]> =>
      (await turn.innerText()).match(/\bword\d+/gu) ?? [];
    for (let cut = 1; cut <= CUTS; cut += 1) {
      const before = (await words()).length;
      await waitFor('further words', async () => (await words()).length > before);
      proxy.cut();
    }
    provider.hurry();
    await waitFor('the end', async () => (await turn.getAttribute('aria-busy')) === 'false');
    expect(await words()).toEqual(WORDS);
  });
});

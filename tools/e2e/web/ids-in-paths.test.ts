// Hazard: a client may name a conversation as it likes, and the page leads to another one, or is blank.
import { describe, expect } from 'vitest';

import { missingBrowser, useBrowser } from '../support/browser.ts';
import { fully } from './support/page-writes.ts';
import { conversation, servedTurn } from './support/told-answers.ts';
import { openTold, turnSoFar } from './support/told-page.ts';

describe.skipIf(missingBrowser !== null)('the id in the path of a view', () => {
  const browser = useBrowser();

  fully.for(['a%b', 'a%2Fb', 'a/b', 'a?b#c', '%', 'ä %25'])(
    'is the one that was given: %j',
    async (conversationId, { machine }) => {
      const { page, open } = await openTold(machine, browser());
      const told = {
        '/api/turns?state=running': { turns: [servedTurn({ conversationId })] },
        '/api/turns/t/events': turnSoFar('t', [{ type: 'chunk', source: 'model', content: 'so' }]),
        [`/api/conversations/${encodeURIComponent(conversationId)}`]: {
          ...conversation({ conversationId, title: 'The one' }),
          from: 0,
          history: [{ role: 'user', content: 'Hello' }],
        },
      };
      await open('/', told);
      await page.getByRole('link', { name: 'Open the conversation' }).click();
      await page.getByRole('heading', { name: 'The one' }).waitFor();
      expect(new URL(page.url()).pathname).toBe(`/c/${encodeURIComponent(conversationId)}`);
      await page.reload();
      await page.getByRole('heading', { name: 'The one' }).waitFor();
    },
  );

  fully('is taken as it is where it is not encoded', async ({ machine }) => {
    const { page, open } = await openTold(machine, browser());
    await open('/c/100%');
    await page.getByRole('heading', { name: 'New conversation' }).waitFor();
  });
});

// Hazard: on the way through the pages of a conversation, what was drawn is drawn again, or is gone.
import { describe, expect } from 'vitest';

import { missingBrowser, useBrowser } from '../support/browser.ts';
import { fully } from './support/page-writes.ts';
import { conversation } from './support/told-answers.ts';
import { openTold, turnSoFar } from './support/told-page.ts';
import type { Told } from './support/told-page.ts';

const STORED = '/api/conversations/c';
const EARLIER = [
  { role: 'user', content: 'The first question' },
  { role: 'assistant', content: 'The first answer' },
];
const LATER = [
  { role: 'user', content: 'The second question' },
  { role: 'assistant', content: 'The second answer' },
];
const DRAWN = [
  { role: 'user', content: 'The third question' },
  { role: 'assistant', content: 'The third answer' },
];

const told = (title: string, stored: readonly object[]): Told => ({
  [STORED]: { ...conversation({ title }), from: 2, history: stored },
  [`${STORED}?before=2`]: { ...conversation({ title: 'Earlier' }), from: 0, history: EARLIER },
  '/api/turns?state=running': { turns: [] },
  '/api/chat/messages': { turnId: 't', requestId: 't' },
  '/api/turns/t/events': turnSoFar('t', [
    { type: 'chunk', source: 'model', content: 'The third answer' },
    { type: 'done', fullContent: '', protocolReason: 'default', status: 'complete' },
  ]),
});

describe.skipIf(missingBrowser !== null)('the pages of a conversation', () => {
  const browser = useBrowser();

  fully('a turn is there once, on every page and after each way back', async ({ machine }) => {
    const { page, open, tell } = await openTold(machine, browser());
    await open('/c/c', told('A talk', LATER));
    await page.getByText('The second answer').waitFor();
    await page.getByLabel('Message').fill('The third question');
    await page.getByRole('button', { name: 'Send' }).click();
    await page.getByText('The third answer').waitFor();
    const seen = (): Promise<readonly string[]> =>
      page.getByText(/^The (?:first|second|third) (?:question|answer)$/u).allTextContents();
    const contents = (messages: typeof DRAWN): readonly string[] =>
      messages.map(({ content }) => content);
    for (const title of ['A longer talk', 'The same talk']) {
      // What the turn has stored comes with every later answer.
      tell(told(title, [...LATER, ...DRAWN]));
      await page.getByRole('button', { name: 'Earlier' }).click();
      await page.getByText('The first answer').waitFor();
      expect(await seen()).toEqual(contents([...EARLIER, ...DRAWN]));
      await page.getByRole('button', { name: 'To the end' }).click();
      await page.getByRole('heading', { name: title }).waitFor();
      expect(await seen()).toEqual(contents([...LATER, ...DRAWN]));
    }
  });
});

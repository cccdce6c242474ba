// Hazard: a page that works only as long as something on another machine answers.
import { networkInterfaces } from 'node:os';

import { describe, expect } from 'vitest';

import { expectClean, missingBrowser, openPage, pageLink, useBrowser } from '../support/browser.ts';
import { serve } from '../support/serve.ts';
import { fully } from './support/page-writes.ts';

const HAS_NONE = process.env['ORION_WITHOUT_NETWORK'] === '1';
const SKIPPED = HAS_NONE ? '' : ' (SKIPPED: they run with the network of this machine)';

describe.skipIf(missingBrowser !== null || !HAS_NONE)(`the tests of the page${SKIPPED}`, () => {
  const browser = useBrowser();

  fully('run where there is nothing but loopback, for the browser as well', async ({ machine }) => {
    const interfaces = Object.values(networkInterfaces()).flatMap((all) => all ?? []);
    expect(interfaces.filter(({ internal }) => !internal)).toEqual([]);
    const server = await serve(machine);
    const watched = await openPage(browser(), pageLink(server));
    await watched.page.getByRole('heading', { name: 'Now' }).waitFor();
    const elsewhere = await browser().newPage();
    const failure = await elsewhere
      .goto('http://192.0.2.1/')
      .catch((error: Error) => error.message);
    await elsewhere.close();
    expect(failure).toContain('ERR_INTERNET_DISCONNECTED');
    expectClean(watched, server.url);
  });
});

// Hazard: somebody who cannot log in cannot read why, or reach the way on.
import { describe, expect, onTestFinished } from 'vitest';

import { missingBrowser, openPage, pageLink, useBrowser } from '../support/browser.ts';
import { serve } from '../support/serve.ts';
import { judge } from './support/judge.ts';
import { fully } from './support/page-writes.ts';

const CHALLENGE = '**/api/page/challenge';

describe.skipIf(missingBrowser !== null)('the states of logging in', () => {
  const browser = useBrowser();

  fully('without a link, with a used one, and in front of another server', async ({ machine }) => {
    const server = await serve(machine);
    const { page } = await openPage(browser(), server.url);
    await page.getByLabel(/paste the server/u).waitFor();
    await judge(page, 'signed out');
    await page.getByLabel(/paste the server/u).fill('wrong');
    await page.getByRole('button', { name: 'Log in' }).click();
    await page.getByText('UNAUTHORIZED').waitFor();
    await judge(page, 'wrong token');
    const link = pageLink(server);
    await page.goto('about:blank');
    await page.goto(link);
    await page.getByRole('heading', { name: 'Now' }).waitFor();
    await page.route(CHALLENGE, () => undefined);
    await page.reload();
    await page.getByText('Looking for the server').waitFor();
    await judge(page, 'looking');
    await page.unroute(CHALLENGE);
    await page.route(CHALLENGE, (route) => route.fulfill({ json: { proof: '00' } }));
    await page.reload();
    await page.getByText('This is not the server').waitFor();
    await judge(page, 'stranger');
    await page.unroute(CHALLENGE);
    await page.route(CHALLENGE, (route) => route.abort());
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByText('Start it again in its folder').waitFor();
    await judge(page, 'gone');
    await page.unroute(CHALLENGE);
    for (const status of [408, 429]) {
      await page.route(CHALLENGE, (route) => route.fulfill({ status, json: {} }));
      await page.reload();
      await page.getByText('Start it again in its folder').waitFor();
      await page.unroute(CHALLENGE);
    }
    const other = await openPage(browser(), link);
    await other.page.getByText('PAGE_LINK').waitFor();
    await judge(other.page, 'used link');
  });

  fully('after a sign-out of which the server has not heard', async ({ machine }) => {
    const server = await serve(machine);
    const { page } = await openPage(browser(), pageLink(server));
    await page.route('**/api/page/sessions/*', (route) => route.abort());
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('group', { name: 'Error' }).getByText('may still accept it').waitFor();
    await judge(page, 'sign-out not heard');
    await page.getByLabel(/paste the server/u).waitFor();
    expect(await page.evaluate(() => sessionStorage.getItem('orion-page-session'))).toBeNull();
  });

  fully('over a connection that others can read', async ({ machine }) => {
    const server = await serve(machine);
    const context = await browser().newContext();
    onTestFinished(() => context.close());
    const page = await context.newPage();
    await page.route('http://orion.test/**', async (route) => {
      const request = route.request();
      // As a proxy would that names the server as its own machine does.
      const headers: Record<string, string> = {
        ...request.headers(),
        host: new URL(server.url).host,
      };
      delete headers['origin'];
      const url = `${server.url}${new URL(request.url()).pathname}`;
      await route.fulfill({ response: await route.fetch({ url, headers }) });
    });
    await page.goto('http://orion.test/');
    await page.getByText('This address is not secure').waitFor();
    await judge(page, 'not secure');
  });
});

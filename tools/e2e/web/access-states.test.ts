// Hazard: a state that only some people ever see cannot be read, reached or understood by others.
import { describe, expect } from 'vitest';

import { missingBrowser, openPage, pageLink, sendMessage, useBrowser } from '../support/browser.ts';
import { numbered, writeDocument } from '../support/scripts.ts';
import { serve } from '../support/serve.ts';
import { upload } from '../support/upload.ts';
import { waitFor } from '../support/wait.ts';
import { judge } from './support/judge.ts';
import { fully } from './support/page-writes.ts';

describe.skipIf(missingBrowser !== null)('access to the states of the page', () => {
  const browser = useBrowser();

  fully('a live write has this accessibility tree', async ({ machine }) => {
    const provider = await machine.provider(
      writeDocument(
        { target: 'docs/live.md', content: numbered('line', 1, 60) },
        { faults: [{ kind: 'stall', at: { lines: 30 } }] },
      ),
    );
    const server = await serve(machine, ['--base-url', provider.url, '--model', 'scripted']);
    const { page } = await openPage(browser(), pageLink(server));
    await sendMessage(page, 'Write it.');
    await page.getByRole('link', { name: 'docs/live.md' }).click();
    const text = page.getByRole('region', { name: 'Text of the file' });
    await text.getByText('line 29').waitFor();
    // What has arrived is saved at once, and synced after five seconds.
    await waitFor('the sync', () =>
      page.evaluate(() => {
        const read = (name: string) =>
          document.querySelector(`[data-watermark=${name}]`)?.textContent ?? null;
        return read('synced') === read('received') && read('saved') === read('received');
      }),
    );
    const tree = await page.getByRole('main').ariaSnapshot();
    // Its numbers and its lines are those of the moment.
    const shape = tree
      .replaceAll(/line \d+(?: line \d+)+(?: line?)?/gu, 'lines')
      .replaceAll(/\d[\d,]*/gu, '#');
    expect(`${shape}\n`).toMatchSnapshot();
    await judge(page, 'a live write');
  });

  fully(
    'dialogs, errors and a server that is gone: no finding, and nothing sideways',
    async ({ machine }) => {
      const provider = await machine.provider({
        behaviours: [
          { name: 'refuses', faults: [{ kind: 'status', status: 400 }], reply: { text: '' } },
        ],
      });
      const server = await serve(machine, ['--base-url', provider.url, '--model', 'scripted']);
      const name = `docs/${'a-very-long-name-'.repeat(6)}.txt`;
      await machine.write(name, 'before\n');
      const id = await upload(server, name, 'saved\n', 'overwrite');
      await machine.write(name, `edited ${'without-a-blank'.repeat(20)}\n`);
      await server.ask(`/api/write-sessions/${id}/finalize`, { json: {} });
      const { page } = await openPage(browser(), pageLink(server));
      await page.getByRole('heading', { level: 1, name: 'Now' }).waitFor();
      await page.getByRole('button', { name: 'Keys' }).click();
      await judge(page, 'keys');
      await page.keyboard.press('Escape');
      await page.goto(`${server.url}/w/${id}`);
      await page.getByText('changed by something else').waitFor();
      await judge(page, 'paused');
      await page.getByRole('button', { name: /^Write /u }).click();
      await page.getByRole('dialog').getByRole('table').waitFor();
      await judge(page, 'recover');
      await page.keyboard.press('Escape');
      await sendMessage(page, 'Hello');
      await page.getByRole('region', { name: 'Notices' }).getByRole('article').waitFor();
      await judge(page, 'error');
      server.running.kill('SIGKILL');
      await page.getByRole('region', { name: 'No contact' }).waitFor();
      await judge(page, 'gone');
    },
  );
});

// Hazard: one of the many places that show text from outside makes markup, a request or other text of it (W2, W3).
import { writeFile } from 'node:fs/promises';

import { visibleName } from '@orion/contracts';
import type { ScriptedProvider } from '@orion/llm-adapters/scripted';
import type { Page } from 'playwright-core';
import { describe, expect } from 'vitest';

import {
  expectClean,
  missingBrowser,
  openPage,
  pageLink,
  sendMessage,
  useBrowser,
} from '../support/browser.ts';
import { at } from '../support/sandbox.ts';
import { configureUser } from '../support/mcp.ts';
import { LAST_WORD, writeDocument } from '../support/scripts.ts';
import { serve } from '../support/serve.ts';
import { waitFor } from '../support/wait.ts';
import { HOSTILE, HOSTILE_NAMES } from './support/hostile-strings.ts';
import { beginWriting, fully, textOf } from './support/page-writes.ts';

const TEXT = HOSTILE.join('\n');
/** As they are where people decide about them. */
const SHOWN = HOSTILE.map((text) => visibleName(text));
const [IMAGE = ''] = HOSTILE;

const inJson = (text: string): string => JSON.stringify(text).slice(1, -1);

/** An MCP server with tools of these names; `answers` and `fails` say this, as every other one does. */
const serverOf = (names: readonly string[], said: string): string => `
import { createInterface } from 'node:readline';
const send = (message) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n');
const said = ${JSON.stringify(said)};
const inputSchema = { type: 'object', properties: {} };
const tools = ${JSON.stringify(names)}.map((name) => ({ name, description: said.slice(0, 1000), inputSchema }));
createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  const serverInfo = { name: said.slice(0, 200), version: '1' };
  if (method === 'server/discover') send({ id, error: { code: -32601, message: said } });
  if (method === 'initialize')
    send({ id, result: { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo } });
  if (method === 'tools/list') send({ id, result: { tools } });
  if (method === 'tools/call')
    send({ id, result: { isError: params.name === 'fails', content: [{ type: 'text', text: said }] } });
});
`;

function toolNamesOf({ requests }: ScriptedProvider): readonly string[] {
  const [request] = requests;
  const { tools = [] } = (request?.body ?? {}) as {
    tools?: readonly { function: { name: string } }[];
  };
  return tools.map((tool) => tool.function.name);
}

type Asked = {
  readonly approvalId: string;
  readonly hash: string;
  readonly action: { readonly tool: string };
};

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
    expect(added).toEqual([...SHOWN, ...SHOWN]);
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
              // A line of markup would make all lines up to an empty one markup as well.
              text: HOSTILE.join('\n\n'),
              toolCalls: [
                { id: 'a', name: 'read_file', arguments: { path: 'evil.txt' } },
                { id: 'b', name: 'read_file', arguments: { path: IMAGE, [TEXT]: TEXT } },
                { id: 'c', name: IMAGE, arguments: TEXT },
              ],
            },
          },
          { name: 'says', when: { userMessages: 1 }, reply: { text: `~~~~\n${TEXT}\n~~~~` } },
          {
            name: 'fails',
            reply: { text: '' },
            faults: [{ kind: 'status', status: 400, message: HOSTILE.slice(0, 3).join(' ') }],
          },
        ],
      });
      // Whole in its row, and not stored beside it.
      const env = { ORION_OUTPUT_AUTO_CHARACTERS: '65536' };
      const server = await serve(machine, at(provider), { env });
      const watched = await openPage(browser(), pageLink(server));
      const { page } = watched;
      await sendMessage(page, TEXT);
      const turn = page.getByRole('article', { name: 'Turn' });
      await page.locator('article.turn[aria-busy=false]').waitFor();
      expect(await turn.locator('.user').textContent()).toBe(TEXT);
      const calls = turn.locator('details.call');
      await expect.poll(() => calls.count()).toBe(3);
      for (const call of await calls.all()) await call.locator('summary').click();
      expect(await calls.nth(2).locator('summary').textContent()).toContain(IMAGE);
      expect(await calls.nth(1).locator('pre').first().textContent()).toBe(
        JSON.stringify({ path: IMAGE, [TEXT]: TEXT }),
      );
      // What may be a link is one, so that what may not be would be as well.
      expect(await turn.locator('.prose a').count()).toBeGreaterThan(2);
      // What is code in an answer is drawn as it is.
      expect(await turn.locator('.prose pre').last().textContent()).toBe(TEXT);
      await expectHarmless(page);

      await page.getByLabel('Message').fill('Again');
      await page.getByRole('button', { name: 'Send' }).click();
      const error = page.getByRole('region', { name: 'Error' });
      await error.waitFor();
      expect(await error.textContent()).toContain(HOSTILE.slice(0, 3).join(' '));
      await expectHarmless(page);
      await page.reload();
      await page.getByRole('heading', { level: 1 }).waitFor();
      for (const each of await page.locator('details.call summary').all()) await each.click();
      expect(await page.locator('.user').first().textContent()).toBe(TEXT);
      const results = (await page.locator('details.call pre').allTextContents()).join('\n');
      expect(HOSTILE.filter((text) => !results.includes(inJson(text)))).toEqual([]);
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
        JSON.stringify({ intent: TEXT, operations: [{ type: TEXT, target_file: IMAGE }] }),
        JSON.stringify({
          intent: IMAGE,
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
      const last = `${SHOWN.at(-1)}[no line ending]`;
      expect(await page.getByRole('cell').allTextContents()).toEqual([...SHOWN.slice(0, -1), last]);
      expectClean(watched, server.url);
    },
  );

  fully('in names of files is the name, wherever they are listed', async ({ machine }) => {
    const server = await serve(machine);
    const watched = await openPage(browser(), pageLink(server));
    const { page } = watched;
    await page.getByRole('heading', { name: 'Now' }).waitFor();
    const rows = page.locator('main a[data-row] .name');
    for (let from = 0; from < HOSTILE_NAMES.length; from += 60) {
      const names = HOSTILE_NAMES.slice(from, from + 60);
      const ids: string[] = [];
      for (const name of names) {
        const json = { intent: name, target_file: name, operation: 'create' };
        const { json: begun } = await server.ask('/api/write-sessions', { json });
        ids.push((begun as { session_id: string }).session_id);
      }
      await page.goto(`${server.url}/w`);
      await waitFor('the names', async () => (await rows.count()) === names.length);
      const shown = names.map((name) => visibleName(name));
      expect((await rows.allTextContents()).toSorted()).toEqual(shown.toSorted());
      await expectHarmless(page);
      await rows.first().click();
      await page.getByRole('region', { name: 'What can be done' }).waitFor();
      expect(shown).toContain(await page.getByRole('heading', { level: 1 }).textContent());
      await expectHarmless(page);
      for (const id of ids) await server.ask(`/api/write-sessions/${id}`, { method: 'DELETE' });
    }
    expectClean(watched, server.url);
  });

  fully(
    'in the name of a file is the name where somebody decides about it',
    async ({ machine }) => {
      const server = await serve(machine);
      const watched = await openPage(browser(), pageLink(server));
      const { page } = watched;
      await page.getByRole('heading', { name: 'Now' }).waitFor();
      const name = 'notes\u202etxt.exe';
      const json = { intent: name, target_file: name, operation: 'create' };
      await server.ask('/api/write-sessions', { json });
      await page.goto(`${server.url}/w`);
      await page.locator('main a[data-row]').click();
      await page.getByRole('button', { name: 'Discard…' }).click();
      const title = page.getByRole('dialog').getByRole('heading');
      expect(await title.textContent()).toBe(`Discard the text for ${visibleName(name)}`);
      expectClean(watched, server.url);
    },
  );

  fully(
    'in names and answers of MCP tools, and in their place, stays text',
    async ({ machine }) => {
      const names = HOSTILE.filter((_, at) => at % 12 === 0);
      const program = machine.path(`<img src=x onerror=window.hacked=1>.mjs`);
      await writeFile(program, serverOf([...names, 'answers', 'fails'], TEXT));
      const made = { command: process.execPath, args: [program] };
      const allowMcpTools = ['mcp__made__answers', 'mcp__made__fails'];
      await configureUser(machine, { mcpServers: { made }, allowMcpTools });
      // What they are called by a model, it is told.
      const told = await machine.provider({ behaviours: [LAST_WORD] });
      expect((await machine.ask(told)).exitCode).toBe(0);
      const offered = toolNamesOf(told).filter((name) => name.startsWith('mcp__made__'));
      expect(offered).toHaveLength(names.length + 2);

      const toolCalls = offered.map((name, at) => ({
        id: `call-${at}`,
        name,
        arguments: { [IMAGE]: IMAGE },
      }));
      const provider = await machine.provider({
        behaviours: [{ when: { toolResults: 0 }, reply: { toolCalls } }, LAST_WORD],
      });
      const env = { ORION_OUTPUT_AUTO_CHARACTERS: '65536' };
      const server = await serve(machine, [...at(provider), '--approve', 'ask'], { env });
      const watched = await openPage(browser(), pageLink(server));
      const { page } = watched;
      await sendMessage(page, 'Call them.');
      const asked = new Set<string>();
      while (asked.size < names.length) {
        const { approvalId, hash, tool } = await waitFor('a further question', async () => {
          const { json } = await server.ask('/api/approvals?state=pending');
          const [found] = (json as { approvals: readonly Asked[] }).approvals;
          return found !== undefined && !asked.has(found.action.tool)
            ? { ...found, tool: found.action.tool }
            : null;
        });
        asked.add(tool);
        await waitFor('its words', async () => {
          const words = await page.locator('.approval .name').allTextContents();
          return words.includes(visibleName(tool)) && words.some((each) => each.includes(program));
        });
        await expectHarmless(page);
        const decision = asked.size === 1 ? 'no' : 'yes';
        const body = { decision, hash, ...(decision === 'no' ? { reason: IMAGE } : {}) };
        expect((await server.ask(`/api/approvals/${approvalId}`, { json: body })).status).toBe(200);
      }
      expect([...asked].toSorted()).toEqual(names.toSorted());
      await page.locator('article.turn[aria-busy=false]').waitFor();
      for (const each of await page.locator('details.call > summary').all()) await each.click();
      await expectHarmless(page);
      await page.reload();
      await page.locator('details.call').first().waitFor();
      for (const each of await page.locator('details.call > summary').all()) await each.click();
      const results = (await page.locator('details.call pre').allTextContents()).join('\n');
      for (const said of [names[0] ?? '', TEXT]) expect(results).toContain(inJson(said));
      await expectHarmless(page);
      expectClean(watched, server.url);
    },
  );
});

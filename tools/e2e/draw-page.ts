// `npm run web:pictures -- <folder>`: draws every view of the page, light and dark and at three widths, for people to
// look at. Nothing is compared.
import { mkdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';

import { askServer } from '@orion/testkit/http';
import type { HttpQuestion } from '@orion/testkit/http';

import { launchChromium } from './support/chromium.ts';
import type { Browser, Page } from './support/chromium.ts';
import { at, createSandbox } from './support/sandbox.ts';
import type { Sandbox } from './support/sandbox.ts';
import { numbered, writeDocument } from './support/scripts.ts';
import { waitFor } from './support/wait.ts';

const WIDTHS = [1280, 720, 360];
const THEMES = ['light', 'dark'] as const;
const HEIGHT = 800;
const TOKEN = 'a-token-of-the-pictures-0123456789';
const PLAN = {
  intent: 'Name the port in one place',
  operations: [{ type: 'create', target_file: 'port.txt', content: '4310\n' }],
};
const README = '# Site\n\nWhat it does, and how to begin.\n';

const { positionals } = parseArgs({ allowPositionals: true });
const folder = positionals[0];
if (folder === undefined) throw new Error('usage: npm run web:pictures -- <folder>');
const pictures = resolve(folder);

type Served = {
  /** Logs one tab in. */
  readonly link: string;
  readonly ask: (path: string, question?: HttpQuestion) => Promise<Record<string, unknown>>;
};

const machines: Sandbox[] = [];
const browser = await launchChromium();
try {
  await mkdir(pictures, { recursive: true });
  const [writing, asking] = await Promise.all([startWriting(), startAsking()]);
  await Promise.all([drawWriting(browser, writing), drawAsking(browser, asking)]);
  process.stdout.write(`${pictures}\n`);
} finally {
  await browser.close();
  for (const machine of machines) await machine.dispose();
}

/** A server whose model writes a file that does not end. */
async function startWriting(): Promise<Served> {
  const machine = await newMachine();
  const content = numbered('A line of the guide that is being written, number', 1, 20_000);
  const shape = { eventsPerSecond: 30, chunk: 120 };
  const script = writeDocument({ target: 'docs/guide.md', content }, { shape });
  const served = await startServer(machine, at(await machine.provider(script)));
  await say(served, 'Write the guide.', 'guide');
  return served;
}

/** A server with something to decide, something unfinished and something to undo. */
async function startAsking(): Promise<Served> {
  const machine = await newMachine();
  await machine.write('README.md', README);
  const content = README.replace('begin', 'begin: `npm install site`, then `site build`');
  const script = writeDocument({ target: 'README.md', content }, { operation: 'overwrite' });
  const provider = await machine.provider(script);
  const served = await startServer(machine, [...at(provider), '--approve', 'ask']);
  await upload(served, 'notes.txt', true);
  await upload(served, 'docs/report.md', false);
  await say(served, 'Say how to begin.', 'begin');
  await waitFor('an approval', async () => {
    const { approvals } = await served.ask('/api/approvals?state=pending');
    return (approvals as readonly unknown[]).length > 0;
  });
  return served;
}

async function drawWriting(from: Browser, served: Served): Promise<void> {
  const page = await openPage(from, served);
  await go(page, '/c/guide');
  await page.getByRole('link', { name: 'docs/guide.md' }).waitFor();
  await draw(page, 'conversation');
  await page.getByRole('link', { name: 'docs/guide.md' }).click();
  await page.getByText('the guide that is being written, number 9', { exact: false }).waitFor();
  await draw(page, 'write');
}

async function drawAsking(from: Browser, served: Served): Promise<void> {
  const page = await openPage(from, served);
  await page.getByRole('region', { name: 'Needs you' }).waitFor();
  await draw(page, 'now');
  await page.getByRole('region', { name: 'Needs you' }).getByRole('link').click();
  await page.getByRole('button', { name: 'Yes', exact: false }).first().waitFor();
  await draw(page, 'approval');
  await go(page, '/w');
  await page.getByRole('link', { name: 'docs/report.md' }).waitFor();
  await draw(page, 'writes');
  await go(page, '/changes');
  await page.getByText('notes.txt').first().waitFor();
  await draw(page, 'changes');
  await go(page, '/t');
  await page.locator('main [data-row]').first().click();
  await page.getByRole('treegrid').waitFor();
  await draw(page, 'trace');
  await go(page, '/plan');
  await page.getByRole('textbox').fill(JSON.stringify(PLAN, null, 2));
  await page.getByRole('button', { name: 'Show what it would change' }).click();
  await page.getByText('port.txt').last().waitFor();
  await draw(page, 'plan');
  const stranger = await (await from.newContext()).newPage();
  await stranger.goto(new URL('/connect', served.link).href);
  await stranger.getByRole('heading', { level: 1 }).waitFor();
  await draw(stranger, 'connect');
}

async function draw(page: Page, view: string): Promise<void> {
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: HEIGHT });
    for (const colorScheme of THEMES) {
      await page.emulateMedia({ colorScheme });
      await page.screenshot({ path: join(pictures, `${view}-${colorScheme}-${width}.png`) });
    }
  }
}

async function newMachine(): Promise<Sandbox> {
  const machine = await createSandbox();
  machines.push(machine);
  return machine;
}

async function startServer(machine: Sandbox, args: readonly string[]): Promise<Served> {
  const env = { ORION_SERVER_TOKEN: TOKEN };
  const running = machine.start(['serve', '--port', '0', ...args], { env });
  const link = await waitFor('the link of the server', () => {
    const [, found] = /^Page: (\S+)/mu.exec(running.stderr()) ?? [];
    return found ?? null;
  });
  const port = Number(new URL(link).port);
  return {
    link,
    ask: async (path, question) => {
      const headers = { accept: 'application/json', ...question?.headers };
      const answer = await askServer(port, path, { token: TOKEN, ...question, headers });
      return answer.json as Record<string, unknown>;
    },
  };
}

async function say({ ask }: Served, content: string, conversationId: string): Promise<void> {
  await ask('/api/chat/messages', { json: { content, conversationId } });
}

/** A text that a program has sent; only one that is finished is a change. */
async function upload({ ask }: Served, target: string, isFinished: boolean): Promise<void> {
  const json = { intent: 'A note', target_file: target, operation: 'create' };
  const { session_id: id } = await ask('/api/write-sessions', { json });
  const path = `/api/write-sessions/${String(id)}`;
  const headers = { 'content-type': 'application/octet-stream' };
  const body = numbered('A line of the text with number', 1, 40);
  await ask(`${path}/content?offset=0`, { method: 'PUT', headers, body });
  if (isFinished) await ask(`${path}/finalize`, { json: {} });
}

async function openPage(from: Browser, { link }: Served): Promise<Page> {
  const page = await (await from.newContext()).newPage();
  await page.goto(link);
  await page.getByRole('heading', { level: 1, name: 'Now' }).waitFor();
  return page;
}

async function go(page: Page, path: string): Promise<void> {
  await page.goto(new URL(path, page.url()).href);
}

// Hazard: what happens in a turn, or why it cannot be seen, cannot be read or reached by everybody.
import { describe, expect } from 'vitest';

import { missingBrowser, useBrowser } from '../support/browser.ts';
import { judge } from './support/judge.ts';
import { fully } from './support/page-writes.ts';
import { openTold, refusal, SILENCE, turnSoFar } from './support/told-page.ts';
import type { Told } from './support/told-page.ts';
import {
  approvalAnswer,
  COMMAND_ACTION,
  conversation,
  LONG_LINE,
  LONG_NAME,
  LONG_WORD,
  MCP_ACTION,
  receipt,
  servedTurn,
} from './support/told-answers.ts';

const STORED = '/api/conversations/c';
const RUNNING = '/api/turns?state=running';
const EVENTS = '/api/turns/t/events';
const MARKDOWN = `# Title\n\nText with \`${LONG_WORD}\`, [a link](https://example.com/${LONG_WORD}) and\n\n- a list\n\n| a | ${LONG_WORD} |\n|---|---:|\n| b | c |\n\n\`\`\`ts\nconst ${LONG_WORD} = 1;\n\`\`\`\n\n> said\n\n<b>not markup</b>\n`;

const HISTORY = {
  ...conversation(),
  from: 12,
  history: [
    { role: 'user', content: LONG_LINE },
    {
      role: 'assistant',
      content: MARKDOWN,
      toolCalls: [{ id: '1', name: LONG_WORD, arguments: `{"path":"${LONG_WORD}"}` }],
    },
    { role: 'tool', toolCallId: '1', toolName: LONG_WORD, content: LONG_LINE.repeat(100) },
  ],
};

const session = (more: object): object => ({
  type: 'write_session',
  sessionId: 's',
  status: 'session_active.awaiting_done_or_more_content',
  targetFile: LONG_NAME,
  operation: 'create',
  bytes: 512_004,
  lines: 9870,
  durableBytes: 498_112,
  ...more,
});

const call = (id: string): object => ({
  type: 'tool_calls',
  calls: [{ id, name: LONG_WORD, arguments: `{"path":"${LONG_WORD}"}` }],
});

/** One of everything that a turn says. */
const EVERYTHING: readonly object[] = [
  { type: 'chunk', source: 'model', content: LONG_LINE },
  { type: 'rewind', toSeq: 0 },
  { type: 'chunk', source: 'notice', content: LONG_LINE },
  { type: 'chunk', source: 'model', content: MARKDOWN },
  call('done'),
  {
    type: 'tool_result',
    callId: 'done',
    toolName: LONG_WORD,
    ok: true,
    summary: LONG_LINE,
    outputRef: 'output',
  },
  call('failed'),
  {
    type: 'tool_result',
    callId: 'failed',
    toolName: LONG_WORD,
    ok: false,
    summary: 'failed',
    error: { code: 'FILE_NOT_FOUND', message: LONG_LINE, hint: LONG_LINE },
  },
  call('pending'),
  { type: 'tool_progress', callId: 'pending', toolName: LONG_WORD, message: LONG_LINE },
  session({}),
  { type: 'approval_requested', approvalId: 'a', sessionId: 's', action: {}, hash: 'h' },
  { type: 'something_newer', text: LONG_LINE },
  { type: 'error', error: { code: 'PROVIDER_ERROR', message: LONG_LINE, hint: LONG_LINE } },
];

const DONE = { type: 'done', fullContent: '', protocolReason: 'default' };

const following = (events: readonly object[]): Told => ({
  [STORED]: HISTORY,
  [RUNNING]: { turns: [servedTurn()] },
  '/api/approvals/a': approvalAnswer(),
  '/api/tool-outputs/output': { output: { text: LONG_LINE, list: [1, 2] } },
  [EVENTS]: turnSoFar('t', events),
});

describe.skipIf(missingBrowser !== null)('the states of a conversation', () => {
  const browser = useBrowser();

  fully('with everything that happens in a turn, in each of its ends', async ({ machine }) => {
    const { page, open } = await openTold(machine, browser());
    await open('/c/c', following(EVERYTHING));
    await page.getByText('PROVIDER_ERROR').first().waitFor();
    await page.locator('.approval [inert]').waitFor({ state: 'detached' });
    for (const each of await page.locator('main details > summary').all()) await each.click();
    await page.getByText('"list"').waitFor();
    // What the running turn has stored so far is not drawn a second time.
    expect(await page.locator('main > details').count()).toBe(0);
    await judge(page, 'a running turn with everything');
    await open('/', following(EVERYTHING));
    await page.getByRole('region', { name: 'Running' }).getByText('PROVIDER_ERROR').waitFor();
    await judge(page, 'Now, with that turn');
    const ends = [{ status: 'stopped', stopReason: 'max_seconds' }, { status: 'error' }];
    for (const end of ends) {
      await open(
        '/c/c',
        following([session({ status: 'done', receipt: receipt() }), { ...DONE, ...end }]),
      );
      await page.getByText(/^The turn ended/u).waitFor();
      await page.getByRole('button', { name: 'Send' }).waitFor();
      await judge(page, `a turn that ended: ${end.status}`);
    }
  });

  fully('that asks for a yes to a command, or to a tool of an MCP server', async ({ machine }) => {
    const { page, open } = await openTold(machine, browser());
    const actions = { command: COMMAND_ACTION, 'tool of an MCP server': MCP_ACTION };
    for (const [what, action] of Object.entries(actions)) {
      const asked = { approvalId: 'a', callId: 'asks', action, hash: 'h' };
      await open('/c/c', {
        ...following([call('asks'), { type: 'approval_requested', ...asked }]),
        '/api/approvals/a': approvalAnswer({
          callId: 'asks',
          sessionId: null,
          diffs: [],
          action,
        }),
      });
      await page.getByRole('button', { name: 'No', exact: true }).waitFor();
      await page.locator('.approval [inert]').waitFor({ state: 'detached' });
      await judge(page, `a turn that asks about a ${what}`);
    }
  });

  fully('new, loading, refused, without contact, and not sent', async ({ machine }) => {
    const { page, open } = await openTold(machine, browser());
    await open('/c/new');
    await page.getByRole('heading', { name: 'New conversation' }).waitFor();
    await judge(page, 'a new conversation');
    await page.getByRole('radio', { name: /^Plan/u }).check();
    await page.route('**/api/chat/messages', (route) => {
      const { status, body } = refusal('STORE_UNAVAILABLE', LONG_LINE, LONG_LINE);
      return route.fulfill({ status, json: body });
    });
    await page.getByLabel('Message').fill(LONG_LINE);
    await page.getByRole('button', { name: 'Send' }).click();
    await page.getByText('STORE_UNAVAILABLE').waitFor();
    await judge(page, 'a message that was not sent');
    await open('/c/c', { [STORED]: HISTORY });
    await page.locator('main > details').nth(1).waitFor();
    for (const each of await page.locator('main > details > summary').all()) await each.click();
    await judge(page, 'a stored conversation');
    await open('/c/c', { [STORED]: SILENCE });
    await page.getByText('Loading…').waitFor();
    await judge(page, 'a conversation, loading');
    await open('/c/c', { [STORED]: refusal('STORE_UNAVAILABLE', LONG_LINE, LONG_LINE) });
    await page.getByText('STORE_UNAVAILABLE').waitFor();
    await judge(page, 'a conversation, refused');
    await open('/c/c', {
      ...following([]),
      [EVENTS]: refusal('TURN_NOT_FOUND', LONG_LINE, LONG_LINE, 404),
    });
    await page.getByText('TURN_NOT_FOUND').waitFor();
    await judge(page, 'a turn that cannot be read');
    await open('/c/c', {
      ...following([]),
      [EVENTS]: refusal('STORE_UNAVAILABLE', LONG_LINE, LONG_LINE),
    });
    await page.getByRole('button', { name: 'Try now' }).waitFor();
    // Until a try, the text of this line changes alone.
    await judge(page, 'a turn without contact');
  });
});

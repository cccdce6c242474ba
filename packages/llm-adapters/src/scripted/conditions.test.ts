import type { Message } from '@orion/contracts';
import { expect, test } from 'vitest';

import { errorOf } from '../testing/streams.ts';
import type { When } from './script.ts';
import { talk, user } from './testing/conversation.ts';

const TOOLS = [{ name: 'f', description: 'd', parameters: { type: 'object' } }];
const HISTORY: readonly Message[] = [
  { role: 'system', content: 'You are terse.' },
  user('first question'),
  {
    role: 'assistant',
    content: 'calling',
    toolCalls: [
      { id: 'a', name: 'f', arguments: '{}', state: 'complete' },
      { id: 'b', name: 'f', arguments: '{}', state: 'complete' },
    ],
  },
  { role: 'tool', toolCallId: 'a', toolName: 'f', content: 'result one' },
  { role: 'tool', toolCallId: 'b', toolName: 'f', content: 'result two' },
  { role: 'system', content: 'A notice.' },
];

test.for<readonly [When, boolean]>([
  [{}, true],
  [{ lastRole: 'tool' }, true],
  [{ lastRole: 'user' }, false],
  [{ last: 'two' }, true],
  [{ lastUser: { matches: '^first' } }, true],
  [{ lastUser: { contains: ['first', 'question'], not: 'second' } }, true],
  [{ lastUser: { not: 'first' } }, false],
  [{ system: 'terse' }, true],
  [{ history: 'calling' }, true],
  [{ history: 'nowhere' }, false],
  [{ toolResult: { nth: 1, text: 'one' } }, true],
  [{ toolResult: { nth: -1, text: 'one' } }, false],
  [{ toolResult: { nth: 3 } }, false],
  [{ toolResults: 2, assistantMessages: { min: 1, max: 1 }, userMessages: { max: 1 } }, true],
  [{ toolResults: 0 }, false],
  [{ tools: true, offersTool: 'f' }, true],
  [{ tools: false }, false],
  [{ offersTool: 'g' }, false],
  [{ toolChoice: 'none' }, true],
])('%j: %s', async ([when, fits]) => {
  const script = { behaviours: [{ when, reply: { text: 'yes' } }, { reply: { text: 'no' } }] };
  const events = await (await talk(script)).ask(HISTORY, { tools: TOOLS, tool_choice: 'none' });
  expect(events[0]).toEqual({ type: 'text-delta', text: fits ? 'yes' : 'no' });
});

test('a behaviour may answer only so often', async () => {
  const { text } = await talk({
    behaviours: [{ times: 2, reply: { text: 'again' } }, { reply: { text: 'enough' } }],
  });
  const answers = [await text(user('x')), await text(user('x')), await text(user('x'))];
  expect(answers).toEqual(['again', 'again', 'enough']);
});

test('a request that nothing fits is a clear error', async () => {
  const { ask, provider } = await talk({
    behaviours: [{ when: { last: 'x' }, reply: { text: 'a' } }],
  });
  expect(errorOf(await ask([user('y')]))).toMatchObject({
    code: 'PROVIDER_REQUEST',
    message: expect.stringContaining('No behaviour of the script fits'),
  });
  expect(provider.requests).toMatchObject([{ behaviour: undefined, violations: [] }]);
});

test('a request that a strict provider would refuse is refused and recorded', async () => {
  const { ask, provider } = await talk({ behaviours: [{ reply: { text: 'a' } }] });
  const orphan: Message = { role: 'tool', toolCallId: 'x', toolName: 'f', content: 'r' };
  expect(errorOf(await ask([user('y'), orphan])).code).toBe('PROVIDER_REQUEST');
  expect(errorOf(await ask(HISTORY.slice(0, 4))).code).toBe('PROVIDER_REQUEST');
  expect(provider.requests.map((request) => request.violations)).toEqual([
    ['messages.1: no call with the id x waits for this tool message'],
    ['the calls b have no tool message'],
  ]);
  const records = await fetch(new URL('/requests', provider.url));
  expect(await records.json()).toHaveLength(2);
});

test('a script may insist on a key', async () => {
  const { ask } = await talk({ apiKey: 'right', behaviours: [{ reply: { text: 'a' } }] });
  expect(errorOf(await ask([user('x')])).code).toBe('PROVIDER_AUTH');
});

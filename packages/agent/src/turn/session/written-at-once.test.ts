import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

import type { LlmEvent, RunEvent } from '@orion/contracts';
import { callsReply, collect, createFakeAdapter, textReply } from '@orion/testkit';
import type { FakeReply } from '@orion/testkit';
import { expect, test, vi } from 'vitest';

import { beginCall, openOrion, temporaryDirectory } from '../../testing/set-up.ts';

/** Hazard: a file is complete, and the server of its model goes silent behind it. */

const text = (content: string): LlmEvent => ({ type: 'text-delta', text: content });
const STALLED: LlmEvent = {
  type: 'error',
  error: { code: 'STREAM_STALLED', message: 'Nothing arrived.', retryable: true },
};

/** A turn whose model ends the file and says `rest` once the file has been `written`, or after a second. */
async function turnOf(content: string, rest: readonly LlmEvent[], ...more: readonly FakeReply[]) {
  const root = await temporaryDirectory();
  let written: string | null = null;
  let wentOn = false;
  const file: FakeReply = async function* write({ messages }) {
    const [marker = ''] = /DONE [0-9a-f]{4}/.exec(JSON.stringify(messages)) ?? [];
    yield text(`${content}${marker}\n`);
    const read = async (): Promise<void> => {
      written = await readFile(join(root, 'a.txt'), 'utf8');
    };
    await vi.waitFor(read, { timeout: 1000, interval: 5 }).catch(() => undefined);
    wentOn = true;
    yield* rest;
  };
  const adapter = createFakeAdapter([callsReply([beginCall()]), file, ...more, textReply('Bye.')]);
  const orion = await openOrion({ workspace: root, adapter });
  const events = await collect(orion.runTurn({ content: 'write' }));
  const now = await readFile(join(root, 'a.txt'), 'utf8');
  return { events, adapter, now, wentOn: wentOn as boolean, written: written as string | null };
}

function saidBy(events: readonly RunEvent[], source: 'model' | 'notice'): string {
  return events
    .map((event) => (event.type === 'chunk' && event.source === source ? event.content : ''))
    .join('');
}

test('R031: it is written at once, and what follows is shown', async () => {
  const { events, written } = await turnOf('one\n', [
    text('That is '),
    text('all.\n'),
    { type: 'finish', reason: 'stop' },
  ]);
  expect(written).toBe('one\n');
  expect(saidBy(events, 'model')).toContain('That is all.\n');
  expect(events.at(-1)).toMatchObject({ type: 'done', status: 'complete' });
});

test('R031: nobody is told of a stream that stalls behind a file that is written', async () => {
  const { events, written } = await turnOf('one\n', [STALLED]);
  expect(written).toBe('one\n');
  expect(saidBy(events, 'notice')).not.toContain('STREAM_STALLED');
  const states = events.flatMap((event) => (event.type === 'write_session' ? [event.status] : []));
  expect(states.slice(-2)).toEqual(['session_active.finalizing', 'done']);
});

test('R031: what is not valid in it is asked about at once, and the rest of the message is left', async () => {
  const { adapter, now, wentOn, written } = await turnOf(
    'one\n\0\n',
    [text('#1: three\n'), { type: 'finish', reason: 'stop' }],
    textReply('#1: two'),
  );
  expect(written).toBeNull();
  expect(wentOn).toBe(false);
  adapter.assertConsumed();
  expect(now).toBe('one\ntwo\n');
});

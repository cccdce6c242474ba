import { describe, expect } from 'vitest';

import type { Sandbox } from './support/sandbox.ts';
import { numbered, writeDocument } from './support/scripts.ts';
import { longTest, test } from './support/test.ts';
import { waitFor } from './support/wait.ts';

const TEXT = numbered('a line of the document with number', 1, 100);
const ARRIVED = TEXT.split('\n').slice(0, 40).join('\n');

/** A stream that stalls after 40 lines, once the text has arrived. */
async function startStalled(machine: Sandbox, lines = 40) {
  const provider = await machine.provider(
    writeDocument(
      { target: 'a.txt', content: TEXT },
      { faults: [{ kind: 'stall', reply: 1, at: lines === 0 ? { characters: 0 } : { lines } }] },
    ),
  );
  const writer = machine.startAsking(provider, ['--json']);
  const session = await waitFor('the session', async () => (await machine.sessions())[0]);
  if (lines > 0) {
    await waitFor(
      'the text that arrived',
      async () => (await session.content()).length >= ARRIVED.length,
    );
  }
  return { provider, writer, session };
}

describe('a stream that stalls, and a person who stops it', () => {
  for (const [signal, tags] of [
    ['SIGTERM', []],
    ['SIGINT', ['long']],
    ['SIGHUP', ['long']],
  ] as const) {
    const title = `${signal} saves what arrived, gives the session back, exit 3`;
    test.concurrent(title, { tags: [...tags] }, async ({ machine }) => {
      const { writer, session } = await startStalled(machine);

      writer.kill(signal);
      const ended = await writer.finished;

      expect(ended.exitCode, ended.stderr).toBe(3);
      expect(ended.result()).toMatchObject({ status: 'paused', exitCode: 3 });
      expect(ended.result().paused).toMatchObject([{ session_id: session.id, lines: 40 }]);
      expect(await session.json('state.json')).toMatchObject({
        buffer_size: Buffer.byteLength(ARRIVED) + 1,
        state: 'session_active.paused',
      });
      const list = await machine.run(['list-sessions', '--json']);
      expect(JSON.parse(list.stdout)).toMatchObject({ sessions: [{ status: 'orphan' }] });

      const recovered = await machine.run(['recover-session', session.id]);
      expect(recovered.exitCode, recovered.stderr).toBe(0);
      expect(String(await machine.read('a.txt'))).toBe(TEXT);
    });
  }

  longTest(
    'SIGINT twice ends at once and still keeps what was saved, exit 3',
    async ({ machine }) => {
      const { writer, session } = await startStalled(machine);

      writer.kill('SIGINT');
      writer.kill('SIGINT');
      const ended = await writer.finished;

      expect(ended.exitCode, ended.stderr).toBe(3);
      expect(TEXT.startsWith(String(await session.content()))).toBe(true);
      expect((await session.content()).length).toBeGreaterThanOrEqual(ARRIVED.length);
    },
  );

  longTest(
    'R160: before any content the session waits too, and has nothing to lose',
    async ({ machine }) => {
      const { writer, session } = await startStalled(machine, 0);
      await writer.waitForEvent('the session', (event) => event.type === 'write_session');

      writer.kill('SIGINT');
      const ended = await writer.finished;

      expect(ended.exitCode, ended.stderr).toBe(3);
      const recovered = await machine.run(['recover-session', session.id]);
      expect(recovered.exitCode, recovered.stderr).toBe(0);
      expect(String(await machine.read('a.txt'))).toBe(TEXT);
    },
  );

  test.concurrent('R077: with no session open an interrupt is exit 130', async ({ machine }) => {
    const provider = await machine.provider({
      behaviours: [
        { reply: { text: 'Hello.' }, faults: [{ kind: 'stall', at: { characters: 3 } }] },
      ],
    });
    const asking = machine.startAsking(provider, ['--json']);
    await asking.waitForEvent('the first text', (event) => event.type === 'chunk');

    asking.kill('SIGINT');
    const ended = await asking.finished;

    expect(ended.exitCode, ended.stderr).toBe(130);
    expect(ended.result()).toMatchObject({ status: 'aborted', exitCode: 130, paused: [] });
  });
});

import { callsReply, textReply, toolCall } from '@orion/testkit';
import { expect, test } from 'vitest';

import { createStandardProtocol } from '../standard/standard-protocol.ts';
import { runProtocol } from '../testing/run-protocol.ts';

test('a call reports its progress between its begin and its result, short and redacted', async () => {
  const { events, codes } = await runProtocol(
    createStandardProtocol(),
    [
      callsReply([toolCall('1', 'work', {}), toolCall('2', 'work', { again: true })]),
      textReply('.'),
    ],
    {
      work: {
        effect: 'read',
        run: async (_args, { onProgress }) => {
          onProgress?.({ message: `${'x'.repeat(195)}secret${'y'.repeat(50)}`, done: 1, total: 3 });
          await Promise.resolve();
          return { success: true, result: 'done' };
        },
      },
    },
    { redact: (text) => text.replaceAll('secret', '*') },
  );
  expect(codes).toEqual(['ok', 'ok']);
  const seen = events.flatMap((event): readonly unknown[] =>
    event.type === 'tool_progress'
      ? [[event.call.id, event.progress]]
      : event.type === 'tool_result'
        ? [event.result.toolCallId]
        : [],
  );
  expect(seen).toEqual([
    ['1', { message: expect.any(String) as string, done: 1, total: 3 }],
    '1',
    ['2', expect.anything()],
    '2',
  ]);
  const [, progress] = seen[0] as readonly [string, { readonly message: string }];
  expect(progress.message.startsWith(`${'x'.repeat(195)}*y`)).toBe(true);
  expect(progress.message.length).toBeLessThan(240);
});

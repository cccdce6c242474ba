import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createHash } from 'node:crypto';

import type { LlmEvent, ProtocolName, RunEvent } from '@orion/contracts';
import { callsReply, createFakeAdapter, textReply, toolCall } from '@orion/testkit';
import fastCheck from 'fast-check';
import { expect, test } from 'vitest';

import { createOrion } from './create-orion.ts';

/**
 * Whole turns, files included, of models that say anything at any time: exactly one `done`, last, whose text is what
 * the person has read, and no file without a receipt (R010, R137, R138).
 */
const RUNS = Number(process.env['ORION_FUZZ_RUNS'] ?? 25);
const SEED = process.env['ORION_FUZZ_SEED'];

const begin = (target: string, asAction: boolean): LlmEvent[] => {
  const args = { intent: 'test', target_file: target, operation: 'create' };
  return asAction
    ? textReply(
        JSON.stringify({
          action: 'next_step',
          thinking: { task: 't' },
          tool: 'WritePlanTool_begin',
          args,
        }),
      )
    : callsReply([toolCall('b', 'WritePlanTool_begin', args)], 'I begin. ');
};

const reply = (asAction: boolean): fastCheck.Arbitrary<readonly LlmEvent[]> =>
  fastCheck.oneof(
    {
      weight: 4,
      arbitrary: fastCheck
        .constantFrom('a.txt', 'd/b.txt', '../c.txt')
        .map((target) => begin(target, asAction)),
    },
    {
      weight: 4,
      arbitrary: fastCheck
        .array(
          fastCheck.constantFrom(
            'a line\n',
            'DONE\n',
            'DONE',
            '```\n',
            'half',
            '',
            'a\u0000\n',
            'KEEP\n',
          ),
          { maxLength: 6 },
        )
        .map((texts) => textReply(...texts)),
    },
    {
      weight: 2,
      arbitrary: fastCheck.constantFrom(
        textReply('{"action":"complete","message":"All done."}'),
        textReply('{"action":'),
        callsReply([toolCall('r', 'read_file', { path: 'a.txt' })], 'I look. '),
        callsReply([toolCall('c', 'read_file', '{"pa', 'cut')]),
        textReply(),
      ),
    },
    {
      weight: 1,
      arbitrary: fastCheck.constantFrom<readonly LlmEvent[]>(
        [{ type: 'text-delta', text: 'a li' }],
        [
          { type: 'text-delta', text: 'a line\n' },
          { type: 'finish', reason: 'length' },
        ],
        [
          { type: 'text-delta', text: 'a line\n' },
          {
            type: 'error',
            error: { code: 'PROVIDER_AUTH', message: 'no longer', retryable: false },
          },
        ],
      ),
    },
  );

const PROTOCOLS: readonly ProtocolName[] = ['standard', 'two-stage', 'controller'];

for (const protocol of PROTOCOLS) {
  test(
    `${protocol}: a turn has one done, and a file has a receipt`,
    async () => {
      await fastCheck.assert(
        fastCheck.asyncProperty(
          fastCheck.array(reply(protocol === 'controller'), { maxLength: 12 }),
          fastCheck.constantFrom(null, 2, 5),
          async (replies, maxTurns) => {
            const workspace = await mkdtemp(join(tmpdir(), 'orion-adversary-'));
            const adapter = createFakeAdapter(replies, { structuredOutput: true });
            const orion = await createOrion({
              workspace,
              adapter,
              protocol,
              store: 'memory',
              settings: { idleMs: 0, maxTurns },
            });
            const events: RunEvent[] = [];
            for await (const event of orion.runTurn({ content: 'Go.' })) events.push(event);
            await orion.close();

            expect(events.filter((event) => event.type === 'done')).toHaveLength(1);
            const done = events.at(-1);
            expect(done?.type).toBe('done');
            expect(events.map((event) => event.seq)).toEqual(events.map((_, index) => index + 1));
            const read = events
              .map((event) =>
                event.type === 'chunk' && event.source === 'model' ? event.content : '',
              )
              .join('');
            expect(done).toMatchObject({ fullContent: read });
            expect(adapter.open()).toBe(0);
            if (maxTurns !== null) expect(adapter.requests.length).toBeLessThanOrEqual(maxTurns);

            const receipts = new Map(
              events.flatMap((event) =>
                event.type === 'write_session' && event.receipt !== undefined
                  ? [[event.receipt.target_file, event.receipt.sha256] as const]
                  : [],
              ),
            );
            const files = (await readdir(workspace, { recursive: true, withFileTypes: true }))
              .filter((entry) => entry.isFile() && !entry.parentPath.includes('.orion'))
              .map((entry) => join(entry.parentPath, entry.name).slice(workspace.length + 1));
            expect(files.toSorted()).toEqual([...receipts.keys()].toSorted());
            for (const file of files) {
              const hash = createHash('sha256').update(await readFile(join(workspace, file)));
              expect(hash.digest('hex')).toBe(receipts.get(file));
            }
            await rm(workspace, { recursive: true, force: true });
          },
        ),
        { numRuns: RUNS, ...(SEED === undefined ? {} : { seed: Number(SEED) }) },
      );
    },
    RUNS * 1000,
  );
}

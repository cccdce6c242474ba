import { describe, expect } from 'vitest';
import type { Fault } from '@orion/llm-adapters/scripted';

import { prompts, sent } from './support/requests.ts';
import { numbered, writeDocument } from './support/scripts.ts';
import { longTest, test } from './support/test.ts';

const TEXT = numbered('a line of the document with number', 1, 100);

function script(...faults: Fault[]): ReturnType<typeof writeDocument> {
  return writeDocument({ target: 'a.txt', content: TEXT }, { faults });
}

describe('a message that breaks off is continued behind a verified seam', () => {
  const at = { lines: 40 };
  for (const [title, fault, seams, tags] of [
    ['R047: three length stops', { kind: 'length', reply: [1, 2, 3], at: { lines: 30 } }, 3, []],
    ['R143: a disconnect', { kind: 'disconnect', reply: 1, at }, 1, []],
    ['R143: a reset connection', { kind: 'reset', reply: 1, at }, 1, ['long']],
    ['R222: an error within the stream', { kind: 'error', reply: 1, at, code: 500 }, 1, ['long']],
    ['R163: an orderly end without the end mark', { kind: 'end', reply: 1, at }, 1, ['long']],
  ] as const) {
    test.concurrent(title, { tags: [...tags] }, async ({ machine }) => {
      const provider = await machine.provider(script(fault));

      const ended = await machine.ask(provider, ['--json']);

      expect(ended.exitCode, ended.stderr).toBe(0);
      expect(String(await machine.read('a.txt'))).toBe(TEXT);
      const [receipt] = ended.result().receipts;
      expect(receipt?.seams.map((seam) => seam.status)).toEqual(Array(seams).fill('verified'));
      expect(prompts(provider.requests)).toHaveLength(seams);
      expect(await machine.sessions()).toEqual([]);
    });
  }
});

describe('a provider that refuses for a moment is asked again, and nothing is to be joined', () => {
  test.concurrent.for([429, 500, 529])(
    '%i before the first byte of the content',
    { tags: ['long'] },
    async (status, { machine }) => {
      const provider = await machine.provider(
        script({ kind: 'status', status, reply: 1, times: 1, retryAfter: '0' }),
      );

      const ended = await machine.ask(provider, ['--json']);

      expect(ended.exitCode, ended.stderr).toBe(0);
      expect(String(await machine.read('a.txt'))).toBe(TEXT);
      expect(ended.result().receipts[0]?.seams).toEqual([]);
      expect(prompts(provider.requests)).toEqual([]);
    },
  );
});

describe('a provider that does not come back leaves a session that can be recovered', () => {
  test.concurrent('a connection that always breaks: paused after three replies without progress', async ({
    machine,
  }) => {
    const provider = await machine.provider(
      script(
        { kind: 'disconnect', reply: 1, at: { lines: 40 }, times: 1 },
        { kind: 'disconnect', at: { characters: 5 }, reply: [2, 3, 4, 5, 6], times: 3 },
      ),
    );

    const ended = await machine.ask(provider, ['--json']);

    expect(ended.exitCode, ended.stderr).toBe(3);
    const { status, paused, receipts } = ended.result();
    expect({ status, receipts }).toEqual({ status: 'paused', receipts: [] });
    expect(paused).toMatchObject([{ code: 'STREAM_BROKEN', target_file: 'a.txt' }]);
    expect(await machine.exists('a.txt')).toBe(false);
    const [session] = await machine.sessions();
    const saved = String(await session?.content());
    expect(TEXT.startsWith(saved) && saved.length > 1000).toBe(true);

    const recovered = await machine.run(['recover-session', session?.id ?? '', '--json']);
    expect(recovered.exitCode, recovered.stderr).toBe(0);
    expect(String(await machine.read('a.txt'))).toBe(TEXT);
  });

  longTest('an overloaded provider: paused with its code, nothing lost', async ({ machine }) => {
    const provider = await machine.provider(
      script({ kind: 'status', status: 529, reply: 1, retryAfter: '0' }),
    );

    const ended = await machine.ask(provider, ['--json']);

    expect(ended.exitCode, ended.stderr).toBe(3);
    expect(ended.result().paused).toMatchObject([{ code: 'PROVIDER_OVERLOADED', bytes: 0 }]);
  });

  longTest('a key that is refused while the file streams: paused at once', async ({ machine }) => {
    const provider = await machine.provider(script({ kind: 'status', status: 401, reply: 1 }));

    const ended = await machine.ask(provider, ['--json']);

    expect(ended.exitCode, ended.stderr).toBe(3);
    expect(ended.result().paused).toMatchObject([{ code: 'PROVIDER_AUTH' }]);
    expect(sent(provider.requests)).toHaveLength(2);
  });
});

describe('a provider that fails before a session began', () => {
  test.concurrent('401: exit 1, the code and the next step, no second attempt', async ({
    machine,
  }) => {
    const provider = await machine.provider({
      apiKey: 'right',
      behaviours: [{ reply: { text: 'never' } }],
    });

    const ended = await machine.ask(provider, [], { env: { OPENAI_API_KEY: 'sk-wrong-secret' } });

    expect(ended.exitCode).toBe(1);
    expect(ended.stderr).toContain(
      'orion: PROVIDER_AUTH: The provider did not accept the credentials (HTTP 401): ',
    );
    expect(ended.stderr).toContain('Check the API key.');
    expect(ended.stdout + ended.stderr).not.toContain('sk-wrong-secret');
    expect(provider.requests).toHaveLength(1);
    expect(await machine.sessions()).toEqual([]);
  });

  longTest(
    'an answer that breaks off: the text so far, then the error, exit 1',
    async ({ machine }) => {
      const provider = await machine.provider({
        shape: { chunk: 5 },
        behaviours: [
          {
            reply: { text: 'This answer is never finished.' },
            faults: [{ kind: 'disconnect', at: { characters: 11 } }],
          },
        ],
      });

      const ended = await machine.ask(provider);

      expect(ended.exitCode).toBe(1);
      expect('This answer is never finished.'.startsWith(ended.stdout.trim())).toBe(true);
      expect(ended.stderr).toMatch(
        /^orion: STREAM_BROKEN: The connection to \S+ broke while it was sending$/mu,
      );
    },
  );
});

import type { Fault } from '@orion/llm-adapters/scripted';
import { expect } from 'vitest';

import type { Sandbox } from './support/sandbox.ts';
import { beginCall, numbered, writeDocument } from './support/scripts.ts';
import { longTest, test } from './support/test.ts';

const LINES = 2000;
const TEXT = numbered('a line of the document with the number', 1, LINES, 4);
const TARGET = 'docs/long.md';
/** A broken message makes a model repeat the lines at the seam, and no more. */
const MOST_REPEATED = 0.02;

const PROVIDERS = ['openai', 'openai-responses', 'anthropic'] as const;

type Case = {
  readonly name: string;
  readonly faults: readonly Fault[];
  readonly seams: number;
  readonly env?: Readonly<Record<string, string>>;
};

/** In the middle of a line. */
const MIDDLE = { characters: 41_017 };

const CASES: readonly Case[] = [
  {
    name: 'three length stops',
    faults: [{ kind: 'length', reply: [1, 2, 3], at: { characters: 25_011 } }],
    seams: 3,
  },
  { name: 'a disconnect', faults: [{ kind: 'disconnect', reply: 1, at: MIDDLE }], seams: 1 },
  { name: 'a reset', faults: [{ kind: 'reset', reply: 1, at: MIDDLE }], seams: 1 },
  {
    name: 'an overload in mid-stream',
    faults: [{ kind: 'error', reply: 1, at: MIDDLE, type: 'overloaded_error', code: 529 }],
    seams: 1,
  },
  { name: 'an end without end mark', faults: [{ kind: 'end', reply: 1, at: MIDDLE }], seams: 1 },
  {
    name: 'a finish that calls cut text complete',
    faults: [{ kind: 'stop', reply: 1, at: MIDDLE }],
    seams: 1,
  },
  {
    name: 'silence',
    faults: [{ kind: 'stall', reply: 1, at: MIDDLE }],
    seams: 1,
    env: { ORION_SILENCE_MS: '400' },
  },
  {
    name: 'a pause that is shorter than the limit',
    faults: [{ kind: 'stall', reply: 1, at: MIDDLE, forMs: 600 }],
    seams: 0,
  },
  {
    name: '429 with retry-after, then an overload',
    faults: [
      { kind: 'status', status: 429, reply: 1, times: 1, retryAfter: '0' },
      { kind: 'status', status: 529, reply: 1, times: 1, retryAfter: '0' },
    ],
    seams: 0,
  },
];

for (const [row, { name, faults, seams, env }] of CASES.entries())
  for (const [column, type] of PROVIDERS.entries()) {
    // Each case with one provider, and each provider with three.
    const tags = column === row % PROVIDERS.length ? [] : ['long'];
    const title = `R047, R143, R222: ${type}, ${name}: the file is byte-equal`;
    test.concurrent(title, { tags }, async ({ machine }) => {
      const provider = await machine.provider(
        writeDocument(
          { target: TARGET, content: TEXT },
          { faults, shape: { chunk: { min: 5, max: 90 } } },
        ),
      );

      const ended = await machine.ask(provider, ['--json', '--provider', type], { env: env ?? {} });

      expect(ended.exitCode, ended.stderr).toBe(0);
      expect(String(await machine.read(TARGET)) === TEXT, 'the file is another one').toBe(true);
      const [receipt] = ended.result().receipts;
      expect(receipt?.seams.map((seam) => seam.status)).toEqual(Array(seams).fill('verified'));
      const dropped = receipt?.seams.reduce((sum, seam) => sum + seam.lines_dropped, 0) ?? 0;
      expect(dropped / LINES).toBeLessThanOrEqual(MOST_REPEATED);
      // A reset throws away what had been sent and not yet read; that was not asked for twice.
      if (faults[0]?.kind !== 'reset')
        expect(repeated(provider.requests)).toBeLessThanOrEqual(MOST_REPEATED);
      expect(new Set(provider.requests.map(({ wire }) => wire)).size).toBe(1);
      expect(await machine.sessions()).toEqual([]);
    });
  }

test.concurrent.for([
  ['at a line end', { lines: 700 }],
  ['within a line', MIDDLE],
] as const)(
  'R047: a model that continues words given to it repeats none, broken off %s',
  async ([, at], { machine }) => {
    const provider = await machine.provider(
      writeDocument(
        { target: TARGET, content: TEXT },
        { faults: [{ kind: 'disconnect', reply: 1, at }] },
      ),
    );

    const ended = await machine.ask(provider, [
      '--json',
      '--provider=anthropic',
      '--model=claude-sonnet-4-5',
    ]);

    expect(ended.exitCode, ended.stderr).toBe(0);
    expect(String(await machine.read(TARGET)) === TEXT, 'the file is another one').toBe(true);
    const [receipt] = ended.result().receipts;
    expect(receipt?.seams).toMatchObject([{ status: 'verified', via: 'prefill' }]);
    const last = provider.requests.at(-2)?.body as { messages: { role: string }[] };
    expect(last.messages.at(-1)?.role).toBe('assistant');
    // At most the line that broke off.
    expect(repeated(provider.requests) * TEXT.length).toBeLessThan(50);
  },
);

test.concurrent('R047: a model that does not continue them after all is asked without', async ({
  machine,
}) => {
  const provider = await machine.provider(
    writeDocument(
      { target: TARGET, content: TEXT, continuations: [{ variant: 'polite', first: 1 }] },
      { faults: [{ kind: 'disconnect', reply: 1, at: MIDDLE }] },
    ),
  );

  const ended = await machine.ask(provider, ['--json'], { env: { ORION_PREFILL: 'true' } });

  expect(ended.exitCode, ended.stderr).toBe(0);
  expect(String(await machine.read(TARGET)) === TEXT, 'the file is another one').toBe(true);
});

longTest('a conversation continues with another provider, calls and all', async ({ machine }) => {
  const provider = await machine.provider({
    behaviours: [
      {
        name: 'document',
        reply: {
          document: { target: 'a.txt', content: { kind: 'text', text: 'one\ntwo\n' } },
        },
      },
      { ...beginCall({ target_file: 'a.txt' }), times: 1 },
      { reply: { text: 'Very well.' } },
    ],
  });
  const first = await machine.ask(provider, ['--provider', 'openai']);
  expect(first.exitCode, first.stderr).toBe(0);
  for (const type of ['anthropic', 'openai-responses', 'openai'] as const) {
    const next = await machine.ask(provider, ['--provider', type, '--continue']);
    expect(next.exitCode, next.stderr).toBe(0);
  }
  expect(provider.requests.map(({ wire }) => wire).slice(-3)).toEqual([
    'messages',
    'responses',
    'chat',
  ]);
  // The call of the first turn and its receipt are in each of them; `machine` checks all requests for validity.
  for (const { body } of provider.requests.slice(-3)) {
    const text = JSON.stringify(body).replaceAll(String.raw`\"`, '"');
    expect(text).toContain('"target_file":"a.txt","operation":"create"');
    expect(text).toContain('{"status":"written","target_file":"a.txt",');
  }
});

/** How much more text the model sent than the file has, as a part of it; the end marker is not counted. */
function repeated(requests: Awaited<ReturnType<Sandbox['provider']>>['requests']): number {
  const sent = requests
    .filter(({ behaviour }) => behaviour === 'document')
    .reduce((sum, { sentCharacters }) => sum + sentCharacters, 0);
  return (sent - TEXT.length - 'DONE'.length) / TEXT.length;
}

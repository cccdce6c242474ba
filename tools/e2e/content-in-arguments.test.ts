import { readdir } from 'node:fs/promises';

import type { Script, ScriptedCall } from '@orion/llm-adapters/scripted';
import { expect } from 'vitest';

import { numbered } from './support/scripts.ts';
import { longTest, test } from './support/test.ts';
import { lastToolMessage } from './support/requests.ts';

const TEXT = numbered('const value = "ü";', 1, 300);
const PLACE = /kept in (\S+\.txt)\./u;
const PROVIDERS = ['openai', 'openai-responses', 'anthropic'] as const;

function calling(call: ScriptedCall, more: Partial<Script['behaviours'][number]> = {}): Script {
  return {
    shape: { chunk: { min: 1, max: 40 } },
    behaviours: [
      { name: 'call', when: { toolResults: 0 }, reply: { toolCalls: [call] }, ...more },
      { reply: { text: 'I see.' } },
    ],
  };
}

test.concurrent.for(PROVIDERS)(
  'R258: %s: content sent as an argument is refused, kept, and named with the way to do it right',
  async (type, { machine }) => {
    const provider = await machine.provider(
      calling({
        name: 'WritePlanTool_begin',
        arguments: { intent: 'x', target_file: 'a.ts', operation: 'create', content: TEXT },
      }),
    );

    const ended = await machine.ask(provider, ['--json', '--provider', type]);

    expect(ended.exitCode, ended.stderr).toBe(0);
    expect(await machine.find('a.ts')).toBeNull();
    const said = JSON.stringify(provider.requests.at(-1)?.body);
    expect(said).toContain('CONTENT_IN_ARGUMENTS');
    expect(said).toContain('stream the text as your next message');
    const place = PLACE.exec(said)?.[1] ?? '';
    expect(place).toMatch(/^\.orion\/texts\//u);
    expect(String(await machine.read(place))).toBe(TEXT);
  },
);

test.concurrent.for([
  ['cut by the length limit', { kind: 'length', at: { characters: 4000 } }],
  ['cut and called complete', { kind: 'stop', at: { characters: 4000 } }],
] as const)(
  'R131, R258: arguments that are %s are not run, and what came is kept',
  async ([, fault], { machine }) => {
    const provider = await machine.provider(
      calling(
        { name: 'write_file', arguments: { path: 'a.ts', content: TEXT } },
        { faults: [fault] },
      ),
    );

    const ended = await machine.ask(provider, ['--json']);

    expect(ended.exitCode, ended.stderr).toBe(0);
    const said = JSON.stringify(provider.requests.at(-1)?.body);
    expect(said).toContain('INVALID_TOOL_ARGUMENTS');
    expect(said).toContain('cut off');
    const kept = String(await machine.read(PLACE.exec(said)?.[1] ?? ''));
    expect(kept.length).toBeGreaterThan(3000);
    expect(TEXT.startsWith(kept)).toBe(true);
  },
);

longTest(
  'R258: a connection that breaks within arguments loses nothing of them',
  async ({ machine }) => {
    const provider = await machine.provider(
      calling(
        { name: 'write_file', arguments: { path: 'a.ts', content: TEXT } },
        { faults: [{ kind: 'disconnect', at: { characters: 4000 } }] },
      ),
    );

    const ended = await machine.ask(provider);

    expect(ended.exitCode).toBe(1);
    expect(ended.stderr).toMatch(
      /^The call of write_file was not carried out\. The text of "content" \(\d+ lines, \d+ bytes\) is not lost: it is kept in /mu,
    );
    expect(ended.stderr).toMatch(
      /^orion: STREAM_BROKEN: The connection to \S+ broke while it was sending$/mu,
    );
    const kept = String(await machine.read(PLACE.exec(ended.stderr)?.[1] ?? ''));
    expect(TEXT.startsWith(kept)).toBe(true);
    expect(kept.length).toBeGreaterThan(0);
  },
);

test.concurrent('R258: what is kept can be read by the model', async ({ machine }) => {
  await machine.ask(
    await machine.provider(calling({ name: 'no_such_tool', arguments: { content: TEXT } })),
  );
  const [name] = await readdir(machine.path('.orion', 'texts'));
  const reader = await machine.provider(
    calling({ name: 'read_file', arguments: { path: `.orion/texts/${name}` } }),
  );

  const ended = await machine.ask(reader, ['--json']);

  expect(ended.exitCode, ended.stderr).toBe(0);
  expect(lastToolMessage(reader.requests)).toContain('const value = ');
});

longTest(
  'R258: a begin call whose content has quotes that are not escaped is kept as it came',
  async ({ machine }) => {
    const args = `{"intent":"x","target_file":"a.ts","operation":"create","content":"const a = "x";\\nconst b = "y";"}`;
    const provider = await machine.provider(
      calling({ name: 'WritePlanTool_begin', arguments: args }),
    );

    const ended = await machine.ask(provider, ['--json']);

    expect(ended.exitCode, ended.stderr).toBe(0);
    expect(await machine.find('a.ts')).toBeNull();
    const said = JSON.stringify(provider.requests.at(-1)?.body);
    expect(said).toContain(`they go wrong at position ${args.indexOf('x";')}`);
    expect(said).toContain('exactly as they came, they are kept in');
    expect(String(await machine.read(PLACE.exec(said)?.[1] ?? ''))).toBe(args);
    expect(await readdir(machine.path('.orion', 'texts'))).toHaveLength(1);
  },
);

import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

import { expect, onTestFinished, test } from 'vitest';

import { createOpenAiCompatibleAdapter } from '../openai-compatible/adapter.ts';
import { collect, errorOf, textOf } from '../testing/streams.ts';
import { generateLines } from './document.ts';
import { begun, continuation } from './testing/conversation.ts';

const CONTENT = { kind: 'lines', count: 500, template: '{n:5} {words:8} {hex}' } as const;
const TEXT = generateLines(CONTENT);

async function start(
  script: string,
): Promise<{ readonly url: string; readonly process: ChildProcess }> {
  const main = join(import.meta.dirname, 'testing/main.ts');
  const child = spawn(process.execPath, ['--conditions=@orion/source', main, script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  for await (const url of createInterface({ input: child.stdout })) return { url, process: child };
  throw new Error('the provider did not start');
}

// Two processes are started from source, which takes seconds on a busy machine.
test(
  'a provider that was killed continues from the quoted lines when it is started again',
  { tags: ['long'], timeout: 30_000 },
  async () => {
    const directory = await mkdtemp(join(tmpdir(), 'orion-scripted-'));
    onTestFinished(() => rm(directory, { recursive: true }));
    const script = join(directory, 'script.json');
    const document = { target: 'a.txt', content: CONTENT };
    await writeFile(
      script,
      JSON.stringify({ shape: { eventsPerSecond: 5000 }, behaviours: [{ reply: { document } }] }),
    );

    const first = await start(script);
    const adapter = createOpenAiCompatibleAdapter({ model: 'm', baseUrl: first.url });
    const events = [];
    for await (const event of adapter.sendMessagesStreaming(begun('a.txt'), {})) {
      events.push(event);
      if (textOf(events).length > 5000) first.process.kill('SIGKILL');
    }
    expect(errorOf(events).code).toBe('STREAM_BROKEN');
    const saved = textOf(events);
    expect(TEXT.startsWith(saved)).toBe(true);

    const second = await start(script);
    const again = createOpenAiCompatibleAdapter({ model: 'm', baseUrl: second.url });
    const prompt = continuation('a.txt', saved, 2);
    const rest = textOf(await collect(again.sendMessagesStreaming([prompt], {})));
    const anchor = saved.split('\n').slice(-3, -1).join('\n');
    expect(rest.startsWith(`${anchor}\n`)).toBe(true);
    expect(`${saved.slice(0, saved.indexOf(anchor))}${rest}`).toBe(`${TEXT}DONE`);
  },
);

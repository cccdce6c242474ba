import type { Behaviour, Fault } from '@orion/llm-adapters/scripted';
import { describe, expect } from 'vitest';

import type { RunEvent } from '@orion/contracts';

import { at } from './support/sandbox.ts';
import { beginCall, LAST_WORD, writeDocument, writeMessages } from './support/scripts.ts';
import { test } from './support/test.ts';

const ESCAPE = '\u001B';

describe('R250: --json', () => {
  test.concurrent('is nothing but numbered events and one result as the last line', async ({
    machine,
  }) => {
    const provider = await machine.provider(
      writeDocument({ target: 'a.txt', content: 'one\ntwo\n' }, { shape: { usage: true } }),
    );
    const ended = await machine.ask(provider, ['--json', '--project-id', 'p1']);
    expect(ended.exitCode, ended.stderr).toBe(0);
    const events = ended.events();
    expect(events.map((event) => event.seq)).toEqual(
      events.map((event) => event.seq).toSorted((one, other) => one - other),
    );
    expect(new Set(events.map((event) => event.projectId))).toEqual(new Set(['p1']));
    expect(events.filter((event) => event.type === 'done')).toHaveLength(1);
    expect(events.at(-1)).toMatchObject({
      type: 'done',
      status: 'complete',
      fullContent: 'All written.',
    });
    expect(events.some((event) => event.type === 'write_chunk')).toBe(false);
    const result = ended.result();
    expect(Object.keys(result)).toEqual([
      'type',
      'version',
      'status',
      'exitCode',
      'requestId',
      'receipts',
      'paused',
      'usage',
    ]);
    expect(result).toMatchObject({
      version: 1,
      status: 'complete',
      exitCode: 0,
      requestId: events[0]?.requestId,
      paused: [],
    });
    expect(result.usage.inputTokens).toBeGreaterThan(0);
    expect(ended.stderr).not.toContain(ESCAPE);
  });

  test.concurrent('--show-content adds the content as write_chunk events with growing offsets', async ({
    machine,
  }) => {
    const text = 'first line\nsécond line\nthird line\n';
    const provider = await machine.provider(writeDocument({ target: 'a.txt', content: text }));
    const ended = await machine.ask(provider, ['--json', '--show-content']);
    expect(ended.exitCode, ended.stderr).toBe(0);
    const chunks = ended.events().flatMap((event) => (event.type === 'write_chunk' ? [event] : []));
    expect(chunks.map((chunk) => chunk.content).join('')).toBe(text);
    let offset = 0;
    for (const chunk of chunks) {
      expect(chunk).toMatchObject({ offset, length: Buffer.byteLength(chunk.content ?? '') });
      offset += chunk.length;
    }
  });

  test.concurrent('has what is safe of a text, where it was joined, and what a person was asked', async ({
    machine,
  }) => {
    const lines = Array.from({ length: 12 }, (_, at) => `the line with number ${at}\n`);
    const part = (from: number, to?: number): string => lines.slice(from, to).join('');
    const reply = (text: string, faults: readonly Fault[]): Behaviour => ({
      when: { toolChoice: 'none' },
      times: 1,
      reply: { text },
      faults,
    });
    const provider = await machine.provider({
      shape: { chunk: 20 },
      behaviours: [
        reply(part(0), [{ kind: 'length', at: { lines: 8 } }]),
        // It says again where it was, then nothing for a while.
        reply(`${part(5)}DONE`, [{ kind: 'stall', at: { lines: 6 }, forMs: 700 }]),
        beginCall({ target_file: 'a.txt' }),
        LAST_WORD,
      ],
    });
    const args = ['run', 'Write it.', ...at(provider), '--approve', 'ask', '--json'];
    const words = [process.execPath, ...machine.entry(), ...args, '--show-content'].map(
      (word) => `'${word}'`,
    );
    const shell = machine.programOnTerminal(['sh', '-c', `exec ${words.join(' ')} > events.json`]);
    await shell.waitForOutput('(y/N');
    shell.type('y\r');
    expect((await shell.finished).exitCode).toBe(0);
    expect(String(await machine.read('a.txt'))).toBe(part(0));
    const events = String(await machine.read('events.json'))
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as RunEvent);
    const of = (type: RunEvent['type']) => events.filter((event) => event.type === type);
    expect(of('write_chunk')).not.toEqual([]);
    for (const event of of('write_chunk')) expect(event).toHaveProperty('durableBytes');
    expect(of('write_progress')).toContainEqual(
      expect.objectContaining({ savedBytes: expect.any(Number), lines: expect.any(Number) }),
    );
    expect(of('write_session')).toContainEqual(
      expect.objectContaining({ seam: expect.objectContaining({ status: 'verified' }) }),
    );
    expect(of('approval_requested')).toMatchObject([
      { action: { kind: 'write', changes: [{ target_file: 'a.txt' }] } },
    ]);
    expect(of('approval_decided')).toMatchObject([{ decision: 'yes' }]);
  });

  test.concurrent('a paused session is in the result with the commands that continue it', async ({
    machine,
  }) => {
    const provider = await machine.provider(writeMessages('a.txt', ['one\n']));
    const ended = await machine.ask(provider, ['--json'], { env: { WRITE_SESSION_IDLE_MS: '0' } });
    expect(ended.exitCode).toBe(3);
    const [session] = await machine.sessions();
    expect(ended.result()).toMatchObject({ status: 'paused', exitCode: 3, receipts: [] });
    expect(ended.result().paused).toEqual([
      {
        session_id: session?.id,
        target_file: 'a.txt',
        operation: 'create',
        code: 'NO_DONE',
        lines: 1,
        bytes: 4,
        session_dir: session?.directory,
        commands: [
          `orion recover-session ${session?.id}`,
          `orion recover-session ${session?.id} --finalize`,
          `orion recover-session ${session?.id} --discard`,
        ],
      },
    ]);
    expect(ended.events().at(-1)).toMatchObject({ type: 'done', status: 'paused' });
  });
});

describe('R077: without --json', () => {
  test.concurrent('stdout is the text of the model, and nothing else', async ({ machine }) => {
    const provider = await machine.provider(
      writeDocument({ target: 'a.txt', content: 'one\ntwo\n' }),
    );
    const ended = await machine.ask(provider, ['--verbose']);
    expect(ended).toMatchObject({ exitCode: 0, stdout: 'All written.' });
    expect(ended.stderr).toContain('Created a.txt: 2 lines, 8 bytes, sha256 ');
  });

  test.concurrent('stderr has neither progress nor colours when it is no terminal', async ({
    machine,
  }) => {
    const provider = await machine.provider(
      writeDocument(
        { target: 'a.txt', content: 'one line\n'.repeat(30) },
        { shape: { chunk: 9, eventsPerSecond: 100 } },
      ),
    );
    const ended = await machine.ask(provider);
    expect(ended.exitCode).toBe(0);
    expect(ended.stderr).not.toContain(ESCAPE);
    expect(ended.stderr).not.toContain('\r');
    expect(ended.stderr).not.toContain(' saved  ');
  });

  test.concurrent('--quiet leaves one line for the receipt', async ({ machine }) => {
    const provider = await machine.provider(writeDocument({ target: 'a.txt', content: 'one\n' }));
    const ended = await machine.ask(provider, ['--quiet']);
    expect(ended.exitCode).toBe(0);
    expect(ended.stderr.split('\n').filter((line) => line !== '')).toHaveLength(1);
  });

  test.concurrent.for([[], ['--json']])(
    'a reader that goes away costs no file: %s',
    async (args, { machine }) => {
      const text = 'one line of text\n'.repeat(200);
      const provider = await machine.provider(writeDocument({ target: 'a.txt', content: text }));
      const ended = await machine.ask(provider, args, { closesStdout: true });
      expect(ended.exitCode, ended.stderr).toBe(0);
      expect(String(await machine.read('a.txt'))).toBe(text);
    },
  );
});

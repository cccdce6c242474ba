// @module-tag long
import { readdir } from 'node:fs/promises';

import type { Behaviour } from '@orion/llm-adapters/scripted';
import { describe, expect } from 'vitest';

import { at, type Sandbox } from './support/sandbox.ts';
import { beginCall, LAST_WORD, numbered, writeDocument, writeMessages } from './support/scripts.ts';
import { longTest, test } from './support/test.ts';
import { waitFor } from './support/wait.ts';

/** Hazard: in a conversation a turn cannot be stopped, a prompt is sent twice or lost, or leaving loses a line. R061, R256. */

const TEXT = numbered('line', 1, 2000);
/** The writer stops in the middle, and the model goes on when it is asked again. */
const STALLED = writeDocument(
  { target: 'a.txt', content: TEXT },
  { faults: [{ kind: 'stall', reply: 1, at: { lines: 1000 } }], shape: { chunk: 500 } },
);

type Chat = { readonly args?: readonly string[]; readonly env?: Readonly<Record<string, string>> };

function chat(machine: Sandbox, provider: { readonly url: string }, { args = [], env }: Chat = {}) {
  return machine.terminal(['chat', '--plain', ...at(provider as never), ...args], {
    env: { WRITE_SESSION_SAVE_MS: '50', ...env },
  });
}

describe('stopping and leaving', () => {
  test.concurrent('Ctrl-C stops a write in order, /continue goes on with it, and the file is whole', async ({
    machine,
  }) => {
    const provider = await machine.provider(STALLED);
    const terminal = chat(machine, provider);
    await terminal.waitForOutput('> ');
    terminal.type('Write it.\r');
    await machine.savedSession(5000);
    terminal.type('\u0003');
    await terminal.waitForOutput('Stopping: what has arrived is being saved.');
    const output = await terminal.waitForOutput('Turn ended: ');
    expect(output).toMatch(/Paused \(ABORTED\): a\.txt is not written yet\. 1,000 lines/u);
    expect(output).toMatch(/Session [0-9a-f-]{36}: \/continue goes on with it/u);
    terminal.type('/continue\r');
    await terminal.waitForOutput('Turn ended: done, 1 file.');
    expect(String(await machine.read('a.txt'))).toBe(TEXT);
    terminal.type('\u0004');
    const ended = await terminal.finished;
    expect(ended.exitCode, ended.output).toBe(0);
    expect(ended.output).toContain('joined from 2 parts, seam verified');
  });

  test.concurrent.for(['rich', 'plain'])(
    '%s: a stop sends nothing that waits, and gives it back',
    { tags: ['long'] },
    async (face, { machine }) => {
      const isPlain = face === 'plain';
      const provider = await machine.provider(STALLED);
      const terminal = machine.terminal(
        ['chat', ...at(provider), ...(isPlain ? ['--plain'] : [])],
        {
          env: { WRITE_SESSION_SAVE_MS: '50' },
        },
      );
      const stored = (): Promise<readonly string[]> =>
        readdir(machine.path('.orion/lists/queue')).catch(() => []);
      await terminal.waitForOutput('orion 0.');
      terminal.type('Write it.\r');
      await machine.savedSession(5000);
      terminal.type('And then?\r');
      await waitFor('the stored prompt', async () => (await stored()).length === 1);
      terminal.type('/new\r');
      if (isPlain) await terminal.waitForOutput('Waits for the end of the turn: 2.');
      else await terminal.waitForScreen('queued: 2');
      if (!isPlain) {
        terminal.type('half');
        await terminal.waitForScreen('half');
      }
      terminal.type('\u0003');
      await terminal.waitForOutput('Not run, as you stopped: /new');
      await terminal.waitForOutput('Not sent, because you stopped the turn');
      await terminal.waitForOutput('Paused (ABORTED)');
      await waitFor('the empty queue', async () => (await stored()).length === 0);
      const asked = (): number =>
        provider.requests.filter(({ body }) => JSON.stringify(body).includes('And then?')).length;
      if (isPlain) await terminal.waitForOutput('Turn ended: ');
      else await terminal.waitForScreen('/ commands, @ files');
      expect(asked()).toBe(0);
      terminal.type(isPlain ? 'And then?\r' : '\r');
      await waitFor('the prompt', () => asked() === 1);
      // What was being typed is kept behind it.
      const sent = isPlain ? 'And then?' : 'And then?\n\nhalf';
      const body = JSON.stringify(provider.requests.at(-1)?.body);
      expect(body).toContain(JSON.stringify(sent));
      terminal.type('\u0004');
      expect((await terminal.finished).exitCode).toBe(3);
    },
  );

  test.concurrent('leaving in mid-write keeps what has arrived and exits 3; the next start offers it', async ({
    machine,
  }) => {
    const provider = await machine.provider(STALLED);
    const first = chat(machine, provider);
    await first.waitForOutput('> ');
    first.type('Write it.\r');
    await machine.savedSession(5000);
    first.type('/exit\r');
    const left = await first.finished;
    expect(left.exitCode, left.output).toBe(3);
    expect(await machine.exists('a.txt')).toBe(false);

    const second = chat(machine, provider);
    await second.waitForOutput('A file is unfinished: a.txt, create, 1,000 lines');
    await second.waitForOutput('Go on with it?');
    second.type('s\r');
    await second.waitForOutput('line 1000');
    await second.waitForOutput('Go on with it?', 2);
    second.type('\r');
    await second.waitForOutput('Turn ended: done, 1 file.');
    expect(String(await machine.read('a.txt'))).toBe(TEXT);
    second.type('\u0004');
    expect((await second.finished).exitCode).toBe(0);
  });

  longTest('an unfinished file is kept by a no, and put aside by /writes', async ({ machine }) => {
    const provider = await machine.provider(STALLED);
    await machine.askUntilKilled(provider, 5000);
    const terminal = chat(machine, provider);
    await terminal.waitForOutput('Go on with it?');
    terminal.type('n\r');
    await waitFor('the prompt', () => terminal.output().trimEnd().endsWith('>'));
    expect(await machine.sessions()).toHaveLength(1);
    terminal.type('/writes\r');
    await terminal.waitForOutput('(w)rite what is saved');
    terminal.type('w\r');
    await terminal.waitForOutput('Turn ended: done, 1 file.');
    expect(TEXT.startsWith(String(await machine.read('a.txt')))).toBe(true);
    terminal.type('/writes\r');
    await terminal.waitForOutput('No file is unfinished.');
    terminal.type('\u0004');
    expect((await terminal.finished).exitCode).toBe(0);
  });

  longTest(
    'Ctrl-C on an empty line leaves when it comes twice, SIGTERM at once',
    async ({ machine }) => {
      const provider = await machine.provider({ behaviours: [LAST_WORD] });
      const terminal = chat(machine, provider);
      await terminal.waitForOutput('> ');
      terminal.type('Hello.\r');
      await terminal.waitForOutput('Turn ended: done.');
      await waitFor('the prompt', () => terminal.output().trimEnd().endsWith('>'));
      terminal.type('\u0003');
      await terminal.waitForOutput('Ctrl-C again leaves.');
      terminal.type('\u0003');
      expect((await terminal.finished).exitCode).toBe(0);
      const other = chat(machine, provider);
      await other.waitForOutput('> ');
      other.kill('SIGTERM');
      expect((await other.finished).exitCode).toBe(0);
    },
  );
});

longTest('says that a provider is asked again, and when', async ({ machine }) => {
  const faults = [{ kind: 'status', status: 429, reply: 1, times: 1, retryAfter: '1' }] as const;
  const provider = await machine.provider({ behaviours: [LAST_WORD], faults });
  const terminal = chat(machine, provider);
  await terminal.waitForOutput('> ');
  terminal.type('Hello.\r');
  const said = 'PROVIDER_RATE_LIMIT: the provider is asked again in 1 s.';
  await terminal.waitForOutput(said);
  expect(await terminal.waitForOutput('Turn ended: done.')).toContain('All written.');
  terminal.type('\u0004');
  expect((await terminal.finished).exitCode).toBe(0);
});

longTest('sends a prompt that came during a turn once, after it', async ({ machine }) => {
  const provider = await machine.provider({
    behaviours: [{ name: 'slow', reply: { text: 'One. Two.' }, shape: { firstDelayMs: 700 } }],
  });
  const terminal = chat(machine, provider);
  await terminal.waitForOutput('> ');
  terminal.type('first\r');
  await waitFor('the request', () => provider.requests.length === 1);
  terminal.type('second\r');
  await terminal.waitForOutput('Turn ended', 2);
  const contents = provider.requests.map(
    ({ body }) =>
      (body as { readonly messages: readonly { readonly content: string }[] }).messages.at(-1)
        ?.content,
  );
  expect(contents).toEqual(['first', 'second']);
  terminal.type('\u0004');
  expect((await terminal.finished).exitCode).toBe(0);
});

test.concurrent('keeps what was being typed when the terminal is closed', async ({ machine }) => {
  const provider = await machine.provider({ behaviours: [LAST_WORD] });
  const first = machine.terminal(['chat', ...at(provider)]);
  await first.waitForScreen('/ commands');
  first.type('a draft of\nmany lines');
  await first.waitForScreen('many lines');
  first.kill('SIGHUP');
  expect((await first.finished).exitCode).toBe(0);
  const second = machine.terminal(['chat', ...at(provider)]);
  await second.waitForScreen('/ commands');
  second.type('\u001B[A');
  await second.waitForScreen(/> a draft of\n *many lines/u);
  second.type('\r');
  await second.waitForOutput('All written.');
  second.kill('SIGTERM');
  await second.finished;
});

longTest(
  'a prompt that waited is not to be edited where nothing can be put',
  async ({ machine }) => {
    const provider = await machine.provider(STALLED);
    const first = chat(machine, provider);
    await first.waitForOutput('> ');
    first.type('Write it.\r');
    await machine.savedSession(5000);
    first.type('later\r');
    await first.waitForOutput('Waits for the end of the turn: 1.');
    first.kill('SIGHUP');
    await first.finished;
    const second = chat(machine, provider, { args: ['--recover', 'no'] });
    const shown = await second.waitForOutput('Send it now?');
    expect(await second.waitForOutput('3 (d)iscard')).not.toContain('(e)dit');
    expect(shown).toContain('> later');
    second.kill('SIGTERM');
    await second.finished;
  },
);

describe('approvals', () => {
  test.concurrent('a no keeps the text, a reason reaches the model, a yes writes, d shows a long diff', async ({
    machine,
  }) => {
    await machine.write('a.txt', numbered('old', 1, 300));
    const provider = await machine.provider(
      writeMessages('a.txt', [`${numbered('new', 1, 300)}DONE`], { operation: 'overwrite' }),
    );
    const terminal = chat(machine, provider, { args: ['--approve', 'ask'] });
    await terminal.waitForOutput('> ');
    terminal.type('Write it.\r');
    const shown = await terminal.waitForOutput('ell the model why not');
    expect(shown).toContain(`overwrite ${machine.path('a.txt')}: `);
    expect(shown).toContain('lines left out: d shows all of them');
    expect(shown).not.toContain('-old 150');
    expect(shown).toMatch(/Write \S+a\.txt \(\+300 −300, 2,\d{3} bytes\)\?/u);
    terminal.type('d\r');
    await terminal.waitForOutput('+new 300', 2);
    expect(terminal.output()).toContain('-old 150');
    await terminal.waitForOutput('ell the model why not', 2);
    terminal.type('t\r');
    await terminal.waitForOutput('Why not:');
    terminal.type('use tabs\r');
    const paused = await terminal.waitForOutput('Turn ended: paused');
    expect(paused).toContain('Paused (APPROVAL_REFUSED)');
    expect(String(await machine.read('a.txt'))).toContain('old 300');
    terminal.type('/continue\r');
    await terminal.waitForOutput('ell the model why not', 3);
    // It is shown anew, and shortened again.
    terminal.type('y\r');
    await terminal.waitForOutput('ell the model why not', 4);
    expect(terminal.output()).toContain('Your yes does not count yet: ');
    expect(String(await machine.read('a.txt'))).toContain('old 300');
    terminal.type('d\r');
    await terminal.waitForOutput('ell the model why not', 5);
    terminal.type('y\r');
    await terminal.waitForOutput('Turn ended: done, 1 file.');
    expect(String(await machine.read('a.txt'))).toBe(numbered('new', 1, 300));
    terminal.type('\u0004');
    expect((await terminal.finished).exitCode).toBe(0);
  });

  longTest(
    '"all of this turn" covers its files, but no protected path, no command and no later turn',
    async ({ machine }) => {
      const write = (target_file: string, after: number): Behaviour =>
        beginCall({ target_file }, after);
      const provider = await machine.provider({
        behaviours: [
          { name: 'text', when: { toolChoice: 'none' }, reply: { text: 'new\nDONE' } },
          write('a.txt', 0),
          write('b.txt', 1),
          write('.env', 2),
          {
            name: 'line',
            when: { toolResults: 3 },
            reply: { toolCalls: [{ name: 'run_command', arguments: { command: 'touch made' } }] },
          },
          write('c.txt', 4),
          LAST_WORD,
        ],
      });
      const terminal = chat(machine, provider, { args: ['--approve', 'ask'] });
      await terminal.waitForOutput('> ');
      terminal.type('Write it.\r');
      await terminal.waitForOutput('ll of this turn');
      terminal.type('a\r');
      await terminal.waitForOutput('.env is protected');
      expect(String(await machine.read('b.txt'))).toBe('new\n');
      terminal.type('y\r');
      await terminal.waitForOutput('ll of this turn', 2);
      expect(await machine.exists('.env')).toBe(false);
      terminal.type('y\r');
      await terminal.waitForOutput('touch made');
      await terminal.waitForOutput('What it changes cannot be undone.');
      terminal.type('n\r');
      await terminal.waitForOutput('Turn ended: done, 4 files.');
      expect(await machine.exists('made')).toBe(false);
      expect(String(await machine.read('c.txt'))).toBe('new\n');
      terminal.type('\u0004');
      expect((await terminal.finished).exitCode).toBe(0);
    },
  );

  test.concurrent('a file that changed while its question was open is not overwritten, and /writes is named', async ({
    machine,
  }) => {
    await machine.write('a.txt', 'old\n');
    const provider = await machine.provider(
      writeMessages('a.txt', ['new\nDONE'], { operation: 'overwrite' }),
    );
    const terminal = chat(machine, provider, { args: ['--approve', 'ask'] });
    await terminal.waitForOutput('> ');
    terminal.type('Write it.\r');
    await terminal.waitForOutput('ell the model why not');
    await machine.write('a.txt', 'mine\n');
    terminal.type('y\r');
    const paused = await terminal.waitForOutput('Turn ended: paused');
    expect(paused).toContain('Paused (TARGET_CHANGED)');
    expect(paused).toContain('/writes shows what you can do with it.');
    expect(paused).not.toContain('--on-conflict');
    expect(String(await machine.read('a.txt'))).toBe('mine\n');
    terminal.type('/writes\r');
    await terminal.waitForOutput('rite what is saved');
    terminal.type('w\r');
    await terminal.waitForOutput('was changed meanwhile');
    terminal.type('\u0004');
    expect((await terminal.finished).exitCode).toBe(3);
  });

  longTest('a stop withdraws the question, and the text is saved', async ({ machine }) => {
    const provider = await machine.provider(writeMessages('a.txt', ['new\nDONE']));
    const terminal = chat(machine, provider, { args: ['--approve', 'ask'] });
    await terminal.waitForOutput('> ');
    terminal.type('Write it.\r');
    await terminal.waitForOutput('ell the model why not');
    terminal.type('\u0003');
    await terminal.waitForOutput('Turn ended');
    expect(await machine.exists('a.txt')).toBe(false);
    const [session] = await machine.sessions();
    expect(String(await session?.content())).toBe('new\n');
    terminal.type('\u0004');
    expect((await terminal.finished).exitCode).toBe(3);
  });

  test.concurrent.for(['rich', 'plain'])(
    'B15, B16, %s: a hostile file is shown as text, in the question, too',
    { tags: ['long'] },
    async (face, { machine }) => {
      const target = 'a\u00ad\u2065.txt';
      const provider = await machine.provider(
        writeMessages(target, ['x\u001b]0;owned\u0007\u202e\u{e0041}y\nDONE']),
      );
      const args = ['--approve', 'ask', ...(face === 'plain' ? ['--plain'] : [])];
      const terminal = machine.terminal(['chat', ...at(provider), ...args], { columns: 200 });
      await terminal.waitForOutput('orion 0.');
      terminal.type('Write it.\r');
      const shown = await terminal.waitForOutput('ell the model why not');
      expect(shown).toContain(String.raw`+x\x1b]0;owned\x07\u202e\u{e0041}y`);
      expect(shown).toContain(String.raw`a\xad\u2065.txt (+1 −0, `);
      for (const raw of ['\u202e', '\u{e0041}', '\u2065', '\u00ad', '\u001b]0']) {
        expect(shown).not.toContain(raw);
      }
      terminal.type(face === 'plain' ? 'y\r' : 'y');
      await terminal.waitForOutput('Created a');
      terminal.type('\u0004');
      const ended = await terminal.finished;
      expect(ended.exitCode, ended.output).toBe(0);
      expect(ended.output).not.toContain('\u001b]0');
      expect(String(await machine.read(target))).toBe('x\u001b]0;owned\u0007\u202e\u{e0041}y\n');
    },
  );
});

// @module-tag long
import type { Behaviour, Script } from '@orion/llm-adapters/scripted';
import { expect } from 'vitest';

import { at } from './support/sandbox.ts';
import { BEGIN, numbered } from './support/scripts.ts';
import type { Terminal } from './support/terminal.ts';
import { test } from './support/test.ts';
import { waitFor } from './support/wait.ts';

/** Hazard: each part of a conversation works, and a day of work in one does not. R061, R075, R253, R256. */

const GUIDE = numbered('guide line', 1, 2000);
const SECOND = numbered('second line', 1, 2000);

/** A file that the model begins when it is asked for it. */
function begin(asked: string, target_file: string, operation: string, text = ''): Behaviour {
  return {
    name: `begin ${asked}`,
    when: { lastRole: 'user', lastUser: asked, toolChoice: 'auto' },
    reply: {
      ...(text === '' ? {} : { text }),
      toolCalls: [{ name: BEGIN, arguments: { intent: asked, target_file, operation } }],
    },
  };
}

function content(asked: string, text: string): Behaviour {
  return { when: { lastUser: asked, toolChoice: 'none' }, reply: { text: `${text}\nDONE` } };
}

const MODEL: Script = {
  behaviours: [
    {
      reply: { document: { target: 'docs/guide.md', content: { kind: 'text', text: GUIDE } } },
      shape: { chunk: 400 },
      // Long enough to type a prompt in the meantime.
      faults: [{ kind: 'stall', at: { lines: 500 }, forMs: 1500 }],
    },
    {
      reply: { document: { target: 'docs/second.md', content: { kind: 'text', text: SECOND } } },
      shape: { chunk: 400 },
      faults: [{ kind: 'stall', reply: 1, at: { lines: 1000 } }],
    },
    begin('Write docs/guide.md', 'docs/guide.md', 'create', 'I will cover installation first.'),
    begin('Write docs/second.md', 'docs/second.md', 'create'),
    begin('Change the limit', 'src/config.ts', 'overwrite'),
    content('Change the limit', 'const limit = 65'),
    begin('Change it again', 'src/config.ts', 'overwrite'),
    content('Change it again', 'const limit = 1_000_000'),
    {
      when: { lastRole: 'user', lastUser: 'Run the tests' },
      reply: { toolCalls: [{ name: 'run_command', arguments: { command: 'touch tested' } }] },
    },
    {
      when: { lastUser: 'Think long' },
      reply: { text: 'First thought. '.repeat(100) },
      shape: { chunk: 15, eventsPerSecond: 5 },
    },
    {
      when: { lastRole: 'user', lastUser: 'and mention Windows' },
      reply: { text: 'Windows it is.' },
    },
    {
      when: { lastRole: 'user', lastUser: 'What was it about' },
      reply: { text: 'About a guide.' },
    },
    { reply: { text: 'That is done.' } },
  ],
};

test.concurrent('a whole day: ask, write, queue, approve, refuse, run, stop, leave, be killed, go on, undo, resume', async ({
  machine,
}) => {
  await machine.write('src/cli.ts', 'one\ntwo\nthree\n');
  await machine.write('src/config.ts', 'const limit = 64\n');
  const provider = await machine.provider(MODEL);
  const start = async (): Promise<Terminal> => {
    const terminal = machine.terminal(['chat', ...at(provider)], {
      env: { WRITE_SESSION_SAVE_MS: '50' },
    });
    await terminal.waitForOutput('orion 0.');
    return terminal;
  };
  const asked = (text: string): number =>
    provider.requests.filter(({ body }) => JSON.stringify(body).includes(text)).length;

  const morning = await start();
  morning.type('Write docs/guide.md: a complete guide, see @src/cli.ts\r');
  await morning.waitForOutput('@src/cli.ts 3 lines');
  await morning.waitForOutput('I will cover installation first.');
  await morning.waitForScreen(/docs\/guide\.md {2}500 lines .* saved/u);
  morning.type('and mention Windows\r');
  await morning.waitForScreen('queued: 1');
  expect(asked('and mention Windows')).toBe(0);
  await morning.waitForOutput('Created docs/guide.md: 2,000 lines');
  await morning.waitForOutput('Windows it is.');
  expect(String(await machine.read('docs/guide.md'))).toBe(GUIDE);
  expect(JSON.stringify(provider.requests[0]?.body)).toContain('three');

  morning.type('/approve ask\r');
  await morning.waitForOutput('Changes: ask');
  morning.type('Change the limit\r');
  await morning.waitForScreen('(+1 −1, 17 bytes)?');
  expect(morning.output()).toContain('-const limit = 64');
  morning.type('y');
  await morning.waitForOutput('Overwrote src/config.ts');
  morning.type('Change it again\r');
  await morning.waitForScreen('(+1 −1, 24 bytes)?');
  morning.type('t');
  await morning.waitForScreen('Why not:');
  morning.type('a million is too much\r');
  await morning.waitForOutput('Paused (APPROVAL_REFUSED)');
  expect(String(await machine.read('src/config.ts'))).toBe('const limit = 65\n');
  await discard(morning);
  morning.type('Run the tests\r');
  await morning.waitForScreen('What it changes cannot be undone.');
  morning.type('y');
  await waitFor('the command', () => machine.exists('tested'));
  await waitFor('the model to read the reason', () => asked('a million is too much') > 0);
  await idle(morning);
  morning.type('Think long\r');
  await morning.waitForOutput('First thought.');
  morning.type('\u001B');
  await morning.waitForOutput('Stopping: what has arrived is being saved.');
  await idle(morning);
  morning.type('\u0004');
  const left = await morning.finished;
  expect(left.exitCode, left.output).toBe(0);

  const noon = await start();
  noon.type('Write docs/second.md\r');
  await machine.savedSession(5000);
  noon.kill('SIGKILL');
  await noon.finished;

  const evening = await start();
  await evening.waitForOutput('A file is unfinished: docs/second.md, create, 1,000 lines');
  await evening.waitForScreen('Go on with it?');
  evening.type('\r');
  await evening.waitForOutput('Created docs/second.md: 2,000 lines');
  expect(String(await machine.read('docs/second.md'))).toBe(SECOND);
  await idle(evening);
  evening.type('/undo\r');
  await evening.waitForOutput('Removed docs/second.md');
  expect(await machine.exists('docs/second.md')).toBe(false);
  evening.type('/exit\r');
  expect((await evening.finished).exitCode).toBe(0);

  const nextDay = await start();
  nextDay.type('/resume\r');
  await nextDay.waitForScreen('Conversations of ');
  nextDay.type('guide');
  await nextDay.waitForScreen((screen) => !screen.rows.join('\n').includes('second.md'));
  nextDay.type('\r');
  await nextDay.waitForOutput('Going on with: Write docs/guide.md');
  nextDay.type('What was it about?\r');
  await nextDay.waitForOutput('About a guide.');
  const last = JSON.stringify(provider.requests.at(-1)?.body);
  expect(last).toContain('and mention Windows');
  expect(last).not.toContain('guide line 1000');
  nextDay.type('\u0004');
  const ended = await nextDay.finished;
  expect(ended.exitCode, ended.output).toBe(0);
});

/** Waits until no turn runs: nothing says for how long one has. */
async function idle(terminal: Terminal): Promise<void> {
  await terminal.waitForScreen(({ rows }) => !rows.some((row) => / \d+:\d\d *$/u.test(row)));
}

async function discard(terminal: Terminal): Promise<void> {
  await idle(terminal);
  terminal.type('/writes\r');
  await terminal.waitForScreen('(d)iscard');
  terminal.type('d');
  await terminal.waitForOutput('Put aside for 30 days');
}

import { readdir } from 'node:fs/promises';

import type { Behaviour } from '@orion/llm-adapters/scripted';
import { describe, expect } from 'vitest';

import { lastToolMessage } from './support/requests.ts';
import { at } from './support/sandbox.ts';
import { BEGIN, beginCall, LAST_WORD, writeMessages } from './support/scripts.ts';
import { longTest, test } from './support/test.ts';
import { failedCalls } from './support/outcomes.ts';

/** Hazard: something is written without approval, or something other than what was shown. R256, R269, B18. */

const PLAN = {
  intent: 'two \u001b[2Jfiles',
  operations: [
    { type: 'append', target_file: 'a.txt', content: 'new\u001b]0;x\u0007\u202e\n' },
    { type: 'create', target_file: 'b.txt', content: `${'\n'.repeat(50)}last\n` },
  ],
};

/** What the approval showed as nothing, each in a name, an intent and a text (B16). */
const NOTHING = `\u00ad\u2065\u180b\u180f\u{1bca0}\u{1d173}\u{e0180}${'\u2800'.repeat(300)}`;
const SHOWN = String.raw`\xad\u2065\u180b\u180f\u{1bca0}\u{1d173}\u{e0180}${String.raw`\u2800`.repeat(300)}`;
const READABLE = '👩\u200d👩\u200d👧 می\u200cخواهم क्\u200dष';

test.concurrent('B16: shows what is drawn as nothing, and leaves emoji, Persian and Hindi readable', async ({
  machine,
}) => {
  const plan = {
    intent: `a${NOTHING}b`,
    operations: [
      {
        type: 'create',
        target_file: `c${NOTHING.slice(0, 20)}\u200dd.txt`,
        content: `x${NOTHING}y\n${READABLE}\n`,
      },
    ],
  };
  await machine.write('plan.json', JSON.stringify(plan));
  const terminal = machine.terminal(['apply-plan', 'plan.json', '--approve', 'ask']);
  const raw = await terminal.waitForOutput('(y/N, d shows the whole diff');
  const shown = raw.replaceAll(/\r?\n/gu, '');
  expect(shown).toContain(`about to change: a${SHOWN}b`);
  expect(shown).toContain(String.raw`c\xad\u2065\u180b\u180f\u{1bca0}\u{1d173}\u{e0180}`);
  expect(shown).toContain(String.raw`\u200dd.txt: `);
  expect(shown).toContain(`+x${SHOWN}y`);
  expect(shown).toContain(`+${READABLE}`);
  terminal.type('\r');
  expect((await terminal.finished).exitCode).toBe(1);
});

describe('a plan', () => {
  test.concurrent('shows full paths and a harmless diff, and changes nothing without a yes', async ({
    machine,
  }) => {
    await machine.write('a.txt', 'old\n');
    await machine.write('plan.json', JSON.stringify(PLAN));
    const terminal = machine.terminal(['apply-plan', 'plan.json', '--approve', 'ask']);
    const shown = await terminal.waitForOutput('(y/N, d shows the whole diff');
    expect(shown).toContain(`append ${machine.path('a.txt')}: 4 → 17 bytes; sha256 `);
    expect(shown).toContain(`create ${machine.path('b.txt')}: 55 bytes`);
    expect(shown).toContain('+new\\x1b]0;x\\x07\\u202e');
    expect(shown).toContain('+[40 more empty lines]');
    // A diff may push what is above it off the screen.
    const below = shown.slice(shown.lastIndexOf('+last'));
    expect(below).toContain(`append ${machine.path('a.txt')}: 4 → 17 bytes; sha256 `);
    expect(below).toContain(`create ${machine.path('b.txt')}: 55 bytes`);
    expect(shown).not.toContain('all of this turn');
    expect(shown).toContain('+last');
    expect(shown).not.toContain('\u001b[2J');
    expect(shown).not.toContain('\u001b]0');
    expect(await machine.exists('b.txt')).toBe(false);
    terminal.type('\r');
    const { exitCode, output } = await terminal.finished;
    expect(exitCode).toBe(1);
    expect(output).toContain('The person said no. (APPROVAL_REFUSED)');
    expect(String(await machine.read('a.txt'))).toBe('old\n');
    expect(await machine.exists('b.txt')).toBe(false);
  });

  test.concurrent('is written after a yes', async ({ machine }) => {
    await machine.write('a.txt', 'old\n');
    await machine.write('plan.json', JSON.stringify(PLAN));
    const terminal = machine.terminal(['apply-plan', 'plan.json'], {
      env: { ORION_APPROVE: 'ask' },
    });
    await terminal.waitForOutput('(y/N');
    terminal.type('y\r');
    expect((await terminal.finished).exitCode).toBe(0);
    expect(String(await machine.read('a.txt'))).toBe('old\nnew\u001b]0;x\u0007\u202e\n');
    expect(await machine.exists('b.txt')).toBe(true);
  });

  test.concurrent('is not written over a file that changed while the question stood', async ({
    machine,
  }) => {
    await machine.write('a.txt', 'old\n');
    await machine.write('plan.json', JSON.stringify(PLAN));
    const terminal = machine.terminal(['apply-plan', 'plan.json', '--approve=ask']);
    await terminal.waitForOutput('(y/N');
    await machine.write('a.txt', 'OLD\n');
    terminal.type('y\r');
    const { exitCode, output } = await terminal.finished;
    expect(exitCode).toBe(1);
    expect(output).toContain(
      'Operation 0 (append) failed: "a.txt" is not what it was when the work began; nothing was overwritten. (TARGET_CHANGED)',
    );
    expect(String(await machine.read('a.txt'))).toBe('OLD\n');
    expect(await machine.exists('b.txt')).toBe(false);
  });

  longTest('ask needs a terminal, never needs none', async ({ machine }) => {
    const stdin = JSON.stringify(PLAN);
    const asked = await machine.run(['apply-plan', '-', '--approve', 'ask'], { stdin });
    expect(asked.exitCode).toBe(2);
    expect(asked.stderr).toContain('--approve ask needs a terminal');
    const run = await machine.run([
      'run',
      'x',
      '--approve',
      'ask',
      '--model',
      'm',
      '--base-url',
      'http://127.0.0.1:9',
    ]);
    expect(run.exitCode).toBe(2);
    await machine.write('a.txt', 'old\n');
    const never = await machine.run(['apply-plan', '-', '--approve', 'never'], { stdin });
    expect(never.exitCode).toBe(1);
    expect(never.stdout).toContain(
      'Operation 0 (append) failed: No change is approved here (--approve never). (APPROVAL_REFUSED)\n',
    );
    expect(String(await machine.read('a.txt'))).toBe('old\n');
  });
});

describe('a write session', () => {
  test.concurrent('is paused by a no, and the text stays', async ({ machine }) => {
    await machine.write('a.txt', 'old\n');
    const provider = await machine.provider(
      writeMessages('a.txt', ['new\nDONE'], { operation: 'overwrite' }),
    );
    const terminal = machine.terminal(['run', 'Write it.', ...at(provider), '--approve', 'ask']);
    const shown = await terminal.waitForOutput('(y/N');
    expect(shown).toContain(`overwrite ${machine.path('a.txt')}: 4 → 4 bytes`);
    expect(shown).toContain('-old');
    expect(shown).toContain('+new');
    terminal.type('n\r');
    const { exitCode, output } = await terminal.finished;
    expect(exitCode).toBe(3);
    expect(output).toContain('Paused (APPROVAL_REFUSED): a.txt is not written yet. ');
    expect(String(await machine.read('a.txt'))).toBe('old\n');
    const [session] = await machine.sessions();
    const ended = await machine.run(['recover-session', session?.id ?? '', '--finalize']);
    expect(ended.exitCode, ended.stderr).toBe(0);
    expect(String(await machine.read('a.txt'))).toBe('new\n');
  });

  longTest('passes the reason for a no on to the model', async ({ machine }) => {
    const provider = await machine.provider(writeMessages('a.txt', ['new\nDONE']));
    const terminal = machine.terminal(['run', 'Write it.', ...at(provider), '--approve', 'ask']);
    await terminal.waitForOutput('(y/N');
    terminal.type('perhaps\r');
    expect(await terminal.waitForOutput('(y/N', 2)).toContain('This is not one of the answers.');
    terminal.type('n use tabs, not \u201cblanks\u201d\r');
    const { exitCode, output } = await terminal.finished;
    expect(exitCode).toBe(3);
    expect(output).toContain('The person said no: use tabs, not \u201cblanks\u201d.');
    expect(await machine.exists('a.txt')).toBe(false);
    const next = await machine.provider({ behaviours: [LAST_WORD] });
    const ended = await machine.ask(next, ['--continue', '--recover', 'no']);
    expect(ended.exitCode, ended.stderr).toBe(0);
    expect(JSON.parse(lastToolMessage(next.requests))).toMatchObject({
      status: 'paused',
      code: 'APPROVAL_REFUSED',
      reason: 'The person said no: use tabs, not \u201cblanks\u201d.',
    });
  });

  longTest(
    'is asked about again when what lay ready was changed meanwhile, whatever the answer was',
    async ({ machine }) => {
      for (const answer of ['y', 'a']) {
        const target = `${answer}.txt`;
        const provider = await machine.provider(writeMessages(target, ['new\nDONE']));
        const terminal = machine.terminal([
          'run',
          'Write it.',
          ...at(provider),
          '--approve',
          'ask',
        ]);
        await terminal.waitForOutput('(y/N');
        const ready = (await readdir(machine.workspace)).filter((name) => name.endsWith('.tmp'));
        expect(ready).toHaveLength(1);
        await machine.write(ready[0] ?? '', 'bad\n');
        terminal.type(`${answer}\r`);
        await terminal.waitForOutput('(y/N', 2);
        expect(await machine.exists(target)).toBe(false);
        terminal.type('y\r');
        expect((await terminal.finished).exitCode).toBe(0);
        expect(String(await machine.read(target))).toBe('new\n');
      }
    },
  );

  test.concurrent('is not written over a file that changed while the question stood', async ({
    machine,
  }) => {
    await machine.write('a.txt', 'old\n');
    const script = writeMessages('a.txt', ['new\nDONE'], { operation: 'overwrite' });
    const provider = await machine.provider(script);
    const terminal = machine.terminal(['run', 'Write it.', ...at(provider), '--approve', 'ask']);
    await terminal.waitForOutput('(y/N');
    await machine.write('a.txt', 'OLD\n');
    terminal.type('a\r');
    const { exitCode, output } = await terminal.finished;
    expect(exitCode).toBe(3);
    expect(output).toContain('Paused (TARGET_CHANGED)');
    expect(String(await machine.read('a.txt'))).toBe('OLD\n');
  });

  test.concurrent('is not asked about after "all of this turn", but a shell line and a protected path are', async ({
    machine,
  }) => {
    const write = (target_file: string, at: number): Behaviour => beginCall({ target_file }, at);
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
    const terminal = machine.terminal(['run', 'Write it.', ...at(provider), '--approve', 'ask']);
    await terminal.waitForOutput('a writes all of this turn');
    terminal.type('a\r');
    await terminal.waitForOutput('.env is protected');
    expect(String(await machine.read('b.txt'))).toBe('new\n');
    expect(terminal.output().match(/Write \S+ \(\+1 −0, 4 bytes\)\?/gu)).toHaveLength(1);
    expect(terminal.output()).toContain(`create ${machine.path('b.txt')}: 4 bytes; sha256 `);
    terminal.type('y\r');
    await terminal.waitForOutput('(+1 −0, 4 bytes)?', 2);
    expect(await machine.exists('.env')).toBe(false);
    terminal.type('y\r');
    await terminal.waitForOutput('Run it in ');
    terminal.type('n not that\r');
    const { exitCode, output } = await terminal.finished;
    expect(exitCode).toBe(0);
    expect(output.match(/Write \S+ \(\+1 −0, 4 bytes\)\?/gu)).toHaveLength(2);
    expect(await machine.exists('made')).toBe(false);
    expect(String(await machine.read('c.txt'))).toBe('new\n');
    expect(JSON.stringify(provider.requests)).toContain('the person said no: not that');
  });

  test.concurrent('is committed after a yes', async ({ machine }) => {
    const provider = await machine.provider(writeMessages('a.txt', ['new\nDONE']));
    const terminal = machine.terminal(['run', 'Write it.', ...at(provider), '--approve', 'ask']);
    await terminal.waitForOutput('(y/N');
    expect(await machine.exists('a.txt')).toBe(false);
    terminal.type('yes\r');
    expect((await terminal.finished).exitCode).toBe(0);
    expect(String(await machine.read('a.txt'))).toBe('new\n');
  });

  longTest('is saved and paused when the question is interrupted', async ({ machine }) => {
    const provider = await machine.provider(writeMessages('a.txt', ['new\nDONE']));
    const terminal = machine.terminal(['run', 'Write it.', ...at(provider), '--approve', 'ask']);
    await terminal.waitForOutput('(y/N');
    terminal.kill('SIGTERM');
    expect((await terminal.finished).exitCode).toBe(3);
    expect(await machine.exists('a.txt')).toBe(false);
    const [session] = await machine.sessions();
    expect(String(await session?.content())).toBe('new\n');
  });

  test.concurrent('never is refused before anything is streamed', async ({ machine }) => {
    const provider = await machine.provider(writeMessages('a.txt', ['new\nDONE']));
    const ended = await machine.ask(provider, ['--approve', 'never', '--json']);
    expect(failedCalls(ended)).toEqual([[BEGIN, 'APPROVAL_REFUSED']]);
    expect(await machine.exists('a.txt')).toBe(false);
    expect(await machine.sessions()).toEqual([]);
    expect(provider.requests).toHaveLength(2);
  });
});

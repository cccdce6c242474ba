import type { Script } from '@orion/llm-adapters/scripted';
import { expect } from 'vitest';

import { at, type Sandbox } from './support/sandbox.ts';
import { beginCall } from './support/scripts.ts';
import { test } from './support/test.ts';
import type { Terminal } from './support/terminal.ts';

/** Hazard: a command of a conversation does something else than it says, or reaches the model. */

const FILES: Script = {
  behaviours: [
    { name: 'text', when: { toolChoice: 'none' }, reply: { text: 'one\nDONE' } },
    beginCall({ target_file: 'a.txt' }, 0),
    { name: 'last word', reply: { text: '# An answer\n\nIt is written.' } },
  ],
};

async function chat(machine: Sandbox, script: Script = FILES, args: readonly string[] = []) {
  const provider = await machine.provider(script);
  const terminal = machine.terminal(['chat', '--plain', ...at(provider), ...args]);
  await terminal.waitForOutput('orion 0.');
  return { provider, terminal };
}

/** Types a line, and waits until this was printed behind it. */
async function type(terminal: Terminal, typed: string, expected: string): Promise<string> {
  const from = terminal.output().length;
  terminal.type(`${typed}\r`);
  for (;;) {
    const times = terminal.output().split(expected).length - 1;
    const after = terminal.output().slice(from);
    if (after.replace(typed, '').includes(expected)) return after;
    await terminal.waitForOutput(expected, times + 1);
  }
}

async function leave(terminal: Terminal): Promise<void> {
  terminal.type('/exit\r');
  const { exitCode, output } = await terminal.finished;
  expect(exitCode, output).toBe(0);
}

test.concurrent('undoes the change that was asked about, and no later one of another process', async ({
  machine,
}) => {
  const { terminal } = await chat(machine);
  await type(terminal, 'Write it.', 'Turn ended: done, 1 file.');
  await machine.write('a.txt', 'edited\n');
  await type(terminal, '/undo', 'Undo it anyway?');
  const operations = [{ type: 'create', target_file: 'b.txt', content: 'later\n' }];
  const stdin = JSON.stringify({ intent: 'another process', operations });
  expect((await machine.run(['apply-plan', '-'], { stdin })).exitCode).toBe(0);
  await type(terminal, 'y', 'brings it back');
  expect([await machine.exists('a.txt'), await machine.exists('b.txt')]).toEqual([false, true]);
  // One file of a change, which is named by its backup.
  const both = ['c.txt', 'd.txt'].map((name) => ({ ...operations[0], target_file: name }));
  const plan = JSON.stringify({ intent: 'two files', operations: both });
  const { stdout } = await machine.run(['apply-plan', '-', '--json'], { stdin: plan });
  const { receipts } = JSON.parse(stdout) as { receipts: readonly { backup_id: string }[] };
  await machine.write('c.txt', 'edited\n');
  await type(terminal, `/undo ${receipts[0]?.backup_id}`, 'Undo it anyway?');
  await type(terminal, 'y', 'Removed c.txt');
  expect([await machine.exists('c.txt'), await machine.exists('d.txt')]).toEqual([false, true]);
  await leave(terminal);
});

test.concurrent('shows help, state, tools and servers, and sends none of it', async ({
  machine,
}) => {
  const { provider, terminal } = await chat(machine);
  const help = await type(terminal, '/help', 'A prompt that begins with a slash');
  for (const name of ['new', 'resume [id]', 'writes [id]', 'undo [id]', 'save <file>', 'exit']) {
    expect(help).toContain(`/${name}`);
  }
  const status = await type(terminal, '/status', 'store ');
  expect(status).toMatch(/model +scripted/u);
  expect(status).toContain(machine.path('.orion'));
  expect(status).toMatch(/model calls of a turn, at most +none/u);
  expect(status).toMatch(/bytes of a file, at most +67,108,864/u);
  expect(status).toMatch(/its orion\.config\.json +there is none/u);
  expect(await type(terminal, '/tools', 'run_command')).toMatch(/read_file +reads +Orion/u);
  await type(terminal, '/new x', '/new takes no argument.');
  await type(terminal, '/exit now', '/exit takes no argument.');
  await type(terminal, '/mcp', 'No MCP server is configured');
  await type(terminal, '/outputs', 'no stored outputs');
  await type(terminal, '/writes', 'No file is unfinished.');
  await type(terminal, '/continue', 'No file is unfinished.');
  await type(terminal, '/undo', 'CHANGE_NOT_FOUND');
  await type(terminal, '/changes', 'has changed no file');
  await type(terminal, '/save x.txt', 'no answer to save yet');
  await type(terminal, '/rename', 'A title is missing');
  await type(terminal, '/rename x', 'not stored yet');
  await type(terminal, '/resume', 'There are no conversations.');
  await type(terminal, '/resume no-such', 'CONVERSATION_NOT_FOUND');
  await leave(terminal);
  expect(provider.requests).toEqual([]);
});

test.concurrent('changes model, mode, protocol and approvals from the next turn on', async ({
  machine,
}) => {
  const { provider, terminal } = await chat(machine);
  await type(terminal, '/model', 'Model: scripted');
  await type(terminal, '/model other', 'Model: other, from the next turn on');
  await type(terminal, '/mode plan', 'Mode: plan');
  await type(terminal, '/mode neither', 'not one of: plan, act');
  await type(terminal, '/protocol two-stage', 'Protocol: two-stage');
  await type(terminal, '/protocol none', 'PROTOCOL_UNSUPPORTED');
  await type(terminal, '/approve maybe', 'not one of: auto, ask, never');
  await type(terminal, 'Hello.', 'Turn ended: done.');
  expect(provider.requests[0]?.body).toMatchObject({ model: 'other' });
  expect(JSON.stringify(provider.requests[0]?.body)).toContain('Mode: PLAN');
  await type(terminal, '/protocol standard', 'Protocol: standard');
  await type(terminal, '/mode act', 'Mode: act');
  await type(terminal, '/approve never', 'Changes: never');
  await type(terminal, '/new', 'begins a new conversation');
  await type(terminal, 'Write it.', 'Turn ended: done.');
  expect(terminal.output()).toContain('APPROVAL_REFUSED');
  expect(await machine.exists('a.txt')).toBe(false);
  await leave(terminal);
});

test.concurrent('takes a change back and brings it back, saves an answer, and finds a conversation again', async ({
  machine,
}) => {
  const { terminal } = await chat(machine);
  await type(terminal, 'Write it.', 'Turn ended: done, 1 file.');
  await type(terminal, '/rename My \u202efile', 'Its title is now');
  const listed = await type(terminal, '/changes', 'in effect');
  expect(listed).toContain('create a.txt');
  await terminal.waitForOutput('+one');
  const undone = await type(terminal, '/undo', 'brings it back');
  expect(undone).toContain('Removed a.txt');
  expect(await machine.exists('a.txt')).toBe(false);
  const back = /\/undo (?<id>\S+) brings/u.exec(undone)?.groups?.['id'] ?? '';
  await type(terminal, `/undo ${back}`, 'Restored a.txt');
  expect(String(await machine.read('a.txt'))).toBe('one\n');

  await type(terminal, '/save answer.md', 'Saved answer.md: 3 lines');
  expect(String(await machine.read('answer.md'))).toBe('# An answer\n\nIt is written.\n');
  await machine.write('answer.md', 'mine\n');
  await type(terminal, '/save answer.md', 'Overwrite it?');
  await type(terminal, 'n', '> ');
  expect(String(await machine.read('answer.md'))).toBe('mine\n');
  await type(terminal, '/save ../outside.md', 'INVALID_TARGET');

  // What was edited since is not taken back without a yes.
  await machine.write('a.txt', 'edited\n');
  await type(terminal, '/undo a', 'CHANGE_NOT_FOUND');

  await type(terminal, '/new', 'begins a new conversation');
  await type(terminal, '/changes', 'has changed no file');
  const picker = await type(terminal, '/resume', 'Conversations of ');
  expect(picker + (await terminal.waitForOutput('My file'))).toContain('message');
  await type(terminal, '1', 'Going on with: My file');
  expect(terminal.output().split('It is written.').length).toBeGreaterThan(2);
  await type(terminal, '/changes', 'create a.txt');
  await leave(terminal);
});

test.concurrent('asks about an unknown command, and sends it only after a yes', async ({
  machine,
}) => {
  const { provider, terminal } = await chat(machine, {
    behaviours: [{ reply: { text: 'I see.' } }],
  });
  await type(terminal, '/hepl', 'There is no command /hepl.');
  await type(terminal, 'n', '> ');
  await type(terminal, '/res', 'Did you mean /resume?');
  await type(terminal, 'y', 'Turn ended');
  await type(terminal, '//etc is a folder', 'Turn ended');
  const sent = provider.requests.map(({ body }) => JSON.stringify(body));
  expect(sent).toHaveLength(2);
  expect(sent[0]).toContain('"/res"');
  expect(sent[1]).toContain('"/etc is a folder"');
  await leave(terminal);
});

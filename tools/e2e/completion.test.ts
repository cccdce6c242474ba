// @module-tag long
import { execFileSync } from 'node:child_process';
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import * as pty from '@lydell/node-pty';
import { expect } from 'vitest';

import { commandEntry } from './support/entry.ts';
import { textOfLoaded } from './support/loaded.ts';
import { configureUser } from './support/mcp.ts';
import type { Sandbox } from './support/sandbox.ts';
import { LAST_WORD, numbered, writeDocument } from './support/scripts.ts';
import { copyConversation } from './support/stored.ts';
import { longTest, test } from './support/test.ts';
import { waitFor } from './support/wait.ts';

/** How each shell is started without what the person of this machine has set up, and how it takes the script. */
const SHELLS = {
  bash: {
    args: ['--norc', '--noprofile', '-i'],
    takes: 'source <(orion completion bash)',
  },
  zsh: {
    args: ['-f', '-i'],
    takes: 'autoload -Uz compinit; compinit -u -D; source <(orion completion zsh)',
  },
  fish: { args: ['--no-config', '-i'], takes: 'orion completion fish | source' },
} as const;

const TEXT = numbered('line', 1, 400);
const LINE_AWAY = '\u0015';
const PLAN = {
  intent: 'Make a file',
  target_file: 'made.txt',
  operations: [{ type: 'create', content: 'text\n' }],
};

/** `orion` on the path: it answers the script, and of every other call it keeps the words. */
async function commandOnPath(
  machine: Sandbox,
): Promise<{ readonly bin: string; readonly log: string }> {
  const bin = join(machine.root, 'bin');
  const log = join(machine.root, 'called');
  await mkdir(bin);
  await writeFile(log, '');
  const command = [process.execPath, ...commandEntry()].map((word) => `'${word}'`).join(' ');
  await writeFile(
    join(bin, 'orion'),
    `#!/bin/sh
case $1 in
  complete | completion) exec ${command} "$@" ;;
  *) echo "$*" >> '${log}' ;;
esac
`,
  );
  await chmod(join(bin, 'orion'), 0o755);
  return { bin, log };
}

function isInstalled(shell: string): boolean {
  try {
    execFileSync(shell, ['-c', 'exit 0'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

for (const [shell, { args, takes }] of Object.entries(SHELLS)) {
  test.concurrent(`${shell} completes commands, options, values, files and ids, and runs nothing of the line`, async ({
    machine,
    skip,
  }) => {
    skip(!isInstalled(shell), `there is no ${shell}`);
    const { bin, log } = await commandOnPath(machine);
    await machine.write('the-plan.json', JSON.stringify(PLAN));
    await machine.write('kept.json', '{}');
    expect((await machine.run(['apply-plan', 'the-plan.json'])).exitCode).toBe(0);
    const listed = await machine.run(['undo', '--list', '--json']);
    const { changes } = JSON.parse(listed.stdout) as { changes: [{ change_id: string }] };

    const terminal = pty.spawn(shell, [...args], {
      name: 'xterm',
      cols: 200,
      rows: 30,
      cwd: machine.workspace,
      env: { ...machine.environment, PATH: `${bin}:${machine.environment['PATH'] ?? ''}` },
    });
    try {
      let shown = '';
      terminal.onData((text) => {
        shown += text;
      });
      const enter = async (typed: string, called: string): Promise<void> => {
        terminal.write(`${typed}\r`);
        await waitFor(`\`orion ${called}\` after ${JSON.stringify(typed)} in\n${shown}`, async () =>
          (await readFile(log, 'utf8')).split('\n').includes(called),
        );
      };
      terminal.write(`${takes}\r`);
      await enter('orion is-ready', 'is-ready');
      await enter('orion list-s\t', 'list-sessions');
      await enter('orion conv\tli\t--js\t', 'conversations list --json');
      await enter(
        'orion run --base-url http://x --mode=pl\t',
        'run --base-url http://x --mode=plan',
      );
      await enter('orion apply-plan the-p\t', 'apply-plan the-plan.json');
      await enter('orion undo \t', `undo ${changes[0].change_id}`);
      terminal.write(`orion outputs extract > kept.json --flat\t${LINE_AWAY}`);
      terminal.write(`orion run "$(touch was-run)" --mo\t${LINE_AWAY}`);
      await enter('orion is-done', 'is-done');
      expect(String(await machine.read('kept.json'))).toBe('{}');
      expect(await machine.exists('was-run')).toBe(false);
    } finally {
      terminal.kill('SIGKILL');
    }
  });
}

test.concurrent('completes in the workspace that the line names, and never fails', async ({
  machine,
}) => {
  await machine.write('sub/plan.json', JSON.stringify(PLAN));
  expect(await machine.run(['apply-plan', '-C', 'sub', 'sub/plan.json'])).toMatchObject({
    exitCode: 0,
  });
  const complete = async (...words: readonly string[]): Promise<string> => {
    const ended = await machine.run(['complete', '--', ...words]);
    expect(ended).toMatchObject({ exitCode: 0, stderr: '' });
    return ended.stdout;
  };
  expect(await complete('undo', '')).toBe(':4\n');
  expect(await complete('undo', '-C', '"sub"', '')).toMatch(/^[\da-f-]{36}\tmade\.txt, .*\n:4\n$/u);
  expect(await complete('undo', '-C', 'nowhere', '')).toBe(':4\n');
  expect(await machine.exists('.orion')).toBe(false);
});

longTest('completes the ids of everything that a workspace has', async ({ machine }) => {
  const provider = await machine.provider(writeDocument({ target: 'a.txt', content: TEXT }));
  const { session } = await machine.askUntilKilled(provider, 100);
  const other = await machine.provider({ behaviours: [LAST_WORD] });
  const ended = await machine.ask(other, ['--json']);
  const { requestId } = ended.result();
  const conversationId = ended.events()[0]?.conversationId ?? '';
  const stored = await machine.run(['outputs', 'store', '-', '--json'], { stdin: '{"a":1}' });
  const { id } = JSON.parse(stored.stdout) as { id: string };
  await configureUser(machine, { mcpServers: { files: { command: 'true' } } });
  const completed = async (...words: readonly string[]): Promise<string> =>
    (await machine.run(['complete', '--', ...words, ''])).stdout;
  expect(await completed('recover-session')).toContain(`${session.id}\ta.txt, orphan\n`);
  expect(await completed('run', '--resume')).toContain(`${conversationId}\tWrite it., `);
  expect(await completed('trace', 'show')).toContain(`${requestId}\t`);
  expect(await completed('outputs', 'stats')).toContain(`${id}\t`);
  expect(await completed('mcp', 'test')).toBe('files\tstdio\n:4\n');
});

longTest(
  'completes an id by its beginning however many newer ones there are',
  async ({ machine }) => {
    const provider = await machine.provider({ behaviours: [LAST_WORD] });
    const ended = await machine.ask(provider, ['--json']);
    const oldest = ended.events()[0]?.conversationId ?? '';
    copyConversation(machine, oldest, 60);
    const completed = async (typed: string): Promise<readonly string[]> =>
      (await machine.run(['complete', '--', 'run', '--resume', typed])).stdout.trim().split('\n');
    const newest = await completed('');
    expect(newest).toHaveLength(51);
    expect(newest.join('\n')).not.toContain(oldest);
    expect(await completed(oldest.slice(0, 8))).toEqual([
      expect.stringContaining(`${oldest}\t`),
      ':4',
    ]);
  },
);

longTest('loads nothing of it for any other command', async ({ machine }) => {
  const script = 'shellCompDirectiveKeepOrder';
  expect(await textOfLoaded(machine, 'completion', ['completion', 'zsh'])).toContain(script);
  for (const args of [['--version'], ['list-sessions'], ['--help'], ['complete', '--', 'ru']]) {
    expect(await textOfLoaded(machine, args.join('_'), args)).not.toContain(script);
  }
});

import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { systemClock } from '@orion/contracts';
import { createRunCommandTool, createToolRegistry } from '@orion/tool-runner';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { actionApproval } from './action-approval.ts';

/**
 * Hazard: behind a command that a pattern allows, the shell runs another one. Each line is first given to the shell, to see
 * that it makes a file, and then to the tool, where `echo *`, `cat *` and `printf *` are allowed. R283.
 */

const PATTERNS = ['echo *', 'cat *', 'printf *', 'true'];

/** What it tries, and a line that makes the file `made` in its folder. */
const TRICKS: readonly (readonly [name: string, line: string])[] = [
  ['a semicolon', 'echo a; touch made'],
  ['a semicolon without blanks', 'echo a;touch made'],
  ['and', 'echo a && touch made'],
  ['or', 'cat none || touch made'],
  ['a pipe', 'echo a | tee made'],
  ['a pipe into a shell', 'echo touch made | sh'],
  ['a pipe without blanks', 'echo touch made|sh'],
  ['in the background', 'echo a & touch made'],
  ['itself in the background', 'touch made & echo a'],
  ['a line feed', 'echo a\ntouch made'],
  ['a line feed behind a backslash of its own', "echo 'a\\'\ntouch made"],
  ['an empty line', 'echo a\n\n\ntouch made'],
  ['a substitution', 'echo $(touch made)'],
  ['a substitution in quotes', 'echo "$(touch made)"'],
  ['a substitution in a substitution', 'echo $(echo $(touch made))'],
  ['back-ticks', 'echo `touch made`'],
  ['back-ticks in quotes', 'echo "`touch made`"'],
  ['a substitution as the program', '$(echo touch) made'],
  ['back-ticks as the program', '`echo touch` made'],
  ['a substitution in a default', 'echo ${x:-$(touch made)}'],
  ['a substitution in an assigned default', 'echo ${x:=$(touch made)}'],
  ['a substitution in an error', 'echo ${x:?$(touch made)}'],
  ['a substitution in arithmetic', 'echo $(( $(touch made; echo 1) + 1 ))'],
  ['a substitution in a here-document', 'cat << x\n$(touch made)\nx'],
  ['a here-document for a shell', 'cat << x | sh\ntouch made\nx'],
  ['a command after a here-document', 'cat << x\nx\ntouch made'],
  ['a redirection', 'echo a > made'],
  ['a redirection without blanks', 'echo a>made'],
  ['a redirection in front', '> made echo a'],
  ['appending', 'echo a >> made'],
  ['a redirection that clobbers', 'echo a >| made'],
  ['a redirection of errors', 'cat none 2> made'],
  ['a redirection of both', 'echo a > made 2>&1'],
  ['reading and writing', 'cat <> made'],
  ['a number of a descriptor', 'echo a 5> made'],
  ['an empty redirection', '> made'],
  ['an assignment in front', 'PATH=.:$PATH cat a'],
  ['an assignment with quotes', "PATH='.:/bin:/usr/bin' cat a"],
  ['an assignment that is empty', 'a= touch made'],
  ['an assignment alone', 'a=$(touch made)'],
  ['a variable as the program', 'x=touch; $x made'],
  ['a variable with the line', 'x="touch made"; $x'],
  ['another program', 'touch made'],
  ['another program by its path', '/usr/bin/touch made'],
  ['a program of the folder', './cat a'],
  ['env', 'env touch made'],
  ['env with a variable', 'env X=1 touch made'],
  ['command', 'command touch made'],
  ['exec', 'exec touch made'],
  ['eval', "eval 'touch made'"],
  ['a shell', "sh -c 'touch made'"],
  ['a file as a script', '. ./script'],
  ['xargs', 'echo made | xargs touch'],
  ['a group', '{ touch made; }'],
  ['a subshell', '(touch made)'],
  ['a subshell without blanks', 'echo a;(touch made)'],
  ['a condition', 'if touch made; then echo a; fi'],
  ['a loop', 'for x in made; do touch $x; done'],
  ['a loop that waits', 'until touch made; do echo a; done'],
  ['a choice', 'case a in a) touch made;; esac'],
  ['a function', 'f() { touch made; }; f'],
  ['a function with an allowed name', 'echo() { touch made; }; echo a'],
  ['an alias', "alias echo='touch made'\necho"],
  ['a trap', "trap 'touch made' EXIT; echo a"],
  ['a negation', '! touch made'],
  ['a quoted program', '"touch" made'],
  ['a program in pieces', `to'u'c"h" made`],
  ['a program behind a backslash', 't\\ouch made'],
  ['a continued line', 'tou\\\nch made'],
  ['a wildcard as the program', '/usr/bin/touc? made'],
  ['a wildcard with brackets', '/usr/bin/[t]ouch made'],
  ['a tabulator', 'echo a;\ttouch made'],
  ['a comment that ends', 'echo a # b\ntouch made'],
  ['a quote over two lines', "echo 'a\nb'; touch made"],
  ['many blanks', `echo a${' '.repeat(2_000)}; touch made`],
  ['a carriage return', 'echo a\r; touch made'],
  ['an umlaut in front', 'echo \u00e4; touch made'],
  ['a bidi override', 'echo \u202e; touch made'],
  ['an allowed command on both sides', 'echo a; touch made; echo b'],
];

let root = '';
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'orion-shell-tricks-')));
  const folder = join(root, 'work');
  mkdirSync(folder);
  writeFileSync(join(folder, 'cat'), '#!/bin/sh\n: > made\n', { mode: 0o700 });
  writeFileSync(join(folder, 'script'), ': > made\n');
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const PATH = '/usr/bin:/bin';
const made = (): string => join(root, 'work', 'made');

function giveToShell(line: string): void {
  try {
    execFileSync('/bin/sh', ['-c', line], {
      cwd: join(root, 'work'),
      env: { PATH },
      // A pipe is open until what is in the background has ended, too.
      stdio: ['ignore', 'pipe', 'ignore'],
      timeout: 10_000,
    });
  } catch {
    // The exit code of a trick says nothing.
  }
}

async function giveToTool(line: string) {
  const approve = actionApproval(
    { workspace: root },
    {
      allowCommands: PATTERNS,
      approveCommands: 'ask',
      allowMcpTools: [],
      sandbox: 'off',
      allowNetwork: false,
    },
  );
  const tool = createRunCommandTool({
    root: join(root, 'work'),
    environment: { PATH },
    sandboxMode: 'off',
    findSandbox: () => Promise.reject(new Error('switched off')),
    guard: async () => ({
      scope: { root, hidden: [], readOnly: [], allowNetwork: false },
      settle: async () => ({ changes: [], truncated: false }),
    }),
    clock: systemClock,
    createId: () => line,
  });
  const registry = createToolRegistry([tool], { approve, clock: systemClock });
  const [result] = await registry.executeToolCalls(
    [
      {
        id: '1',
        name: 'run_command',
        arguments: JSON.stringify({ command: line }),
        state: 'complete',
      },
    ],
    { projectId: 'p', requestId: 'r', mode: 'act', signal: new AbortController().signal },
  );
  return result;
}

describe('a line that the patterns do not allow, although it begins with what they do', () => {
  it.each(TRICKS)('%s: %j makes the file in a shell, and is refused here', async (_, line) => {
    giveToShell(line);
    expect(existsSync(made()), 'the line is no trick in this shell').toBe(true);
    rmSync(made());
    expect(await giveToTool(line)).toMatchObject({
      success: false,
      error: { code: 'APPROVAL_REFUSED' },
    });
    expect(existsSync(made())).toBe(false);
  });
});

it('and what they do allow runs', async () => {
  expect(await giveToTool('echo "a; touch made" && printf \'%s\' $ | cat')).toMatchObject({
    success: false,
  });
  expect(await giveToTool(`echo "a; touch made" && printf '$(touch made)'; true`)).toMatchObject({
    success: true,
    result: { output: 'a; touch made\n$(touch made)' },
  });
  expect(existsSync(made())).toBe(false);
});

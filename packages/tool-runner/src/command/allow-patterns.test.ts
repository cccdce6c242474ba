import { expect, it } from 'vitest';

import { createAllowList } from './allow-patterns.ts';

it.each<[pattern: string, line: string]>([
  ['npm test', 'npm test'],
  ['npm test', '  npm   test '],
  ['npm test', `'npm' "test"`],
  ['npm run *', 'npm run build'],
  ['npm run *', `npm run build -- --name 'a b'`],
  ['git log*', 'git log'],
  ['git log*', 'git log --oneline'],
  ['git commit -m *', 'git commit -m "a; b && c"'],
  ['cat src/*.ts', 'cat src/a.ts'],
  ['a *b*c', 'a xbxbxc'],
  ['a *', 'a '.padEnd(100, 'x')],
  // To the letter, whatever the shell makes of it.
  ['echo $HOME > out', 'echo $HOME > out'],
])('with the pattern %j allows %j', (pattern, line) => {
  expect(createAllowList([pattern]).allows(line)).toBe(true);
});

it.each<[pattern: string, line: string]>([
  ['npm test', 'npm test x'],
  ['npm test', 'npm'],
  ['npm test', 'npm tests'],
  ['npm test', 'NPM test'],
  ['npm test', 'npm test; rm -rf .'],
  ['npm test', 'npm test && rm x'],
  ['npm test', 'npm test || rm x'],
  ['npm test', 'npm test | sh'],
  ['npm test', 'npm test\nrm x'],
  ['npm test', 'npm test & rm x'],
  ['npm test', './npm test'],
  ['npm test', 'env npm test'],
  ['npm test', 'PATH=. npm test'],
  ['npm test', 'npm test > package.json'],
  ['npm test', 'npm test $(rm x)'],
  ['npm test', 'npm test # x'],
  ['npm test', '"npm test"'],
  ['npm run *', 'npm run'],
  ['npm run *', `npm run build $(rm x)`],
  ['npm run *', 'npm run build; rm x'],
  ['npm run *', `npm "run build"`],
  ['npm run build', `npm 'run build'`],
  ['npm run *', 'npm run a `b`'],
  ['npm run *', 'npm run a <(b)'],
  ['npm run *', 'npm run a << x\ny\nx'],
  ['a *b*c', 'a xxc'],
  ['a *bb*cc*d', 'a bb c d'],
  ['a b*b', 'a b'],
  ['a *b*b', 'a b'],
  ['echo $HOME > out', 'echo $HOME  > out'],
  ['echo $HOME > out', 'echo $HOME > out; a'],
])('with the pattern %j does not allow %j', (pattern, line) => {
  expect(createAllowList([pattern]).allows(line)).toBe(false);
});

it('allows a line each of whose commands matches one of the patterns', () => {
  const list = createAllowList(['npm test', 'git status']);
  expect(list.allows('git status && npm test')).toBe(true);
  expect(list.allows('git status && npm run x')).toBe(false);
  expect(createAllowList([]).allows('npm test')).toBe(false);
});

it.each(['', '  ', '*', '* x', 'np* test', '*npm'])('refuses the pattern %j', (pattern) => {
  expect(() => createAllowList([pattern])).toThrow(
    expect.objectContaining({
      code: 'USAGE',
      message: `The command pattern "${pattern}" does not name a program.`,
      hint: 'Begin it with the program, such as "npm test" or "git log *".',
    }),
  );
});

it('warns of a pattern that allows anything', () => {
  const { warnings } = createAllowList([
    'env *',
    '/usr/bin/find . *',
    'sh -c *',
    'git *',
    'npm *',
    'env',
    'git log *',
    'npm run *',
    'ls *',
  ]);
  expect(warnings).toEqual([
    'The pattern "env *" allows any command, since env can run other programs.',
    'The pattern "/usr/bin/find . *" allows any command, since find can run other programs.',
    'The pattern "sh -c *" allows any command, since sh can run other programs.',
    'The pattern "git *" allows any command, since git can run other programs.',
    'The pattern "npm *" allows any command, since npm can run other programs.',
  ]);
});

const RUN_OTHERS =
  '. alias ash awk bash bunx busybox builtin chroot command csh dash doas env eval exec expect fd find fish gawk gdb ' +
  'ionice ksh less lua make man mawk nice node nodejs nohup npx nsenter parallel perl php php8 pnpx pwsh pypy pypy3.10 ' +
  'python python3 python3.12 rg rsync ruby ruby3.1 screen script sed setsid sh sort source ssh stdbuf strace su sudo tar ' +
  'tclsh time timeout tmux trap unshare uvx vi vim watch xargs zsh zsh-5.9';

it.each(RUN_OTHERS.split(' '))('warns of what %s may run', (program) => {
  expect(createAllowList([`${program} a *`, program]).warnings).toHaveLength(1);
});

it.each([
  'pnpm --filter web *',
  'git -C app *',
  'git -c *',
  'npm exec *',
  '/usr/bin/docker run * x',
  // `--config` names a wrapper of the compiler, `-exec` and `-toolexec` a program.
  ...'bench build check clippy doc install run rustc test'
    .split(' ')
    .map((name) => `cargo ${name} *`),
  ...'build generate get install run test tool vet'.split(' ').map((name) => `go ${name} *`),
  // `--open-files-in-pager`, `--upload-pack`, `--receive-pack`, `--exec`, `--extcmd`, an alias.
  ...(
    'archive bisect clone config difftool fetch filter-branch grep ls-remote mergetool pull push rebase send-email ' +
    'submodule'
  )
    .split(' ')
    .map((name) => `git ${name} *`),
])('warns of %s', (pattern) => {
  expect(createAllowList([pattern]).warnings).toHaveLength(1);
});

it('does not warn of an option that leaves nothing open', () => {
  const patterns = [
    'git --version',
    'pnpm --filter web test',
    'npm exec tsc',
    'docker ps *',
    'git grep TODO',
    'git log *',
    'go test ./...',
    'go fmt *',
  ];
  expect(createAllowList(patterns).warnings).toEqual([]);
});

it.each('bun cargo deno docker git go npm pnpm podman yarn'.split(' '))(
  'warns of what a subcommand of %s may run, unless it is named',
  (program) => {
    expect(createAllowList([`${program} *`, `${program} a *`]).warnings).toHaveLength(1);
  },
);

import { OrionError } from '@orion/contracts';

import { readCommandLine } from './command-line.ts';

/** Programs that run what their arguments say: with a `*` behind one of them anything may run. */
const RUNS_OTHERS = new Set(
  (
    '. alias ash awk bash bunx busybox builtin chroot command csh dash doas env eval exec expect fd find fish gawk gdb ' +
    'ionice ksh less lua make man mawk nice node nodejs nohup npx nsenter parallel perl php pnpx pwsh pypy python rg rsync ' +
    'ruby screen script sed setsid sh sort source ssh stdbuf strace su sudo tar tclsh time timeout tmux trap unshare uvx vi ' +
    'vim watch xargs zsh'
  ).split(' '),
);
/** Programs some of whose subcommands or leading options do the same: here the subcommand has to be named. */
const HAS_SUBCOMMANDS = new Set('bun cargo deno docker git go npm pnpm podman yarn'.split(' '));

/** Subcommands of these that run what comes behind them, or what an option among it names. */
const RUN_OTHERS = new Set(
  Object.entries({
    bun: 'x',
    cargo: 'bench build check clippy doc install run rustc test',
    deno: 'eval run',
    docker: 'exec run',
    git:
      'archive bisect clone config difftool fetch filter-branch grep ls-remote mergetool pull push rebase send-email ' +
      'submodule',
    go: 'build generate get install run test tool vet',
    npm: 'exec x',
    pnpm: 'dlx exec',
    podman: 'exec run',
    yarn: 'dlx exec',
  }).flatMap(([program, subcommands]) =>
    subcommands.split(' ').map((subcommand) => `${program} ${subcommand}`),
  ),
);

/** No word has it: a line with control characters is opaque. */
const BETWEEN_WORDS = '\0';

/** The lines that may run without a question (R283). */
export type AllowList = {
  /** Whether each command of the line matches a pattern, or the line is one to the letter. */
  allows(line: string): boolean;
  /** A sentence for each pattern that allows more than it seems to. */
  readonly warnings: readonly string[];
};

/**
 * Reads patterns such as `npm test` or `git log *`: words, and `*` for any run of characters, blanks included, in any
 * word but the first.
 *
 * A line that is more to a shell than words and separators matches only a pattern that equals it to the letter.
 * Throws USAGE for a pattern that is empty, or that leaves the program open.
 */
export function createAllowList(patterns: readonly string[]): AllowList {
  const exact = new Set(patterns);
  const matchers = patterns.map(matcherOf);
  return {
    allows(line) {
      if (exact.has(line)) return true;
      const read = readCommandLine(line);
      if (read.kind === 'opaque') return false;
      return read.commands.every((words) => {
        const text = words.join(BETWEEN_WORDS);
        return matchers.some((matches) => matches(text));
      });
    },
    warnings: patterns.flatMap((pattern) => {
      const [program = '', subcommand = ''] = pattern.trim().split(/\s+/);
      const name = program.slice(program.lastIndexOf('/') + 1);
      const hasSubcommand = !subcommand.includes('*') && !subcommand.startsWith('-');
      const isOpen =
        pattern.includes('*') &&
        (RUNS_OTHERS.has(withoutVersion(name)) ||
          RUN_OTHERS.has(`${name} ${subcommand}`) ||
          (HAS_SUBCOMMANDS.has(name) && !hasSubcommand));
      return isOpen
        ? [`The pattern "${pattern}" allows any command, since ${name} can run other programs.`]
        : [];
    }),
  };
}

function matcherOf(pattern: string): (command: string) => boolean {
  const words = pattern.trim().split(/\s+/);
  const [program = ''] = words;
  if (program === '' || program.includes('*')) {
    throw new OrionError({
      code: 'USAGE',
      message: `The command pattern "${pattern}" does not name a program.`,
      hint: 'Begin it with the program, such as "npm test" or "git log *".',
    });
  }
  const [first = '', ...rest] = words.join(BETWEEN_WORDS).split('*');
  const last = rest.pop();
  if (last === undefined) return (command) => command === first;
  return (command) => {
    if (command.length < first.length + last.length) return false;
    if (!command.startsWith(first) || !command.endsWith(last)) return false;
    let from = first.length;
    for (const part of rest) {
      const at = command.indexOf(part, from);
      if (at === -1) return false;
      from = at + part.length;
    }
    return from <= command.length - last.length;
  };
}

/** `python3.12` is python. */
function withoutVersion(name: string): string {
  return name.replace(/-?\d[\d.]*$/u, '');
}

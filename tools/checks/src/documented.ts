import type { Finding, Repository } from './repository.ts';

/**
 * What a user can set, type or read by name is in the documentation: a variable with its default, an option, an
 * answer, a code, a key of the output, a warning. The names come from the sources, so that a new one is noticed.
 */
export function checkDocumented(repository: Repository): Finding[] {
  return KINDS.flatMap((kind) => {
    const sources = kind.sources(repository.files).filter((file) => repository.has(file));
    const pages = repository.files.filter((file) => kind.pages.test(file));
    const text = pages.map((page) => repository.read(page)).join('\n');
    return sources.flatMap((source) =>
      kind
        .names(repository.read(source))
        .filter((name) => !kind.isSaid(name, text))
        .map((name) => ({
          check: 'documented',
          file: source,
          message: `${kind.what} \`${name.name}\` is not in ${kind.where}`,
        })),
    );
  });
}

type Name = {
  readonly name: string;
  /** What has to be in the same row of a table. */
  readonly beside: readonly string[];
};

type Kind = {
  readonly what: string;
  readonly sources: (files: readonly string[]) => readonly string[];
  readonly names: (source: string) => readonly Name[];
  readonly pages: RegExp;
  readonly where: string;
  readonly isSaid: (name: Name, pages: string) => boolean;
};

const only = (file: string) => (): readonly string[] => [file];
const OUTPUT = /^docs\/reference\/json-output\.md$/;

/** The codes of a table, each with the next step that its row has to show. */
function codesWithHints(table: string): Omit<Kind, 'what' | 'sources'> {
  return {
    names: (source) =>
      [...between(source, table, '\n}').matchAll(/^ {2}([A-Z\d_]+):\s+(['"])(.+)\2,$/gm)].map(
        ([, name = '', , hint = '']) => ({ name, beside: [`| ${hint} `] }),
      ),
    pages: /^docs\/reference\/error-codes\.md$/,
    where: 'docs/reference/error-codes.md, with its next step',
    isSaid: ({ name, beside }, pages) =>
      rowsOf(pages, name).some((row) => beside.every((each) => row.includes(each))),
  };
}

const KINDS: readonly Kind[] = [
  {
    what: 'the variable',
    sources: only('packages/agent/src/config/settings.ts'),
    names: settings,
    pages: /^docs\/guides\/[^/]+\.md$/,
    where: 'a table of docs/guides, with its key and its default',
    isSaid: ({ name, beside }, pages) =>
      rowsOf(pages, name).some((row) => beside.every((each) => row.includes(each))),
  },
  {
    what: 'the code',
    sources: only('packages/contracts/src/errors.ts'),
    ...codesWithHints('ERROR_CODES'),
  },
  {
    what: 'the step of the command for the code',
    sources: only('apps/cli/src/rendering/command-hints.ts'),
    ...codesWithHints('COMMAND_HINTS'),
  },
  {
    what: 'the option',
    sources: (files) =>
      files.filter(
        (file) =>
          /^apps\/cli\/src\/command-line\/[\w-]+\.ts$/.test(file) && !file.endsWith('.test.ts'),
      ),
    names: (source) => plain(all(source, /['"](?:-\w, )?(--[a-z][a-z-]+)(?: [<[][^'"]*)?['"]/g)),
    pages: /^docs\/reference\/command-line\.md$/,
    where: 'docs/reference/command-line.md',
    isSaid: ({ name }, pages) => new RegExp(`\`(?:-\\w, )?${name}[ \`]`).test(pages),
  },
  {
    what: 'the answer',
    sources: only('packages/contracts/src/session-question.ts'),
    names: (source) => plain(all(between(source, 'ANSWER_WORDS', ';'), /'(\w+)'/g)),
    pages: /^docs\/guides\/questions-about-a-text\.md$/,
    where: 'docs/guides/questions-about-a-text.md',
    isSaid: ({ name }, pages) => pages.includes(`\`--answer ${name}\``),
  },
  ...[
    ['packages/contracts/src/write-session.ts', 'WriteReceipt'],
    ['packages/contracts/src/write-session.ts', 'ValidationSummary'],
    ['packages/contracts/src/run-event.ts', 'PausedSession'],
    ['apps/cli/src/rendering/result-line.ts', 'ResultLine'],
  ].map(([file = '', type = '']): Kind => ({
    what: `the key of ${type}`,
    sources: only(file),
    names: (source) =>
      plain(all(between(source, `type ${type} = {`, '\n};'), /^ {2}readonly (\w+)\??:/gm)),
    pages: OUTPUT,
    where: 'docs/reference/json-output.md',
    isSaid: ({ name }, pages) => pages.includes(`\`${name}\``),
  })),
  {
    what: 'the warning',
    sources: (files) =>
      files.filter(
        (file) =>
          /^packages\/(?:core|workspace|agent)\/src\/.*\.ts$/.test(file) &&
          !file.endsWith('.test.ts'),
      ),
    names: warnings,
    pages: OUTPUT,
    where: 'docs/reference/json-output.md',
    isSaid: ({ name }, pages) => rowsOf(pages, name).length > 0,
  },
];

function settings(source: string): readonly Name[] {
  const rows = /^ {2}(\w+): \['([A-Z_\d]+)', .*, (.+)\],$/gm;
  return [...source.matchAll(rows)].map(([, key = '', name = '', initial = '']) => {
    const value = shownDefault(initial);
    return { name, beside: [`\`${key}\``, ...(value === null ? [] : [`| ${value} `])] };
  });
}

/** Null where there is none to name. */
function shownDefault(source: string): string | null {
  if (['null', '[]', '{}'].includes(source)) return null;
  if (source.startsWith("'")) return `\`${source.slice(1, -1)}\``;
  if (source === 'true' || source === 'false') return `\`${source}\``;
  const factors = source.replaceAll('_', '').split(' * ').map(Number);
  return String(factors.reduce((product, factor) => product * factor, 1));
}

/** Pushed by their name, taken into a list under a condition, or named by a constant of a file that gives warnings. */
function warnings(source: string): readonly Name[] {
  if (!/warning/i.test(source)) return [];
  return plain([
    ...all(source, /warnings\.push\('([a-z]+(?:_[a-z]+)+)'/g),
    ...all(source, /\.\.\.(?:\w+\.)*warnings, '([a-z]+(?:_[a-z]+)+)'\]/g),
    ...all(source, /\bwarnings: \[((?:[^[\]]|\[[^[\]]*\])*)\]/g).flatMap((list) =>
      all(list, /'([a-z]+(?:_[a-z]+)+)'/g),
    ),
    ...all(source, /^export const [A-Z_]+ = '([a-z]+(?:_[a-z]+)+)';$/gm),
  ]);
}

/** The text from one match to the next one; empty where there is none. */
function between(source: string, from: string, to: string): string {
  const start = source.indexOf(from);
  if (start === -1) return '';
  const end = source.indexOf(to, start);
  return source.slice(start, end === -1 ? undefined : end);
}

function all(source: string, pattern: RegExp): readonly string[] {
  return [...source.matchAll(pattern)].flatMap(([, name]) => name ?? []);
}

function plain(names: readonly string[]): readonly Name[] {
  return [...new Set(names)].map((name) => ({ name, beside: [] }));
}

/** The rows of tables that begin with this name, or with several of which it is one. */
function rowsOf(pages: string, name: string): readonly string[] {
  return pages
    .split('\n')
    .filter((line) => line.startsWith('|') && (line.split('|')[1] ?? '').includes(`\`${name}\``));
}

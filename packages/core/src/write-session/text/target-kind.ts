/**
 * Whether a fence in the text for this target wraps it or belongs to it (R032): in Markdown fences are content, in
 * other prose they may be, in code and data they hardly ever are.
 */
export type TargetKind = 'markdown' | 'prose' | 'code';

const MARKDOWN = new Set(['md', 'mdx', 'markdown', 'mdown', 'mkd', 'mkdn', 'rmd', 'qmd']);
/** Also formats in which a line of `~~~~` is a heading or a listing. */
const PROSE = new Set([
  'txt',
  'text',
  'rst',
  'rest',
  'adoc',
  'asciidoc',
  'asc',
  'org',
  'textile',
  'wiki',
  'mediawiki',
  'creole',
  'pod',
  'log',
  'eml',
]);
/** Names of programs or data that their extension does not show, in lower case. */
const CODE_NAMES = new Set([
  'makefile',
  'gnumakefile',
  'dockerfile',
  'containerfile',
  'justfile',
  'rakefile',
  'gemfile',
  'procfile',
  'jenkinsfile',
  'vagrantfile',
  'brewfile',
  'podfile',
  'fastfile',
  'caddyfile',
  'cmakelists.txt',
  'requirements.txt',
  'constraints.txt',
  'robots.txt',
  'codeowners',
  'build',
  'workspace',
]);

/** HTML, TeX and troff count as code: these markup languages have no fences. */
export function targetKindOf(path: string): TargetKind {
  const name = path
    .slice(Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\')) + 1)
    .toLowerCase();
  if (CODE_NAMES.has(name)) return 'code';
  const dot = name.lastIndexOf('.');
  // `.gitignore` and its like are data; `README` and `LICENSE` are read by people.
  if (dot === 0) return 'code';
  if (dot === -1) return 'prose';
  const extension = name.slice(dot + 1);
  if (MARKDOWN.has(extension)) return 'markdown';
  return PROSE.has(extension) || extension === '' ? 'prose' : 'code';
}

/**
 * Whether a fence in the text for this target wraps it or belongs to it (R032): in Markdown fences are content, in
 * other prose they may be, in code and data they hardly ever are.
 */
export type TargetKind = 'markdown' | 'prose' | 'code';

const MARKDOWN = new Set([
  'md',
  'mdx',
  'markdown',
  'mdown',
  'mkd',
  'mkdn',
  'rmd',
  'qmd',
  'mdc',
  'mdoc',
  'livemd',
  'svx',
]);
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
  'typ',
  'dj',
  'norg',
  'prompt',
]);
/** Languages without fences, and data. */
const CODE = new Set(
  [
    'c h cc hh cpp hpp cxx hxx inl ixx m mm cs fs fsi fsx vb java kt kts scala sc groovy gradle clj cljs cljc edn',
    'go rs zig d nim v swift dart py pyi pyx pyw rb rake gemspec php phtml pl pm t lua tcl r jl hs elm ml mli re rei',
    'ex exs erl hrl lisp lsp el scm rkt pas pp ada adb ads f f90 f95 for cob cbl asm s sol vy cairo cu cuh sv svh',
    'vhd vhdl wgsl glsl hlsl vert frag metal sql psql graphql gql proto thrift prisma js cjs mjs jsx ts cts mts tsx',
    'coffee vue svelte astro html htm xhtml css scss sass less styl pug ejs erb hbs haml njk liquid twig tex sty cls',
    'bib sh bash zsh fish ksh nu ps1 psm1 psd1 bat cmd awk sed vim json jsonc json5 jsonl ndjson geojson ipynb yaml',
    'yml toml ini cfg conf config properties env xml xsd xsl xslt svg plist csv tsv tf tfvars hcl nix bzl bazel cmake',
    'mk mak ninja dockerfile service socket timer desktop lock po pot diff patch',
  ].flatMap((extensions) => extensions.split(' ')),
);
/** Of a template: the extension before it says what the template makes. */
const TEMPLATE = /(?<=\..*)\.(?:tmpl|tpl|template|in|j2|jinja2?|erb|hbs|ejs|mustache)$/u;
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

/** Names such as `.cursorrules`, whose text a model reads, and those of settings. */
const PROSE_DOTFILE = /(?:rules|hints|instructions)$/u;
const CODE_DOTFILE = /^\.(?:env(?:\..*)?|.*(?:rc|ignore|config|attributes))$/u;

/** HTML, TeX and troff count as code: these markup languages have no fences. So do names that say nothing. */
export function targetKindOf(path: string): TargetKind {
  return kindByName(path) ?? 'code';
}

/** Whether the name says that it is code or data. */
export function isNamedAsCode(path: string): boolean {
  return kindByName(path) === 'code';
}

/** Null if the name does not say. */
function kindByName(path: string): TargetKind | null {
  const name = path
    .slice(Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\')) + 1)
    .toLowerCase()
    .replace(TEMPLATE, '');
  if (CODE_NAMES.has(name) || CODE_DOTFILE.test(name)) return 'code';
  const dot = name.lastIndexOf('.');
  if (dot === 0) return PROSE_DOTFILE.test(name) ? 'prose' : null;
  // `README` and `LICENSE` are read by people.
  if (dot === -1) return 'prose';
  const extension = name.slice(dot + 1);
  if (MARKDOWN.has(extension)) return 'markdown';
  if (PROSE.has(extension) || extension === '') return 'prose';
  return CODE.has(extension) ? 'code' : null;
}

/** Names that the library of colours has; known without loading it. */
const NAMES = new Set(
  (
    'asm bash c css csv diff docker git go html http ini java js json lua make md pl plain py regex rs sql ' +
    'toml ts uri xml yaml'
  ).split(' '),
);

/** Other names that models write behind a fence. */
const OTHERS: Readonly<Record<string, string>> = {
  cjs: 'js',
  'c++': 'c',
  cc: 'c',
  cpp: 'c',
  console: 'bash',
  csharp: 'java',
  cs: 'java',
  dockerfile: 'docker',
  golang: 'go',
  h: 'c',
  htm: 'html',
  javascript: 'js',
  json5: 'json',
  jsonc: 'json',
  jsx: 'js',
  kotlin: 'java',
  makefile: 'make',
  markdown: 'md',
  mjs: 'js',
  mts: 'ts',
  patch: 'diff',
  perl: 'pl',
  postgresql: 'sql',
  python: 'py',
  python3: 'py',
  rust: 'rs',
  sh: 'bash',
  shell: 'bash',
  'shell-session': 'bash',
  sqlite: 'sql',
  svg: 'xml',
  tsx: 'ts',
  typescript: 'ts',
  yml: 'yaml',
  zsh: 'bash',
};

/** The library's name for what stands behind a fence; null where it has none. */
export function libraryName(info: string): string | null {
  const word = /^[\w+#-]+/u.exec(info.toLowerCase())?.[0] ?? '';
  const name = Object.hasOwn(OTHERS, word) ? OTHERS[word] : word;
  return name !== undefined && NAMES.has(name) ? name : null;
}

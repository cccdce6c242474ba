import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

import type { Packed } from './pack.ts';

/**
 * Whether the manual is that of the command in the package: a page for the program and for each of its commands, as its
 * own `--help` names them, with every option, and all pages in the manifest, from which npm installs them.
 */
export async function checkManPages(
  packed: Packed,
  help: (args: readonly string[]) => Promise<string>,
): Promise<readonly string[]> {
  const { manifest, files, unpacked } = packed;
  const [program = ''] = Object.keys(manifest.bin ?? {});
  const commands = commandsIn(await help(['--help']));
  const pages = [program, ...commands.map((command) => `${program}-${command}`)].map(
    (name) => `dist/man/${name}.1`,
  );
  const declared = (manifest.man ?? []).map((file) => file.replace(/^\.\//, ''));
  const problems = [
    ...pages
      .filter((page) => !declared.includes(page))
      .map((page) => `man of the manifest lacks ${page}`),
    ...declared
      .filter((page) => !pages.includes(page))
      .map((page) => `man of the manifest has ${page}`),
    ...files
      .filter((file) => file.startsWith('dist/man/') && !pages.includes(file))
      .map((file) => `contains ${file}, a page of no command`),
  ];
  for (const [index, page] of pages.entries()) {
    if (!files.includes(page)) {
      problems.push(`lacks ${page}`);
      continue;
    }
    const text = (await readFile(join(unpacked, page), 'utf8')).replaceAll('\\-', '-');
    if (!text.startsWith('.TH ') || !text.includes(`"${program} ${manifest.version}"`)) {
      problems.push(`${page} is not of version ${manifest.version}`);
    }
    const command = commands[index - 1];
    const options = optionsIn(await help([...(command === undefined ? [] : [command]), '--help']));
    for (const option of options) {
      if (!text.includes(option)) problems.push(`${page} does not have ${option}`);
    }
  }
  return problems;
}

function commandsIn(help: string): readonly string[] {
  const [, list = ''] = help.split(/^Commands:$/m);
  return [...(list.split(/\n\n/)[0] ?? '').matchAll(/^ {2}([a-z][\w-]*)/gm)].flatMap(
    ([, name = '']) => (name === 'help' ? [] : [name]),
  );
}

function optionsIn(help: string): readonly string[] {
  return [...help.matchAll(/^ {2}(?:-\w, )?(--[a-z][\w-]*)/gm)].flatMap(([, name = '']) => name);
}

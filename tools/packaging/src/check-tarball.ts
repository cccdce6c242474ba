import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';

import type { Packed } from './pack.ts';

/** What must not be in a package: tests, build leftovers, and anything that only works in the repository. */
const UNWANTED = /(?:^|\/)(?:src|testing|node_modules|coverage)\/|\.test\.|\.tsbuildinfo$/;
/** The files that every package needs. */
const NEEDED = ['package.json', 'README.md', 'LICENSE'];

/** The problems of a packed package, in sentences; empty if there are none. */
export async function checkTarball(packed: Packed): Promise<readonly string[]> {
  return [
    ...checkContents(packed),
    ...(await checkLinks(packed)),
    ...(await checkManifest(packed)),
    ...(await lintPackage(packed)),
    ...(await checkTypes(packed)),
  ];
}

function checkContents({ files }: Packed): readonly string[] {
  return [
    ...files.filter((file) => UNWANTED.test(file)).map((file) => `contains ${file}`),
    ...NEEDED.filter((file) => !files.includes(file)).map((file) => `lacks ${file}`),
    // Copies of other people's programs.
    ...files
      .filter((file) => file.endsWith('.wasm'))
      .filter((file) => !files.includes(join(dirname(file), 'LICENSES.txt')))
      .map((file) => `contains ${file} without its licence`),
  ];
}

/** A registry shows the README without the repository, so links may only lead to files of the package or to URLs. */
async function checkLinks({ unpacked, files }: Packed): Promise<readonly string[]> {
  const problems: string[] = [];
  for (const file of files.filter((name) => name.endsWith('.md'))) {
    const text = await readFile(join(unpacked, file), 'utf8');
    for (const [, target = ''] of text.matchAll(/\]\(([^)\s]+)\)/g)) {
      const [path = ''] = target.split('#');
      if (path === '' || target.startsWith('https:')) continue;
      if (files.includes(join(dirname(file), path))) continue;
      problems.push(`the link ${target} of ${file} leads out of the package`);
    }
  }
  return problems;
}

async function checkManifest({ unpacked }: Packed): Promise<readonly string[]> {
  const text = await readFile(join(unpacked, 'package.json'), 'utf8');
  const foreign = ['workspace:', 'catalog:', '@orion/source'].filter((word) => text.includes(word));
  return [
    ...foreign.map((word) => `the manifest says ${word}, which only the repository understands`),
    ...(text.includes('"optionalDependencies"')
      ? ['has optional dependencies, which every user of the package would install']
      : []),
  ];
}

async function lintPackage({ tarball }: Packed): Promise<readonly string[]> {
  const bytes = await readFile(tarball);
  const { messages, pkg } = await publint({
    pack: { tarball: bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength) },
    level: 'suggestion',
    strict: true,
  });
  return messages.map((message) => `publint: ${formatMessage(message, pkg) ?? message.code}`);
}

/** The packages are ES modules for Node 22 and later; older module resolutions are ignored. */
async function checkTypes({ tarball, manifest }: Packed): Promise<readonly string[]> {
  if (manifest.exports === undefined) return [];
  const result = await checkPackage(
    createPackageFromTarballData(new Uint8Array(await readFile(tarball))),
  );
  if (result.types === false) return ['are the types wrong: there are none'];
  return result.problems
    .filter(
      (problem) =>
        !(
          'resolutionKind' in problem && ['node10', 'node16-cjs'].includes(problem.resolutionKind)
        ) && problem.kind !== 'CJSResolvesToESM',
    )
    .map((problem) => `are the types wrong: ${problem.kind} ${JSON.stringify(problem)}`);
}

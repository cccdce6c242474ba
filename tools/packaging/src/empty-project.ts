import { execFile } from 'node:child_process';
import { cp, mkdir, realpath, symlink, writeFile } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import type { Packed } from './pack.ts';

const run = promisify(execFile);

/** This package, which declares what the programs import beyond our packages. */
const tools = fileURLToPath(new URL('..', import.meta.url));

/**
 * A project that has nothing but one packed package and what that package declares. Nothing is asked of a
 * registry: what comes from there is linked from where the repository has it, for the package that declares it
 * and for no other, so that an undeclared import fails.
 */
export async function installInEmptyProject(
  packed: Packed,
  all: readonly Packed[],
  project: string,
): Promise<void> {
  await mkdir(project, { recursive: true });
  await writeFile(
    join(project, 'package.json'),
    JSON.stringify({ name: 'empty', private: true, type: 'module' }),
  );
  const install = async (each: Packed): Promise<void> => {
    const { manifest, unpacked } = each;
    const target = join(project, 'node_modules', manifest.name);
    if (existsSync(target)) return;
    await mkdir(dirname(target), { recursive: true });
    await cp(unpacked, target, { recursive: true });
    const needed = { ...manifest.dependencies, ...manifest.peerDependencies };
    for (const name of Object.keys(needed)) {
      const sibling = all.find((other) => other.manifest.name === name);
      if (sibling === undefined) await link(name, each.folder, target);
      else await install(sibling);
    }
  };
  await install(packed);
}

async function link(name: string, from: string, target: string): Promise<void> {
  const source = join(from, 'node_modules', name);
  if (!existsSync(source)) throw new Error(`${name} is declared, but not installed for ${from}`);
  const place = join(target, 'node_modules', name);
  await mkdir(dirname(place), { recursive: true });
  await symlink(await realpath(source), place);
}

/** The TypeScript blocks of a Markdown text, each a program. */
export function programsIn(markdown: string): readonly string[] {
  return [...markdown.matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map(([, program = '']) => program);
}

/** The output that a program announces; undefined if it announces none. */
export function promised(program: string): string | undefined {
  return /^\/\/ prints: (.*)$/m.exec(program)?.[1];
}

/** Installs what a program imports besides the package, as a user who copies it would. */
export async function installImports(
  program: string,
  packed: Packed,
  all: readonly Packed[],
  project: string,
): Promise<void> {
  for (const [, specifier = ''] of program.matchAll(/^(?:import|\} from)[^']*'([^'.][^']*)'/gm)) {
    if (specifier.startsWith('node:')) continue;
    const name = /^(?:@[^/]+\/)?[^/]+/.exec(specifier)?.[0] ?? '';
    if (existsSync(join(project, 'node_modules', name))) continue;
    const sibling = all.find(({ manifest }) => manifest.name === name);
    const from = existsSync(join(packed.folder, 'node_modules', name)) ? packed.folder : tools;
    if (sibling === undefined) await link(name, from, project);
    else await installInEmptyProject(sibling, all, project);
  }
}

/** Compiles a program against the types of the package, and runs it; a test is run by vitest. */
export async function useInProject(
  root: string,
  project: string,
  program: string,
  file: string,
): Promise<string> {
  const isTest = file.endsWith('.test.ts');
  await writeFile(join(project, file), program);
  const types = join(project, 'node_modules/@types');
  await mkdir(types, { recursive: true });
  if (!existsSync(join(types, 'node')))
    await symlink(await realpath(join(root, 'node_modules/@types/node')), join(types, 'node'));
  await writeFile(
    join(project, 'tsconfig.json'),
    JSON.stringify({
      compilerOptions: {
        target: 'es2024',
        lib: ['es2024', 'esnext.disposable'],
        module: 'nodenext',
        strict: true,
        exactOptionalPropertyTypes: true,
        noEmit: true,
        types: ['node'],
        skipLibCheck: true,
        allowImportingTsExtensions: true,
      },
      files: [file],
    }),
  );
  const vitest = join(root, 'node_modules/vitest');
  if (isTest) await symlink(await realpath(vitest), join(project, 'node_modules/vitest'));
  await run(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-p', project]);
  const args = isTest ? [join(vitest, 'vitest.mjs'), 'run', file] : [file];
  const { stdout } = await run(process.execPath, args, { cwd: project });
  return stdout.trim();
}

/** Runs the program of a package's `bin`. */
export async function runBin(
  packed: Packed,
  project: string,
  args: readonly string[],
): Promise<string> {
  const [path] = Object.values(packed.manifest.bin ?? {});
  if (path === undefined) throw new Error(`${packed.manifest.name} has no bin`);
  const file = join(project, 'node_modules', packed.manifest.name, path);
  const { stdout } = await run(process.execPath, [file, ...args], { cwd: project });
  return stdout.trim();
}

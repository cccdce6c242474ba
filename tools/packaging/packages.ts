// `npm run check:packages`: checks what a user of each package gets.
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { checkTarball } from './src/check-tarball.ts';
import {
  installImports,
  installInEmptyProject,
  programsIn,
  promised,
  runBin,
  useInProject,
} from './src/empty-project.ts';
import { checkManPages } from './src/man-pages.ts';
import { packAll } from './src/pack.ts';
import type { Packed } from './src/pack.ts';

const root = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '');
const uses = fileURLToPath(new URL('uses', import.meta.url));
/** Guides whose programs need one package and what they import. */
const GUIDES: ReadonlyMap<string, string> = new Map([
  ['tool-runner', 'writing-a-tool.md'],
  ['trace-store', 'writing-a-trace-sink.md'],
]);
const scratch = await mkdtemp(join(tmpdir(), 'orion-packages-'));
let failures = 0;
try {
  const all = await packAll(root, scratch);
  for (const packed of all) {
    const problems = [...(await checkTarball(packed)), ...(await use(packed, all))];
    failures += problems.length;
    const { name } = packed.manifest;
    for (const problem of problems) process.stderr.write(`${name}: ${problem}\n`);
    if (problems.length === 0)
      process.stdout.write(`${name}: ${packed.files.length} files, used\n`);
  }
} finally {
  await rm(scratch, { recursive: true, force: true });
}
process.exitCode = failures === 0 ? 0 : 1;

/** Installs the package alone and uses it. */
async function use(packed: Packed, all: readonly Packed[]): Promise<readonly string[]> {
  const short = packed.manifest.name.slice('@orion/'.length);
  const project = join(scratch, 'projects', short);
  try {
    await installInEmptyProject(packed, all, project);
    if (packed.manifest.bin !== undefined) {
      const version = await runBin(packed, project, ['--version']);
      if (version !== packed.manifest.version) return [`--version says ${version}`];
      const help = await runBin(packed, project, ['--help']);
      if (!help.includes('Usage: orion')) return ['--help says nothing'];
      return [
        ...(await checkManPages(packed, (args) => runBin(packed, project, args))),
        ...(await parsesItself(packed, project)),
      ];
    }
    const problems: string[] = [];
    const test = join(uses, `${short}.test.ts`);
    const own = existsSync(test) ? test : join(uses, `${short}.ts`);
    const readme = await readFile(join(packed.unpacked, 'README.md'), 'utf8');
    const guide = GUIDES.get(short);
    const shown =
      guide === undefined ? '' : await readFile(join(root, 'docs/guides', guide), 'utf8');
    const programs = [
      ...(existsSync(own) ? [[await readFile(own, 'utf8'), basename(own)] as const] : []),
      ...programsIn(`${readme}\n${shown}`).map(
        (text, index) => [text, fileOf(text, index)] as const,
      ),
    ];
    if (programs.length === 0) return ['nothing says how it is used'];
    for (const [program, file] of programs) {
      if (file !== basename(own)) await installImports(program, packed, all, project);
      const said = await useInProject(root, project, program, file);
      const wanted = promised(program);
      if (wanted !== undefined && said !== wanted)
        problems.push(`${file} printed ${JSON.stringify(said)}, not ${wanted}`);
    }
    return problems;
  } catch (error) {
    const { stderr, stdout, message } = error as {
      stderr?: string;
      stdout?: string;
      message: string;
    };
    return [`cannot be used: ${message}\n${stdout ?? ''}${stderr ?? ''}`];
  }
}

/** A turn of the command needs the grammars, which the bundler copies: they are no part of a chunk. */
async function parsesItself(packed: Packed, project: string): Promise<readonly string[]> {
  const script = join(uses, 'cli.json');
  await writeFile(join(project, 'shop.py'), 'class Shop:\n    def sell(self): pass\n');
  const options = ['--provider', 'scripted', '--script', script];
  const said = await runBin(packed, project, ['run', 'Look.', '--json', ...options]);
  return said.includes('2 definitions in 1 file') ? [] : [`parses no source file: ${said}`];
}

/** A block that begins with a comment of its name can be imported by the next ones; `*.test.ts` is run as a test. */
function fileOf(program: string, index: number): string {
  return /^\/\/ ([\w-]+(?:\.test)?\.ts)\n/.exec(program)?.[1] ?? `readme-${index + 1}.ts`;
}

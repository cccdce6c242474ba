import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** The parts of a packed manifest that are looked at here. */
export type Manifest = {
  readonly name: string;
  readonly version: string;
  readonly exports?: Readonly<Record<string, unknown>>;
  readonly bin?: Readonly<Record<string, string>>;
  readonly man?: readonly string[];
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
};

export type Packed = {
  readonly manifest: Manifest;
  /** Where the package lies in the repository. */
  readonly folder: string;
  readonly tarball: string;
  /** Where the tarball was unpacked. */
  readonly unpacked: string;
  /** Its files, relative to the package. */
  readonly files: readonly string[];
};

/** Packs every package that is published, as `pnpm publish` would, and unpacks it again. */
export async function packAll(root: string, scratch: string): Promise<readonly Packed[]> {
  const folders = [
    ...(await readdir(join(root, 'packages'))).map((name) => join(root, 'packages', name)),
    ...(await readdir(join(root, 'apps'))).map((name) => join(root, 'apps', name)),
  ].toSorted();
  const packed: Packed[] = [];
  for (const folder of folders)
    if (await isPublished(folder)) packed.push(await pack(root, folder, scratch));
  return packed;
}

async function isPublished(folder: string): Promise<boolean> {
  const text = await readFile(join(folder, 'package.json'), 'utf8');
  return (JSON.parse(text) as { readonly private?: boolean }).private !== true;
}

async function pack(root: string, folder: string, scratch: string): Promise<Packed> {
  const { stdout } = await run(
    join(root, 'node_modules/.bin/pnpm'),
    ['pack', '--json', '--pack-destination', scratch],
    { cwd: folder, maxBuffer: 64 * 1024 * 1024 },
  );
  const { filename } = JSON.parse(stdout) as { readonly filename: string };
  const tarball = join(scratch, filename.slice(filename.lastIndexOf('/') + 1));
  const unpacked = `${tarball.slice(0, -'.tgz'.length)}/package`;
  await run('mkdir', ['-p', unpacked]);
  await run('tar', ['-xzf', tarball, '-C', unpacked, '--strip-components=1']);
  const manifest = JSON.parse(await readFile(join(unpacked, 'package.json'), 'utf8')) as Manifest;
  const entries = await readdir(unpacked, { recursive: true, withFileTypes: true });
  const files = entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(unpacked.length + 1));
  return { manifest, folder, tarball, unpacked, files: files.toSorted() };
}

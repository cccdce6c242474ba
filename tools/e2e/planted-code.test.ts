import { spawnSync } from 'node:child_process';
import { cp, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { expect } from 'vitest';

import { commandEntry } from './support/entry.ts';
import { test } from './support/test.ts';

/**
 * Hazard: Node runs what it finds in its compile cache, and takes a folder in the shared temporary folder when none is
 * named. Whoever makes that folder first plants an entry there, and the next user's command runs it.
 */

/** Prints something conspicuous, in as many characters as it replaces. */
const PLANTED = 'process._rawDebug("PLANTED");';
/** In the header of an entry, where the checksum of the source is. */
const SOURCE_HASH_AT = 12;

test.skipIf(commandEntry().length > 1)(
  'code that was planted in the shared temporary folder is not run',
  async ({ machine }) => {
    const app = join(machine.root, 'app');
    const [entry = ''] = commandEntry();
    await cp(join(entry, '..'), app, { recursive: true });
    // Of the chunks of several builds, the one that the command loads.
    const loader = await readFile(join(app, 'main.js'), 'utf8');
    const [cli = ''] = /chunks\/cli-[\w-]+\.js/u.exec(loader) ?? [];
    const [name = ''] =
      /run-command-line-[\w-]+\.js/u.exec(await readFile(join(app, cli), 'utf8')) ?? [];
    const chunk = join(app, 'chunks', name);
    const source = await readFile(chunk, 'utf8');
    const { NODE_COMPILE_CACHE: _, ...environment } = machine.environment;
    const run = (more: Record<string, string>): string =>
      spawnSync(process.execPath, [join(app, 'main.js'), 'list-sessions'], {
        cwd: machine.workspace,
        env: { ...environment, ...more },
        encoding: 'utf8',
      }).stderr;

    // Another source of the same length is compiled, and its entry says that it is the true one's.
    const comment = /\/\/# sourceMappingURL=.*/u.exec(source)?.[0] ?? '';
    const evil = source.replace(comment, PLANTED.padEnd(comment.length));
    expect(evil).toHaveLength(source.length);
    const shared = join(machine.root, 'shared');
    const planted = join(shared, 'node-compile-cache');
    await mkdir(planted, { recursive: true });
    await writeFile(chunk, evil);
    // Named, and as a command that names none would make it: the flags of the engine are part of where an entry lies.
    expect(run({ NODE_COMPILE_CACHE: planted })).toContain('PLANTED');
    expect(run({ TMPDIR: shared })).toContain('PLANTED');
    await writeFile(chunk, source);
    await forge(planted, evil, source);

    // Where a user names the folder, Node does run it: the attack works.
    expect(run({ NODE_COMPILE_CACHE: planted })).toContain('PLANTED');
    expect(run({ TMPDIR: shared })).not.toContain('PLANTED');
  },
);

/** Gives the entry of one source the checksum of the other. */
async function forge(cache: string, from: string, to: string): Promise<void> {
  let forged = 0;
  for (const name of await readdir(cache, { recursive: true, withFileTypes: true })) {
    if (!name.isFile()) continue;
    const path = join(name.parentPath, name.name);
    const bytes = await readFile(path);
    if (bytes.readUInt32LE(SOURCE_HASH_AT) !== crc32(from)) continue;
    bytes.writeUInt32LE(crc32(to), SOURCE_HASH_AT);
    await writeFile(path, bytes);
    forged += 1;
  }
  expect(forged).toBeGreaterThan(0);
}

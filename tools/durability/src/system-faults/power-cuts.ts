import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { changeArguments, NEW, OLD, run, skip, targetIn } from './change-runs.ts';

/** More than a commit has. */
const LATEST_CALL = 60;

/**
 * What a disk holds that lost its power: the image of a file system is copied while it is mounted, right after the
 * process has ended or was killed, and the copy is mounted. Nothing that was not synced is in it.
 */
export function powerCuts(folder: string): readonly string[] {
  const failures: string[] = [];
  let cuts = 0;
  let written = 0;
  for (let killAt = 4; killAt <= LATEST_CALL; killAt += 4) {
    const place = join(folder, `power-${killAt}`);
    mkdirSync(place);
    const mounted = mountImage(place, 'disk', true);
    if (mounted === null) return skip('no image can be mounted here, so no power is cut');
    writeFileSync(join(mounted, 'a.txt'), OLD);
    spawnSync('sync', ['-f', join(mounted, 'a.txt')]);
    const killing = killAt === LATEST_CALL ? [] : [String(killAt)];
    const ran = run(process.execPath, changeArguments(mounted, 'overwrite', NEW, ...killing));
    spawnSync('cp', [join(place, 'disk.img'), join(place, 'copy.img')]);
    spawnSync('umount', [mounted]);
    const copy = mountImage(place, 'copy', false);
    if (copy === null) return [`power cut ${killAt}: the copy cannot be mounted`];
    const found = targetIn(copy);
    const reported = ran.answer.includes('"sha256"');
    const what = `power cut ${killAt}`;
    if (found !== OLD && found !== NEW) failures.push(`${what}: ${JSON.stringify(found)}`);
    if (reported && found !== NEW) failures.push(`${what}: reported, but not written`);
    if (found === NEW && !keepsOld(copy)) failures.push(`${what}: the previous bytes are gone`);
    spawnSync('umount', [copy]);
    rmSync(place, { recursive: true, force: true });
    cuts += 1;
    if (found === NEW) written += 1;
  }
  process.stdout.write(
    `${cuts} power cuts, ${written} after the rename, ${failures.length} failed\n`,
  );
  // Both sides of the rename must have been seen.
  if (written === 0 || written === cuts) failures.push('power cut: never on both sides');
  return failures;
}

function mountImage(place: string, name: string, fresh: boolean): string | null {
  const image = join(place, `${name}.img`);
  const directory = join(place, name);
  mkdirSync(directory);
  if (fresh) {
    writeFileSync(image, Buffer.alloc(16 * 1024 * 1024));
    if (spawnSync('mkfs.ext4', ['-q', '-F', image]).status !== 0) return null;
  }
  return spawnSync('mount', ['-o', 'loop', image, directory]).status === 0 ? directory : null;
}

function keepsOld(root: string): boolean {
  const backups = join(root, '.orion', 'backups');
  return readdirSync(backups).some((id) => {
    const content = join(backups, id, 'content');
    return existsSync(content) && readFileSync(content, 'utf8') === OLD;
  });
}

/** Small file systems in memory, for disks that are full. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Whether this user may mount them here. */
export const CAN_MOUNT: boolean = canMount();

/** A file system of its own, mounted at this folder, which is made. */
export async function withDisk(
  folder: string,
  options: string,
  step: (folder: string) => Promise<void>,
): Promise<void> {
  mkdirSync(folder, { recursive: true });
  mount(folder, options);
  try {
    await step(folder);
  } finally {
    unmount(folder);
  }
}

function mount(folder: string, options: string): void {
  execFileSync('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', folder], { stdio: 'ignore' });
}

function unmount(folder: string): void {
  execFileSync('umount', ['-l', folder], { stdio: 'ignore' });
}

function canMount(): boolean {
  const folder = mkdtempSync(join(tmpdir(), 'orion-e2e-mount-'));
  try {
    mount(folder, 'size=64k');
    unmount(folder);
    return true;
  } catch {
    return false;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

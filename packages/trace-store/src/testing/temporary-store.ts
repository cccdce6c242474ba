import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** A SQLite store in a folder that goes with the test. */
export function temporaryStore(): { readonly kind: 'sqlite'; readonly path: string } {
  const folder = mkdtempSync(join(tmpdir(), 'orion-store-'));
  onTestFinished(() => {
    rmSync(folder, { recursive: true, force: true });
  });
  return { kind: 'sqlite', path: join(folder, 'orion.db') };
}

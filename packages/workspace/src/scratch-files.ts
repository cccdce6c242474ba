import { randomUUID } from 'node:crypto';
import { lstat, readdir, unlink } from 'node:fs/promises';
import { basename, dirname, join, relative } from 'node:path';
import type { Clock, ScratchFile, SavedScratchFile } from '@orion/contracts';
import { syncDirectory } from './disk/directories.ts';
import { isInside } from './path-policy/resolve-path.ts';
import { expired } from './retention/retention.ts';
import type { RetentionLimits } from './retention/retention.ts';
import { TextSpool } from './session-dir/text-spool.ts';
import type { StateDirectory } from './state-directory.ts';

const NAME = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\.txt$/u;

type ScratchFilesOptions = {
  readonly state: StateDirectory;
  readonly clock: Clock;
  readonly root: string;
  readonly limits: RetentionLimits;
};

/**
 * Files for texts that have no target, so that a person can retrieve them. Creating one removes expired ones.
 *
 * Writing never fails the caller: if the text could not be stored, `finish` returns null. Removing others never keeps a
 * text from being stored.
 */
export class ScratchFiles {
  readonly #options: ScratchFilesOptions;
  readonly #directory: string;

  constructor(options: ScratchFilesOptions) {
    this.#options = options;
    this.#directory = options.state.texts;
  }

  create(): ScratchFile {
    const { clock, state } = this.#options;
    const path = join(this.#directory, `${randomUUID()}.txt`);
    const spool = new TextSpool({
      clock,
      nextPath: async () => {
        await state.ensure(this.#directory);
        await this.#prune().catch(() => undefined);
        return path;
      },
      mayWrite: () => Promise.resolve(),
      onFailure: () => undefined,
    });
    return {
      append: (text) => spool.append(text),
      finish: () => this.#finish(spool),
      discard: async () => {
        await spool.close().catch(() => undefined);
        await unlink(path).catch(() => undefined);
      },
    };
  }

  async #finish(spool: TextSpool): Promise<SavedScratchFile | null> {
    try {
      await spool.finish();
      if ((await spool.sync()) === 'new_file') {
        await syncDirectory(this.#directory);
        await spool.confirmFile();
      }
      const path = spool.path();
      if (path === null) return null;
      const { root } = this.#options;
      return { path: isInside(root, path) ? relative(root, path) : path, bytes: spool.bytes() };
    } catch {
      return null;
    } finally {
      await spool.close().catch(() => undefined);
    }
  }

  /** Other processes may remove files meanwhile, and a name that came with a repository may be a link to nothing. */
  async #prune(): Promise<void> {
    const { limits, clock } = this.#options;
    const names = (await readdir(this.#directory)).filter((name) => NAME.test(name));
    const found = await Promise.all(
      names.map(async (name) => {
        const stat = await lstat(join(this.#directory, name)).catch(() => null);
        return stat?.isFile() === true ? [{ name, since: stat.mtimeMs, bytes: stat.size }] : [];
      }),
    );
    const entries = found.flat();
    for (const name of expired(entries, limits, clock.now()))
      await unlink(join(this.#directory, name)).catch(() => undefined);
  }

  /** Whether a path names a scratch file. */
  holds(realPath: string): boolean {
    return dirname(realPath) === this.#directory && NAME.test(basename(realPath));
  }
}

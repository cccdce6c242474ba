import { randomUUID } from 'node:crypto';
import { readdir, stat, unlink } from 'node:fs/promises';
import { basename, dirname, join, relative } from 'node:path';
import type { Clock, KeptText, KeptTextFile } from '@orion/contracts';
import { syncDirectory } from './disk/directories.ts';
import { isInside } from './path-policy/resolve-path.ts';
import { expired } from './retention/retention.ts';
import type { RetentionLimits } from './retention/retention.ts';
import { TextSpool } from './session-dir/text-spool.ts';
import type { StateDirectory } from './state-directory.ts';

const NAME = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\.txt$/u;

/**
 * Texts that belong to no file, one each, for a person to take them from. Old ones go when a new one comes.
 *
 * Keeping a text never fails its caller: what cannot be kept is told by `finish` with null.
 */
export class KeptTexts {
  readonly #state: StateDirectory;
  readonly #clock: Clock;
  readonly #root: string;
  readonly #limits: RetentionLimits;

  constructor(options: {
    readonly state: StateDirectory;
    readonly clock: Clock;
    readonly root: string;
    readonly limits: RetentionLimits;
  }) {
    this.#state = options.state;
    this.#clock = options.clock;
    this.#root = options.root;
    this.#limits = options.limits;
  }

  keep(): KeptText {
    const path = join(this.#state.texts, `${randomUUID()}.txt`);
    const spool = new TextSpool({
      clock: this.#clock,
      nextPath: async () => {
        await this.#state.ensure(this.#state.texts);
        await this.#prune();
        return path;
      },
      mayWrite: () => Promise.resolve(),
      onFailure: () => undefined,
    });
    return {
      append: (text) => spool.append(text),
      finish: async () => await this.#finish(spool),
      discard: async () => {
        await spool.close().catch(() => undefined);
        await unlink(path).catch(() => undefined);
      },
    };
  }

  async #finish(spool: TextSpool): Promise<KeptTextFile | null> {
    try {
      await spool.finish();
      if ((await spool.sync()) === 'new_file') {
        await syncDirectory(this.#state.texts);
        await spool.confirmFile();
      }
      const path = spool.path();
      const bytes = spool.bytes();
      if (path === null) return null;
      return { path: isInside(this.#root, path) ? relative(this.#root, path) : path, bytes };
    } catch {
      return null;
    } finally {
      await spool.close().catch(() => undefined);
    }
  }

  async #prune(): Promise<void> {
    const directory = this.#state.texts;
    const names = (await readdir(directory)).filter((name) => NAME.test(name));
    const entries = await Promise.all(
      names.map(async (name) => {
        const { mtimeMs, size } = await stat(join(directory, name));
        return { name, since: mtimeMs, bytes: size };
      }),
    );
    for (const name of expired(entries, this.#limits, this.#clock.now()))
      await unlink(join(directory, name)).catch(() => undefined);
  }

  /** Whether a path names one of these texts. */
  holds(realPath: string): boolean {
    return dirname(realPath) === this.#state.texts && NAME.test(basename(realPath));
  }
}

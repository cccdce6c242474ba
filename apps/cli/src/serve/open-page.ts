import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

import { toErrorInfo } from '@orion/contracts';

/** A page that was given to a browser. */
export type OpenedPage = {
  /** What keeps a browser from opening; null if one was started. */
  readonly problem: string | null;
  /** Removes the file that leads to the link. Never rejects. */
  readonly close: () => Promise<void>;
};

/**
 * Opens a log-in link in the person's browser. Arguments of a process are visible to everybody on the machine, so the
 * browser is given a file that only its user can read, which leads to the link (W5). Never rejects.
 */
export async function openInBrowser(
  link: string,
  { environment, platform }: { readonly environment: NodeJS.ProcessEnv; readonly platform: string },
): Promise<OpenedPage> {
  let folder: string | null = null;
  const close = async (): Promise<void> => {
    if (folder !== null) await rm(folder, { recursive: true, force: true }).catch(() => undefined);
  };
  try {
    // Of mode 0700.
    folder = await mkdtemp(join(tmpdir(), 'orion-page-'));
    const file = join(folder, 'orion.html');
    const target = link.replaceAll('&', '&amp;').replaceAll('"', '&quot;');
    const text = `<!doctype html><meta http-equiv="refresh" content="0;url=${target}">\n`;
    await writeFile(file, text, { flag: 'wx', mode: 0o600 });
    const program = platform === 'darwin' ? 'open' : 'xdg-open';
    await start(program, pathToFileURL(file).href, folder, environment);
    return { problem: null, close };
  } catch (error) {
    await close();
    return { problem: toErrorInfo(error).message, close };
  }
}

const SECRET = /(?:KEY|TOKEN|SECRET|PASSWORD)$|^DATABASE_URL$/u;

/** A browser runs for days, and needs none of them. */
function withoutSecrets(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(environment).filter(([name]) => !SECRET.test(name)));
}

/** Resolves when it has started: it may run for as long as the browser. */
function start(
  program: string,
  url: string,
  folder: string,
  environment: NodeJS.ProcessEnv,
): Promise<void> {
  return new Promise((resolve, reject) => {
    // Not in the workspace, from where a PATH with a relative entry could run anything.
    const env = withoutSecrets(environment);
    const options = { cwd: folder, env, stdio: 'ignore', detached: true } as const;
    const child = spawn(program, [url], options);
    child.once('error', reject);
    child.once('spawn', () => {
      child.unref();
      resolve();
    });
  });
}

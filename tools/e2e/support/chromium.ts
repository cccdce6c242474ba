/** A real browser, from a package of npm. */
import { existsSync } from 'node:fs';
import { mkdir, rm, rmdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';

import { chromium } from 'playwright-core';
import type { Browser } from 'playwright-core';

export type { Browser, Page } from 'playwright-core';

const CACHE = join(import.meta.dirname, '../../../node_modules/.cache/chromium');
const LOCK = `${CACHE}-lock`;
/** Longer than unpacking takes: whoever has the lock was killed. */
const STALE_MS = 60_000;
const isPackaged = process.platform === 'linux' && process.arch === 'x64';

/** Why there is no browser here, or null. */
export const missingBrowser: string | null =
  isPackaged || process.env['ORION_CHROMIUM'] !== undefined
    ? null
    : 'the packaged Chromium is for Linux on x64: set ORION_CHROMIUM';

/** With its web security on: the arguments that come with the package would switch that off. */
export async function launchChromium(): Promise<Browser> {
  const given = process.env['ORION_CHROMIUM'];
  const found =
    given === undefined
      ? await alone(unpack)
      : { executablePath: given, env: process.env as Record<string, string> };
  return chromium.launch({ ...found, args: ['--no-sandbox'], headless: true });
}

/** Test files begin at once, and a program that is being written cannot be started. */
async function alone<Result>(work: () => Promise<Result>): Promise<Result> {
  await mkdir(join(CACHE, '..'), { recursive: true });
  for (;;) {
    try {
      await mkdir(LOCK);
      break;
    } catch {
      const taken = await stat(LOCK).catch(() => null);
      if (taken !== null && Date.now() - taken.mtimeMs > STALE_MS) await rmdir(LOCK);
      await wait(50);
    }
  }
  try {
    return await work();
  } finally {
    await rmdir(LOCK);
  }
}

/** The package unpacks itself and its libraries below TMPDIR, and says in the environment where these are. */
async function unpack(): Promise<{ executablePath: string; env: Record<string, string> }> {
  const complete = join(CACHE, 'orion-complete');
  // What a killed run has unpacked half-way would be taken for all of it.
  if (!existsSync(complete)) await rm(CACHE, { recursive: true, force: true });
  await mkdir(CACHE, { recursive: true });
  const before = { ...process.env };
  Object.assign(process.env, { TMPDIR: CACHE, AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs24.x' });
  try {
    const { default: packaged } = await import('@sparticuz/chromium');
    const executablePath = await packaged.executablePath();
    // Its own configuration looks for the fonts below /tmp; without one, text has no height.
    const fonts = join(CACHE, 'orion-fonts.conf');
    const folders = `<dir>${CACHE}/fonts/fonts</dir><cachedir>${CACHE}/fonts-cache</cachedir>`;
    // Once: a browser that starts meanwhile would find it empty, and draw with other widths.
    if (!existsSync(complete)) {
      await writeFile(fonts, `<?xml version="1.0"?><fontconfig>${folders}</fontconfig>`);
      await writeFile(complete, '');
    }
    return { executablePath, env: { ...(process.env as object), FONTCONFIG_FILE: fonts } };
  } finally {
    for (const name of Object.keys(process.env)) if (!(name in before)) delete process.env[name];
    Object.assign(process.env, before);
  }
}

/** What else has to hold after an attack; each gives a sentence about what does not, or null. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

import type { After } from './attack.ts';
import { HONEST_TEXT } from './provider.ts';

/** The turn continues whatever is there, and the file is written as the honest provider says. */
export async function goesOn({ site, ended }: After): Promise<string | null> {
  const text = await readFile(join(site.workspace, 'a.txt'), 'utf8').catch(() => null);
  return text === HONEST_TEXT ? null : `did not write the file: ${ended.stderr.trim().slice(-200)}`;
}

/** All that arrived before is in the session, and the user is told how to continue. */
export const keptInSession = ({ ended }: After): string | null =>
  ended.stdout.includes('"lines":50') && ended.stdout.includes('recover-session')
    ? null
    : 'lost what had been captured, or did not say how to continue';

export const says =
  (words: string) =>
  ({ ended }: After): string | null =>
    `${ended.stdout}${ended.stderr}`.includes(words) ? null : `did not say "${words}"`;

export const nothingFrom =
  (text: string) =>
  ({ provider, ended }: After): string | null =>
    provider.asked.some((asked) => asked.text.includes(text)) || ended.stdout.includes(text)
      ? `gave away "${text}"`
      : null;

/** The turn continues, and the user is told once what is there and what to do about it. */
export const goesOnAndNames =
  (path: string) =>
  async (after: After): Promise<string | null> => {
    const { stdout } = after.ended;
    if (
      !stdout.includes(`${join(after.site.workspace, path)} is `) ||
      !/move it away/iu.test(stdout) ||
      !stdout.includes('ORION_STATE_DIR')
    )
      return 'did not say what is not used, or what to do about it';
    return await goesOn(after);
  };

export const neverSent =
  (text: string) =>
  async (after: After): Promise<string | null> =>
    after.provider.asked.some((asked) => asked.text.includes(text))
      ? `sent "${text}" to the provider`
      : await goesOn(after);

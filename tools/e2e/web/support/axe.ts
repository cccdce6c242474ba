import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';

import type { Page } from 'playwright-core';

const require = createRequire(import.meta.url);
const source = readFile(require.resolve('axe-core/axe.min.js'), 'utf8');

type Axe = {
  run(
    context: object,
    options: object,
  ): Promise<{ violations: { id: string; nodes: { html: string }[] }[] }>;
};

/** What depends on colours alone; the other rules find the same in every appearance. */
const COLOURS = ['color-contrast', 'link-in-text-block'];

/**
 * What axe finds, each rule with the first place; a target that is too small or too near to another one, too. The policy
 * of the page does not hinder what a test puts in.
 */
export async function findings(
  page: Page,
  only: readonly string[] | null = null,
): Promise<readonly string[]> {
  if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(await source);
  return page.evaluate(async (rules) => {
    const options = {
      resultTypes: ['violations'],
      ...(rules === null
        ? { rules: { 'target-size': { enabled: true } } }
        : { runOnly: { type: 'rule', values: rules } }),
    };
    const { violations } = await (window as unknown as { axe: Axe }).axe.run(document, options);
    return violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`);
  }, only);
}

export const APPEARANCES = [
  { colorScheme: 'light' },
  { colorScheme: 'dark' },
  { forcedColors: 'active' },
] as const;

/** The same in light, dark and forced colours. */
export async function findingsInAll(page: Page): Promise<readonly string[]> {
  const found: string[] = [];
  for (const media of APPEARANCES) {
    await page.emulateMedia({ colorScheme: 'light', forcedColors: 'none', ...media });
    const only = media === APPEARANCES[0] ? null : COLOURS;
    found.push(...(await findings(page, only)).map((each) => `${JSON.stringify(media)} ${each}`));
  }
  await page.emulateMedia({ colorScheme: 'light', forcedColors: 'none' });
  return found;
}

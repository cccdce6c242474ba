import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';

import type { Page } from 'playwright-core';

const require = createRequire(import.meta.url);
const source = readFile(require.resolve('axe-core/axe.min.js'), 'utf8');

type Axe = { run(): Promise<{ violations: { id: string; nodes: { html: string }[] }[] }> };

/** What axe finds, each rule with the first place. The policy of the page does not hinder what a test puts in. */
export async function findings(page: Page): Promise<readonly string[]> {
  await page.evaluate(await source);
  return page.evaluate(async () => {
    const { violations } = await (window as unknown as { axe: Axe }).axe.run();
    return violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`);
  });
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
    found.push(...(await findings(page)).map((each) => `${JSON.stringify(media)} ${each}`));
  }
  await page.emulateMedia({ colorScheme: 'light', forcedColors: 'none' });
  return found;
}

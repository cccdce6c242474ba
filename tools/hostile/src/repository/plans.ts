import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

import type { AttackOf } from '../attack.ts';
import type { Site } from '../site.ts';

/** A plan for `a.txt`, of which this is the content. */
const plan =
  (content: string, operations: readonly object[]) =>
  async (site: Site): Promise<void> => {
    await site.plant('workspace/a.txt', content);
    await site.plant(
      'workspace/plan.json',
      JSON.stringify({ intent: 'x', target_file: 'a.txt', operations }),
    );
  };
const applies = (): readonly string[] => ['apply-plan', 'plan.json', '--json'];

/** Plans that `apply-plan` reads. */
export const PLANS: readonly AttackOf[] = [
  {
    name: 'a plan that makes a thousand of each letter, six times',
    plant: plan(
      'a',
      Array.from({ length: 6 }, () => ({
        type: 'replace_all',
        find: 'a',
        content: 'a'.repeat(1000),
      })),
    ),
    // The third has a million places, as many as an operation may have.
    holdsBytes: 150 * 1024 * 1024,
    words: applies,
    mayWrite: [],
    exits: [1],
    holds: ({ ended }) =>
      ended.stdout.includes('CONTENT_TOO_LARGE') ? null : 'was not refused for its size',
  },
  {
    name: 'a plan of 10,000 appends to one file',
    plant: plan(
      'first\n',
      Array.from({ length: 10_000 }, (_, index) => ({ type: 'append', content: `${index}\n` })),
    ),
    words: applies,
    exits: [0],
    holds: async ({ site }) => {
      const text = await readFile(join(site.workspace, 'a.txt'), 'utf8');
      return text.endsWith('\n9998\n9999\n') ? null : 'did not append everything';
    },
  },
  {
    name: 'a plan 100,000 levels deep',
    plant: (site) =>
      site.plant(
        'workspace/plan.json',
        `{"intent":"x","operations":${'['.repeat(100_000)}${']'.repeat(100_000)}}`,
      ),
    words: applies,
    mayWrite: [],
    exits: [1, 2],
  },
];

import { describe, expect, it } from 'vitest';

import { bestPaths, indexPaths } from './path-search.ts';

const FILES = [
  'README.md',
  'docs/a guide.md',
  'packages/agent/src/turn/turn.ts',
  'packages/core/src/index.ts',
  'src/cli.ts',
  'src/client/index.ts',
];

describe('the paths that fit', () => {
  const best = (query: string, limit = 20) => bestPaths(indexPaths(FILES), query, limit);

  it.each<[string, string[]]>([
    ['', ['README.md', 'docs/', 'packages/', 'src/', 'docs/a guide.md']],
    ['src/', ['src/', 'src/cli.ts', 'src/client/', 'src/client/index.ts']],
    ['cli', ['src/cli.ts', 'src/client/', 'src/client/index.ts']],
    ['CLI.TS', ['src/cli.ts']],
    ['index', ['src/client/index.ts', 'packages/core/src/index.ts']],
    ['turn', ['packages/agent/src/turn/', 'packages/agent/src/turn/turn.ts']],
    // In the name before in the path.
    ['uide', ['docs/a guide.md']],
    ['agent/src', ['packages/agent/src/', 'packages/agent/src/turn/']],
    // The letters in order, the fewest pieces first.
    ['scits', ['src/cli.ts', 'src/client/index.ts', 'packages/core/src/index.ts']],
    ['zzz', []],
  ])('%j: %j', (query, paths) => {
    expect(best(query).slice(0, paths.length)).toEqual(paths);
    if (paths.length === 0) expect(best(query)).toEqual([]);
  });

  it('are ranked by where they have it, whatever their length', () => {
    const files = [
      'a/b',
      'xab/c.txt',
      'x/zab-short.txt',
      'x/ab-a-longer-name.txt',
      'ab-the-longest-name-of-all-of-them.txt',
    ];
    expect(bestPaths(indexPaths(files), 'ab', 20)).toEqual([
      'ab-the-longest-name-of-all-of-them.txt',
      'x/ab-a-longer-name.txt',
      'xab/',
      'x/zab-short.txt',
      'xab/c.txt',
      'a/b',
    ]);
  });

  it('are no more than wanted, and the same as the first of all', () => {
    expect(best('s', 3)).toEqual(best('s').slice(0, 3));
    expect(best('')).toHaveLength(15);
  });

  it('take time in proportion to the listing', () => {
    const listing = (count: number) =>
      indexPaths(Array.from({ length: count }, (_, i) => `packages/p${i % 97}/src/file-${i}.ts`));
    const time = (count: number): number => {
      const index = listing(count);
      bestPaths(index, 'warm', 20);
      const before = process.cpuUsage();
      for (const query of ['pfts', 'src', 'file-1', 'zz']) bestPaths(index, query, 20);
      return process.cpuUsage(before).user / 1000;
    };
    time(6000);
    // Quadratic, it would take 64 times as long.
    expect(time(48_000)).toBeLessThan(30 * Math.max(10, time(6000)));
  });
});

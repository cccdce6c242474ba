import { formatTable } from '@orion/common';

import type { SizeResult } from './compare-sizes.ts';
import type { StartResult } from './compare-start.ts';
import type { Goal } from './goals.ts';
import { formatSpread } from './statistics.ts';
import type { Spread } from './statistics.ts';

const COUNT = new Intl.NumberFormat('en-US');

export function formatSizes(sizes: readonly SizeResult[]): string {
  const rows = sizes.flatMap(({ lines, contentBytes, events, orion, bare, ...ratios }) => [
    [
      COUNT.format(lines),
      `${(contentBytes / 1e6).toFixed(2)} MB`,
      COUNT.format(events),
      'orion run',
      milliseconds(orion.wallMs),
      milliseconds(orion.cpuMs),
      formatSpread(orion.peakMiB, 0),
    ],
    [
      '',
      '',
      '',
      'bare reader',
      milliseconds(bare.wallMs),
      milliseconds(bare.cpuMs),
      formatSpread(bare.peakMiB, 0),
    ],
    ['', '', '', 'ratio', formatSpread(ratios.wallRatio, 2), formatSpread(ratios.cpuRatio, 2), ''],
  ]);
  return formatTable([
    ['lines', 'content', 'events', 'program', 'wall ms', 'CPU ms', 'peak MB'],
    ...rows,
  ]);
}

export function formatStart(start: StartResult): string {
  return formatTable([
    ['start', 'wall ms', 'over `node -e 0`'],
    ['node -e 0', milliseconds(start.nothingMs), ''],
    ['orion --version', milliseconds(start.versionMs), milliseconds(start.versionOverMs)],
    ['one sentence', milliseconds(start.sentenceMs), milliseconds(start.sentenceOverMs)],
  ]);
}

export function formatGoals(goals: readonly Goal[]): string {
  return formatTable([
    ['goal', 'wanted', 'measured', ''],
    ...goals.map(({ name, wanted, measured, met }) => [
      name,
      wanted,
      measured,
      met ? 'met' : 'MISSED',
    ]),
  ]);
}

function milliseconds(values: Spread): string {
  return formatSpread(values, 0);
}

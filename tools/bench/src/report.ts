import type { SizeResult } from './compare-sizes.ts';
import type { StartResult } from './compare-start.ts';
import type { Goal } from './goals.ts';
import type { Spread } from './statistics.ts';
import { formatTable } from './table.ts';

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
      spread(orion.peakMiB, 0),
    ],
    [
      '',
      '',
      '',
      'bare reader',
      milliseconds(bare.wallMs),
      milliseconds(bare.cpuMs),
      spread(bare.peakMiB, 0),
    ],
    ['', '', '', 'ratio', spread(ratios.wallRatio, 2), spread(ratios.cpuRatio, 2), ''],
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
  return spread(values, 0);
}

/** The median, and the smallest and largest. */
function spread({ median, min, max }: Spread, digits: number): string {
  return `${median.toFixed(digits)} (${min.toFixed(digits)}-${max.toFixed(digits)})`;
}

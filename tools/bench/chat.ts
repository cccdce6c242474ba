import { mkdir, mkdtemp, realpath, rm } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

import { formatTable, readCount } from '@orion/common';

import { measureChat, type ChatFigures } from './src/chat-terminal.ts';
import { measure } from './src/measure.ts';
import { startProvider } from './src/provider.ts';
import { formatGoals } from './src/report.ts';
import { formatSpread, spreadOf, type Spread } from './src/statistics.ts';

const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '5' },
    lines: { type: 'string', default: '300' },
    command: { type: 'string' },
  },
});
const runs = readCount('runs', values.runs, 1);
const lines = readCount('lines', values.lines, 1);
const LINES_A_SECOND = 60;
const GOALS = { promptOverMs: 120, cpuMs: 600, peakMiB: 90 };

const beside = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const command = values.command ?? beside('../../apps/cli/dist/main.js');
const inkProgram = beside('src/programs/ink-chat.mjs');

const folder = await realpath(await mkdtemp(join(tmpdir(), 'orion-bench-')));
const home = join(folder, 'home');
await mkdir(home);
const answer = Array.from({ length: lines }, (_, line) => `- line ${line} of the answer\n`);
const provider = await startProvider(folder, {
  shape: { chunk: answer[0]?.length ?? 1, eventsPerSecond: LINES_A_SECOND },
  behaviours: [{ reply: { text: answer.join('') } }],
});
const environment = {
  PATH: process.env['PATH'] ?? '',
  HOME: home,
  NODE_COMPILE_CACHE: join(folder, 'compiled'),
};
const lastLine = `line ${lines - 1} of the answer`;

/** `node -e 0`. */
type Nothing = { readonly wallMs: number; readonly cpuMs: number };

try {
  const programs = {
    'orion chat': [command, 'chat', `--base-url=${provider.url}`, '--model=scripted'],
    'orion chat --plain': [
      command,
      'chat',
      '--plain',
      `--base-url=${provider.url}`,
      '--model=scripted',
    ],
    'ink 8, react 19': [inkProgram, String(lines), String(1000 / LINES_A_SECOND)],
  };
  const nothing: Nothing[] = [];
  const figures = new Map<string, ChatFigures[]>();
  for (let run = 0; run <= runs; run += 1) {
    const { wallMs, cpuMs } = await measure({ args: ['-e', '0'], folder });
    for (const [name, args] of Object.entries(programs)) {
      const workspace = join(folder, 'workspace');
      await mkdir(workspace);
      // What the terminal itself echoes has no sign before it; the plain face leaves the echo to it.
      const ready = args.includes('--plain') ? '> ' : '> x';
      const measured = await measureChat({ args, folder: workspace, environment, ready, lastLine });
      await rm(workspace, { recursive: true });
      // The first one fills Node's compile cache.
      if (run > 0) figures.set(name, [...(figures.get(name) ?? []), measured]);
    }
    if (run > 0) nothing.push({ wallMs, cpuMs });
  }
  process.stdout.write(
    `Node ${process.version}, ${availableParallelism()} processors, ${runs} runs each: median (min-max). ` +
      `${lines} lines, ${LINES_A_SECOND} a second.\n\n${report(nothing, figures)}\n\n${goals(nothing, figures.get('orion chat') ?? [])}\n`,
  );
} finally {
  provider.close();
  await rm(folder, { recursive: true });
}

function report(
  nothing: readonly Nothing[],
  all: ReadonlyMap<string, readonly ChatFigures[]>,
): string {
  return formatTable([
    [
      '',
      'first prompt ms',
      'over `node -e 0`',
      'CPU ms over it',
      'CPU ms, streaming',
      'CPU ms, all',
      'peak MB',
      'written kB',
    ],
    ...[...all].map(([name, runs]) => [
      name,
      formatSpread(spread(runs, 'promptMs'), 0),
      formatSpread(over(nothing, runs), 0),
      formatSpread(cpuOver(nothing, runs), 0),
      formatSpread(spread(runs, 'streamCpuMs'), 0),
      formatSpread(spread(runs, 'cpuMs'), 0),
      formatSpread(spread(runs, 'peakMiB'), 0),
      formatSpread(spread(runs, 'writtenKB'), 0),
    ]),
  ]);
}

function goals(nothing: readonly Nothing[], orion: readonly ChatFigures[]): string {
  const goal = (name: string, unit: string, wanted: number, measured: Spread) => ({
    name,
    wanted: `at most ${wanted} ${unit}`,
    measured: `${measured.median.toFixed(0)} ${unit}`,
    met: measured.median <= wanted,
  });
  return formatGoals([
    goal('first prompt, over `node -e 0`', 'ms', GOALS.promptOverMs, over(nothing, orion)),
    goal(`${lines} streamed lines`, 'ms of CPU', GOALS.cpuMs, spread(orion, 'streamCpuMs')),
    goal('peak memory', 'MB', GOALS.peakMiB, spread(orion, 'peakMiB')),
  ]);
}

function over(nothing: readonly Nothing[], runs: readonly ChatFigures[]): Spread {
  return spreadOf(runs.map(({ promptMs }, run) => promptMs - (nothing[run]?.wallMs ?? 0)));
}

function cpuOver(nothing: readonly Nothing[], runs: readonly ChatFigures[]): Spread {
  return spreadOf(runs.map(({ promptCpuMs }, run) => promptCpuMs - (nothing[run]?.cpuMs ?? 0)));
}

function spread(runs: readonly ChatFigures[], name: keyof ChatFigures): Spread {
  return spreadOf(runs.map((run) => run[name]));
}

import { spawn } from 'node:child_process';
import { mkdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';

import type { Provider } from './provider.ts';
import { contentOf, targetOf } from './script.ts';
import { spreadOf } from './statistics.ts';
import type { Spread } from './statistics.ts';
import type { Condition } from './store-conditions.ts';

export type TurnFigures = {
  readonly name: string;
  readonly beside: string | null;
  /** From the first event to `done`, as a reader of `--json` sees them. */
  readonly turnMs: Spread;
  /** From the start of the command to its end. */
  readonly processMs: Spread;
  /** Medians of the ratios within a round, since the machine's pace changes in the long run; null beside nothing. */
  readonly turnRatio: Spread | null;
  readonly processRatio: Spread | null;
};

export type TurnOptions = {
  readonly conditions: readonly Condition[];
  readonly lines: number;
  readonly rounds: number;
  readonly command: string;
  readonly provider: Provider;
  readonly folder: string;
};

type Turn = { readonly turnMs: number; readonly processMs: number };

/** The same turn with the store in each condition, one after the other and each time beginning with another. */
export async function measureTurns(options: TurnOptions): Promise<readonly TurnFigures[]> {
  const { conditions, lines, rounds } = options;
  const content = contentOf(lines);
  const turns = new Map<string, Turn[]>(conditions.map(({ name }) => [name, []]));
  // The first round fills Node's compile cache and is not counted.
  for (let round = 0; round <= rounds; round += 1) {
    const first = round % conditions.length;
    for (const condition of [...conditions.slice(first), ...conditions.slice(0, first)]) {
      const turn = await runTurn(options, condition, content);
      if (round > 0) turns.get(condition.name)?.push(turn);
    }
  }
  return conditions.map(({ name, beside }) => {
    const mine = turns.get(name) ?? [];
    const others = beside === null ? null : (turns.get(beside) ?? []);
    const ratios = (of: (turn: Turn) => number): Spread | null =>
      others === null
        ? null
        : spreadOf(
            mine.map((turn, round) => of(turn) / of(others[round] ?? { turnMs: 0, processMs: 0 })),
          );
    return {
      name,
      beside,
      turnMs: spreadOf(mine.map(({ turnMs }) => turnMs)),
      processMs: spreadOf(mine.map(({ processMs }) => processMs)),
      turnRatio: ratios(({ turnMs }) => turnMs),
      processRatio: ratios(({ processMs }) => processMs),
    };
  });
}

async function runTurn(
  options: TurnOptions,
  { name, environment, prepare }: Condition,
  content: string,
): Promise<Turn> {
  const { lines, folder } = options;
  const workspace = join(folder, 'turn');
  const target = targetOf(lines);
  await mkdir(workspace);
  try {
    await prepare?.(join(workspace, '.orion'));
    const turn = await runCommand(options, workspace, environment);
    // A turn that ended in any other way would be no result at all.
    if ((await readFile(join(workspace, target), 'utf8')) !== content) {
      throw new Error(`${name}: ${target} is not what was streamed`);
    }
    return turn;
  } finally {
    await rm(workspace, { recursive: true });
  }
}

async function runCommand(
  { command, provider, lines, folder }: TurnOptions,
  workspace: string,
  environment: Readonly<Record<string, string>>,
): Promise<Turn> {
  const began = performance.now();
  const child = spawn(
    process.execPath,
    [
      command,
      'run',
      `Write ${targetOf(lines)}`,
      '--json',
      `--cwd=${workspace}`,
      `--base-url=${provider.url}`,
      '--model=scripted',
    ],
    {
      cwd: folder,
      env: { PATH: process.env['PATH'], HOME: folder, XDG_CONFIG_HOME: folder, ...environment },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  let firstAt: number | null = null;
  let doneAt: number | null = null;
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
    firstAt ??= performance.now();
    if (stdout.includes('"type":"done"')) doneAt ??= performance.now();
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  let endedAt = 0;
  child.on('exit', () => {
    endedAt = performance.now();
  });
  const exitCode = await new Promise<number | null>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', resolve);
  });
  if (exitCode !== 0 || firstAt === null || doneAt === null) {
    throw new Error(`The turn ended with ${exitCode}: ${stderr}`);
  }
  return { turnMs: doneAt - firstAt, processMs: endedAt - began };
}

// @module-tag long
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';

import { commandEntry } from './support/entry.ts';
import { at, type Sandbox } from './support/sandbox.ts';
import { numbered, writeDocument } from './support/scripts.ts';
import { test } from './support/test.ts';

/**
 * Hazard: the work of a command is done, and its process never ends: a thread of the engine waits for a collection that
 * the main thread no longer makes, and a handler keeps SIGTERM from ending it.
 */

/** A share; the whole is `npm run exits`. */
const PROCESSES = Number(process.env['ORION_EXITS'] ?? 12);
const SEED = Number(process.env['ORION_EXITS_SEED'] ?? Math.floor(Math.random() * 1_000_000_000));
const AT_ONCE = 2;
const HUNG_MS = 30_000;

/** On a machine that needs no longer than this to start Node; one that is busier gets more in proportion. */
const START_MS = 100;
const MOST_SLOWNESS = 5;
const LATE_MS = 1000;
const STOP_MS = 2000;
const COMMIT_MS = 5000;

type Kind = {
  readonly name: string;
  readonly args: readonly string[];
  /** What a signal may take: a file that is being changed is changed first. */
  readonly stopMs: number;
};

type Ended = {
  readonly number: number;
  readonly kind: string;
  /** From the last that it printed, or from the signal, to its end. */
  readonly ms: number;
  readonly limitMs: number;
  readonly signal: boolean;
  readonly ended: string;
};

test('a command ends within a second of its work, and SIGTERM ends it within two (a commit: five)', async ({
  machine,
}) => {
  const kinds = await prepare(machine);
  const random = mulberry(SEED);
  const slowness = Math.min(MOST_SLOWNESS, Math.max(1, startTime() / START_MS));
  // Under load: one process for each processor that this run has to itself.
  const burners = PROCESSES > 100 ? [burn(), burn()] : [];
  const all: Ended[] = [];
  let next = 0;
  try {
    const lane = async (): Promise<void> => {
      while (next < PROCESSES) {
        const number = next;
        next += 1;
        const kind = kinds[number % kinds.length];
        if (kind === undefined) throw new Error('there are kinds');
        const signalAfter = Math.floor(number / kinds.length) % 2 === 1 ? random() * 1500 : null;
        all.push(await runOne(machine, kind, number, signalAfter));
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, lane));
  } finally {
    for (const burner of burners) burner.kill('SIGKILL');
  }
  const slowest = Math.max(...all.map(({ ms }) => ms));
  const signalled = all.filter(({ signal }) => signal).length;
  // Printed, because a failure that cannot be repeated is worth nothing.
  process.stdout.write(
    `exits: ${all.length} processes from seed ${SEED}, ${signalled} by SIGTERM, the slowest end took ${slowest.toFixed(0)} ms; limits times ${slowness.toFixed(1)}\n`,
  );
  expect(all.filter(({ ms, limitMs }) => ms > limitMs * slowness)).toEqual([]);
}, 3_600_000);

async function prepare(machine: Sandbox): Promise<readonly Kind[]> {
  const provider = await machine.provider(
    writeDocument(
      { target: 'long.txt', content: numbered('a line of the document with number', 1, 12_000) },
      { operation: 'overwrite', shape: { chunk: 4000 } },
    ),
  );
  const lines = numbered('another line with number', 1, 10_000);
  await machine.write('text.txt', lines);
  await machine.write('large.bin', Buffer.alloc(12 * 1024 * 1024, 0x61));
  const rewrite = {
    intent: 'much to compare',
    target_file: 'text.txt',
    operations: [{ type: 'overwrite', content_block: lines.replaceAll(/7$/gmu, 'seven') }],
  };
  const append = {
    intent: 'much to read',
    target_file: 'large.bin',
    operations: [{ type: 'append', content_block: 'one line\n' }],
  };
  await machine.write('rewrite.json', JSON.stringify(rewrite));
  await machine.write('append.json', JSON.stringify(append));
  return [
    {
      name: 'computes',
      args: ['apply-plan', 'rewrite.json', '--dry-run', '--json'],
      stopMs: STOP_MS,
    },
    { name: 'reads', args: ['apply-plan', 'append.json', '--json'], stopMs: COMMIT_MS },
    {
      name: 'prints',
      args: ['run', 'Write it.', '--show-content', '--json', ...at(provider)],
      stopMs: STOP_MS,
    },
    { name: 'says little', args: ['list-sessions'], stopMs: STOP_MS },
  ];
}

function runOne(
  machine: Sandbox,
  { name, args, stopMs }: Kind,
  number: number,
  signalAfter: number | null,
): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [...commandEntry(), ...args], {
      cwd: machine.workspace,
      env: {
        ...machine.environment,
        ORION_STATE_DIR: join(machine.root, `state-${number % AT_ONCE}`),
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let from = performance.now();
    let committed = false;
    let signalled = false;
    const printed = (chunk: Buffer): void => {
      committed ||= chunk.includes('session_active.finalizing');
      if (!signalled) from = performance.now();
    };
    child.stdout.on('data', printed);
    child.stderr.on('data', printed);
    const hung = setTimeout(() => child.kill('SIGKILL'), HUNG_MS);
    const timer =
      signalAfter === null
        ? undefined
        : setTimeout(() => {
            signalled = child.kill('SIGTERM');
            from = performance.now();
          }, signalAfter);
    child.on('error', reject);
    child.on('exit', (code, signal) => {
      clearTimeout(hung);
      clearTimeout(timer);
      const ms = performance.now() - from;
      const limitMs = signalled ? (committed ? COMMIT_MS : stopMs) : LATE_MS;
      resolve({
        number,
        kind: name,
        ms,
        limitMs,
        signal: signalled,
        ended: String(signal ?? code),
      });
    });
  });
}

/** What a start of Node takes here and now: the slowest of five. */
function startTime(): number {
  const times = Array.from({ length: 5 }, () => {
    const from = performance.now();
    spawnSync(process.execPath, ['-e', '0']);
    return performance.now() - from;
  });
  return Math.max(...times);
}

function burn(): ChildProcess {
  return spawn(process.execPath, ['-e', 'for (;;);'], { stdio: 'ignore' });
}

/** A small generator of numbers from a seed. */
function mulberry(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d_2b_79_f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

test('SIGTERM ends a process that hangs while the engine shuts down', async ({ machine }) => {
  // Stands for any hang there: from here on nothing of the command runs.
  const hook = join(machine.root, 'hang.mjs');
  await writeFile(hook, `process.on('exit', () => { process._rawDebug('hangs'); for (;;); });`);
  const running = machine.start(['list-sessions'], {
    env: { NODE_OPTIONS: `--import=${hook}` },
  });
  await running.waitForStderr('hangs');
  running.kill('SIGTERM');
  const ended = await running.finished;
  expect(ended.signal).toBe('SIGTERM');
});

test.for([
  ['| true', 0],
  ['> /dev/full', 1],
] as const)('--version ends without a trace of a stack: %s', async ([where, exitCode]) => {
  const words = [process.execPath, ...commandEntry(), '--version'].map((word) => `'${word}'`);
  const script = `${words.join(' ')} ${where}; exit "\${PIPESTATUS[0]}"`;
  const { status, stderr } = spawnSync('bash', ['-c', script], { encoding: 'utf8' });
  expect([status, stderr]).toEqual([exitCode, '']);
});

test('nothing sets a flag of the engine', async () => {
  const [entry = ''] = commandEntry().slice(-1);
  for (const name of await readdir(join(entry, '..'), { recursive: true })) {
    if (!/\.[jt]s$/u.test(name)) continue;
    const text = await readFile(join(entry, '..', name), 'utf8');
    expect(text.includes('setFlagsFromString'), name).toBe(false);
  }
});

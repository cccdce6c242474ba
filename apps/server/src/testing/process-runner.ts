/** Turns in processes of their own, which a test may kill. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

import { expect, onTestFinished } from 'vitest';

import type { QueueKind } from '../configuration.ts';

const script = fileURLToPath(new URL('./run-turns-in-a-process.ts', import.meta.url));

export type Place = {
  readonly workspace: string;
  readonly databaseUrl: string;
  readonly queue: QueueKind;
};

export type Runner = {
  readonly said: string[];
  readonly tell: (line: string) => void;
  /** When it has said a line that begins so, as often as that. */
  readonly until: (start: string, times?: number) => Promise<void>;
  readonly kill: (signal: NodeJS.Signals) => Promise<void>;
  readonly exit: Promise<unknown>;
};

/** `databaseUrl` is `-` for SQLite. */
export function run(
  { workspace, databaseUrl, queue }: Place,
  { pauseMs }: { readonly pauseMs: number },
): Runner {
  const args = [
    '--conditions=@orion/source',
    script,
    workspace,
    databaseUrl,
    queue,
    String(pauseMs),
  ];
  const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  const said: string[] = [];
  createInterface({ input: child.stdout }).on('line', (line) => said.push(line));
  const exit = once(child, 'exit');
  return {
    said,
    tell: (line) => void child.stdin.write(`${line}\n`),
    async until(start, times = 1) {
      await expect
        .poll(() => said.filter((line) => line.startsWith(start)).length, { timeout: 90_000 })
        .toBeGreaterThanOrEqual(times);
    },
    async kill(signal) {
      child.kill(signal);
      await exit;
    },
    exit,
  };
}

/** What its model says. */
export const TEXT = Array.from({ length: 20 }, (_, index) => `${index + 1}\n`).join('');

export const idsOf = (said: readonly string[], what: string): readonly string[] =>
  said.filter((line) => line.startsWith(`${what} `)).map((line) => line.slice(what.length + 1));

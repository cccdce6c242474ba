/** One change in a process of its own, and what it leaves. */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const OLD = 'old bytes\n';
export const NEW = 'new\n';
export const OPERATIONS = ['create', 'overwrite', 'append'] as const;
export type Operation = (typeof OPERATIONS)[number];

/** With one worker thread the calls of a commit come in the same order each time. */
const ENVIRONMENT = { ...process.env, UV_THREADPOOL_SIZE: '1' };

export type Ran = { readonly answer: string; readonly status: number | null };

export function changeArguments(
  root: string,
  operation: Operation | 'start',
  text: string = NEW,
  ...more: readonly string[]
): string[] {
  const script = fileURLToPath(new URL('./change-process.ts', import.meta.url));
  return ['--conditions=@orion/source', script, root, operation, text, ...more];
}

export function run(command: string, args: readonly string[]): Ran {
  const result = spawnSync(command, args, { encoding: 'utf8', env: ENVIRONMENT, timeout: 60_000 });
  const lines = (result.stdout ?? '').trimEnd().split('\n');
  return { answer: lines.at(-1) ?? '', status: result.status };
}

export function targetIn(root: string): string | null {
  const path = join(root, 'a.txt');
  return existsSync(path) ? readFileSync(path, 'utf8') : null;
}

export function skip(what: string): readonly string[] {
  process.stdout.write(`SKIPPED: ${what}\n`);
  return [];
}

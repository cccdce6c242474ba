/** One change in a process of its own, and what it leaves. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const OLD = 'old bytes\n';
export const NEW = 'new\n';
export const OPERATIONS = ['create', 'overwrite', 'append'] as const;
export type Operation = (typeof OPERATIONS)[number];

const AFTER: Readonly<Record<Operation, string>> = {
  create: NEW,
  overwrite: NEW,
  append: OLD + NEW,
};

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

export function makeRoot(folder: string, name: string, operation: Operation): string {
  const root = join(folder, name);
  mkdirSync(root);
  if (operation !== 'create') writeFileSync(join(root, 'a.txt'), OLD);
  return root;
}

/** What is wrong with the workspace after a fault, and whether the same change then succeeds. */
export function check(
  what: string,
  root: string,
  operation: Operation,
  ran: Ran,
): readonly string[] {
  const failures: string[] = [];
  const before = operation === 'create' ? null : OLD;
  const found = targetIn(root);
  const reported = ran.answer.includes('"sha256"');
  if (found !== before && found !== AFTER[operation]) failures.push(`${what}: a torn target`);
  if (reported && found !== AFTER[operation])
    failures.push(`${what}: success reported, but not written`);
  if (!reported && !ran.answer.includes('"code"')) failures.push(`${what}: ${ran.answer}`);
  // Whatever a process leaves, the next one removes when it starts.
  if (temporariesIn(root).length > 0) run(process.execPath, changeArguments(root, 'start'));
  const left = temporariesIn(root);
  if (left.length > 0) failures.push(`${what}: left ${left.join(', ')}`);
  if (found === before && !reported) {
    const again = run(process.execPath, changeArguments(root, operation));
    if (targetIn(root) !== AFTER[operation]) failures.push(`${what}: retry: ${again.answer}`);
  }
  return failures;
}

function temporariesIn(root: string): readonly string[] {
  return readdirSync(root).filter((name) => name.endsWith('.tmp'));
}

export function skip(what: string): readonly string[] {
  process.stdout.write(`SKIPPED: ${what}\n`);
  return [];
}

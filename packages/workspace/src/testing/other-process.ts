import { spawn } from 'node:child_process';
import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';

export type Answer = { readonly [key: string]: unknown };

export type OtherProcess = {
  readonly pid: number;
  readonly send: (command: Answer) => Promise<Answer>;
  readonly signal: (name: NodeJS.Signals) => void;
  /** SIGKILL, and waits until the process is gone. */
  readonly kill: () => Promise<void>;
};

export function ownerProcessArguments(settings: Answer): readonly string[] {
  const script = fileURLToPath(new URL('./owner-process.ts', import.meta.url));
  return ['--conditions=@orion/source', script, JSON.stringify(settings)];
}

export async function startProcess(settings: {
  readonly root: string;
  readonly hostname?: string;
}): Promise<OtherProcess> {
  const child: ChildProcessWithoutNullStreams = spawn(
    process.execPath,
    ownerProcessArguments(settings),
  );
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const waiting: ((answer: Answer) => void)[] = [];
  const ready = new Promise<Answer>((resolve) => waiting.push(resolve));
  let complaints = '';
  child.stderr.on('data', (chunk: Buffer) => (complaints += chunk.toString()));
  createInterface({ input: child.stdout }).on('line', (line) => {
    waiting.shift()?.(Object.fromEntries(Object.entries(JSON.parse(line) as object)));
  });
  void ended.then(() => {
    for (const resolve of waiting.splice(0)) resolve({ error: 'EXITED', complaints });
  });
  const kill = async (): Promise<void> => {
    child.kill('SIGKILL');
    await ended;
  };
  onTestFinished(kill);
  const first = await ready;
  if (first['ready'] !== true) throw new Error(`the process did not start: ${complaints}`);
  return {
    pid: child.pid ?? 0,
    send: (command) =>
      new Promise((resolve) => {
        waiting.push(resolve);
        child.stdin.write(`${JSON.stringify(command)}\n`);
      }),
    signal: (name) => child.kill(name),
    kill,
  };
}

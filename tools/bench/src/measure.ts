import { spawn } from 'node:child_process';
import { readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export type Measured = {
  readonly wallMs: number;
  /** User and system. */
  readonly cpuMs: number;
  readonly peakMiB: number;
  readonly stdout: string;
};

const USAGE = fileURLToPath(new URL('./programs/usage.cjs', import.meta.url));

export type Program = { readonly args: readonly string[]; readonly folder: string };

/** Runs a Node program to its end without anybody's settings, and reports what it used. */
export async function measure({ args, folder }: Program): Promise<Measured> {
  const usageFile = join(folder, 'usage.json');
  const { wallMs, stdout } = await run(['--require', USAGE, ...args], folder, {
    ORION_BENCH_USAGE: usageFile,
  });
  const usage = JSON.parse(await readFile(usageFile, 'utf8')) as {
    readonly cpuMs: number;
    readonly peakKiB: number;
  };
  await rm(usageFile);
  return { wallMs, stdout, cpuMs: usage.cpuMs, peakMiB: usage.peakKiB / 1024 };
}

/** Runs a Node program to its end, for what it prints. */
export function runProgram({
  args,
  folder,
}: Program): Promise<Pick<Measured, 'wallMs' | 'stdout'>> {
  return run(args, folder, {});
}

/** Only the time, without anything loaded into the process. */
export async function measureTime({ args, folder }: Program): Promise<number> {
  return (await run(args, folder, {})).wallMs;
}

async function run(
  args: readonly string[],
  folder: string,
  environment: Readonly<Record<string, string>>,
): Promise<{ readonly wallMs: number; readonly stdout: string }> {
  const began = performance.now();
  const child = spawn(process.execPath, args, {
    cwd: folder,
    env: {
      PATH: process.env['PATH'],
      TMPDIR: process.env['TMPDIR'],
      HOME: folder,
      XDG_CONFIG_HOME: folder,
      // As in a home; this one lies in the temporary folder, where nothing that is compiled is kept.
      NODE_COMPILE_CACHE: join(tmpdir(), 'orion-bench-compiled'),
      ...environment,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  let wallMs = 0;
  child.on('exit', () => {
    wallMs = performance.now() - began;
  });
  const exitCode = await new Promise<number | null>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', resolve);
  });
  if (exitCode !== 0) throw new Error(`${args.join(' ')} ended with ${exitCode}: ${stderr}`);
  return { wallMs, stdout };
}

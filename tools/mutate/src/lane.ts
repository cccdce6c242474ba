import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import type { Isolation } from './isolation.ts';
import type { LaneAnswer, LaneRequest } from './lane-process.ts';

const PROCESS = fileURLToPath(new URL('lane-process.ts', import.meta.url));

/** `over time`: a test file went on for longer than its limit, which nothing but ending the process can stop. */
export type Noticed = { readonly failure: string | null } | 'over time';

/** A process that runs tests, and is replaced by another one when it has to be ended. */
export class Lane {
  readonly #root: string;
  readonly #isolation: Isolation | null;
  #process: ChildProcess | null = null;
  #folder: string | null = null;

  constructor(root: string, isolation: Isolation | null) {
    this.#root = root;
    this.#isolation = isolation;
  }

  /** `limitsMs`: how long each of the test files may take. */
  async run(request: LaneRequest, limitsMs: readonly number[]): Promise<Noticed> {
    const child = this.#process ?? (await this.#start());
    const answered = Promise.withResolvers<Noticed>();
    let filesEnded = 0;
    const limited = (): NodeJS.Timeout =>
      setTimeout(() => answered.resolve('over time'), limitsMs[filesEnded] ?? limitsMs.at(-1));
    let timer = limited();
    const ended = (): void =>
      answered.resolve({ failure: 'the process of the tests came to an end' });
    const message = (answer: LaneAnswer): void => {
      if (answer === 'file ended') {
        filesEnded += 1;
        clearTimeout(timer);
        timer = limited();
      } else if (answer !== 'ready') {
        answered.resolve(answer);
      }
    };
    child.on('message', message).once('exit', ended);
    child.send(request);
    try {
      const noticed = await answered.promise;
      if (noticed === 'over time') await this.end();
      return noticed;
    } finally {
      clearTimeout(timer);
      child.off('message', message).off('exit', ended);
      if (child.exitCode !== null) await this.end();
    }
  }

  /** With everything that its tests have started. */
  async end(): Promise<void> {
    const child = this.#process;
    this.#process = null;
    if (child?.pid !== undefined && child.exitCode === null && child.signalCode === null) {
      const exited = once(child, 'exit');
      // Its group: a test that loops for ever does so in a process below.
      process.kill(-child.pid, 'SIGKILL');
      await exited;
    }
    if (this.#folder !== null) {
      await rm(this.#folder, { recursive: true, force: true, maxRetries: 5 });
    }
    this.#folder = null;
  }

  async #start(): Promise<ChildProcess> {
    this.#folder = await mkdtemp(join(tmpdir(), 'orion-mutate-lane-'));
    // Postgres does not run as root, and has to find its files in there.
    await chmod(this.#folder, 0o755);
    const child = fork(PROCESS, [this.#root], {
      detached: true,
      env: { ...process.env, TMPDIR: this.#folder },
      ...(this.#isolation ?? { execArgv: process.execArgv }),
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    });
    this.#process = child;
    // The output of broken programs does not matter; what keeps this process from starting does.
    let said = '';
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      said = `${said}${text}`.slice(-4_000);
    });
    const [first] = await Promise.race([once(child, 'message'), once(child, 'exit')]);
    if (first !== 'ready') throw new Error(`The process of the tests did not start\n${said}`);
    return child;
  }
}

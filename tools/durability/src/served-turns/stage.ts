/** A workspace with a provider, and the servers that serve it one after the other. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { request } from 'node:http';
import type { IncomingHttpHeaders } from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { startScriptedProvider } from '@orion/llm-adapters/scripted';

import { collect } from '../processes.ts';
import type { ServerAddress } from './reader.ts';
import { ALLOWED_COMMAND } from './stories.ts';
import type { Story } from './stories.ts';

const MAIN = fileURLToPath(new URL('../../../../apps/cli/dist/main.js', import.meta.url));
const TOKEN = 'a-token-of-the-campaign-0123456789';
const START_MS = 30_000;

export type Stage = {
  readonly workspace: string;
  /** The requests that the provider has answered so far. */
  readonly requests: () => number;
  /** `preload` is imported by the server before anything else, with what it needs in the environment. */
  serve(preload?: Preload, options?: readonly string[]): Promise<Served>;
  /** Ends what was started and removes it. */
  strike(): Promise<void>;
};

export type Preload = { readonly module: URL; readonly environment: Record<string, string> };

export type Served = ServerAddress & {
  readonly pid: number;
  /** Resolves with the log when the process has ended, however it ends. */
  readonly ended: Promise<string>;
  signal(signal: NodeJS.Signals): void;
  ask(method: 'GET' | 'POST', path: string, body?: unknown, key?: string): Promise<Answer>;
};

export type Answer = {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: unknown;
};

type Environment = Readonly<Record<string, string>>;

export async function makeStage(
  { before, script }: Pick<Story, 'before' | 'script'>,
  databaseUrl: string | null,
  more: Environment | ((server: number, root: string) => Environment) = {},
): Promise<Stage> {
  const root = await mkdtemp(join(tmpdir(), 'orion-served-'));
  const workspace = join(root, 'workspace');
  await mkdir(workspace);
  for (const [path, text] of Object.entries(before)) {
    await mkdir(dirname(join(workspace, path)), { recursive: true });
    await writeFile(join(workspace, path), text);
  }
  let requests = 0;
  const provider = await startScriptedProvider(script, {
    keepsRequests: false,
    // Counts them, and leaves the answers to the script.
    model: () => void (requests += 1),
  });
  const environment = {
    PATH: process.env['PATH'],
    HOME: root,
    XDG_CONFIG_HOME: root,
    NODE_COMPILE_CACHE: join(tmpdir(), 'orion-served-compiled'),
    ORION_SERVER_TOKEN: TOKEN,
    ORION_LOG_LEVEL: 'warn',
    ORION_DRAIN_SECONDS: '0',
    WRITE_SESSION_IDLE_MS: '50',
    ...(databaseUrl === null ? {} : { DATABASE_URL: databaseUrl, ORION_QUEUE: 'in-process' }),
  };
  const servers: ChildProcess[] = [];

  return {
    workspace,
    requests: () => requests,
    async serve(preload, options = []) {
      const args = ['serve', '--port', '0', '--base-url', provider.url, '--model', 'scripted'];
      const child = spawn(
        process.execPath,
        [
          ...(preload === undefined ? [] : ['--import', preload.module.href]),
          MAIN,
          ...args,
          '--allow-command',
          ALLOWED_COMMAND,
          ...options,
        ],
        {
          cwd: workspace,
          env: {
            ...environment,
            ...(typeof more === 'function' ? more(servers.length, root) : more),
            ...preload?.environment,
          },
          stdio: ['ignore', 'pipe', 'pipe'],
        },
      );
      servers.push(child);
      const output = collect(child.stdout, child.stderr);
      const ended = once(child, 'close').then(output);
      const url = await urlOf(child, output);
      return {
        url,
        token: TOKEN,
        pid: child.pid ?? 0,
        ended,
        signal: (signal) => child.kill(signal),
        ask: (method, path, body, key) => ask({ url, token: TOKEN }, method, path, body, key),
      };
    },
    async strike() {
      for (const child of servers) {
        if (child.exitCode !== null || child.signalCode !== null) continue;
        child.kill('SIGKILL');
        await once(child, 'exit');
      }
      await provider.close();
      await rm(root, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
    },
  };
}

function urlOf(child: ChildProcess, output: () => string): Promise<string> {
  return new Promise((resolve, reject) => {
    const fail = (): void => {
      clearTimeout(timer);
      reject(new Error(`the server did not start: ${output()}`));
    };
    const timer = setTimeout(fail, START_MS);
    child.once('exit', fail);
    child.stdout?.on('data', () => {
      const [url] = /^http:\/\/\S+$/mu.exec(output()) ?? [];
      if (url === undefined) return;
      clearTimeout(timer);
      child.off('exit', fail);
      resolve(url);
    });
  });
}

function ask(
  { url, token }: ServerAddress,
  method: string,
  path: string,
  body?: unknown,
  key?: string,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = body === undefined ? '' : JSON.stringify(body);
    const asked = request(
      `${url}${path}`,
      {
        method,
        agent: false,
        headers: {
          authorization: `Bearer ${token}`,
          accept: 'application/json',
          ...(method === 'GET'
            ? {}
            : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(sent) }),
          ...(key === undefined ? {} : { 'idempotency-key': key }),
        },
      },
      (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (piece: string) => (text += piece));
        response.once('error', reject);
        response.once('end', () => {
          const parsed = text === '' ? null : (JSON.parse(text) as unknown);
          const { statusCode: status = 0, headers } = response;
          resolve({ status, headers, body: parsed });
        });
      },
    );
    asked.once('error', reject);
    asked.end(sent);
  });
}

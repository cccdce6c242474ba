import { spawn } from 'node:child_process';
import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';

import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client';
import { isFields, MAX_JSON_DEPTH, nestsDeeper, sleep } from '@orion/contracts';
import type { Clock } from '@orion/contracts';

import { guardGroup } from '../command/group-guard.ts';
import { endProcesses } from '../command/process-group.ts';
import { ServerBroke, ServerExited } from './server.ts';
import type { McpLimits, StdioServer } from './server.ts';

/** How long a server may take to end by itself when its standard input is closed. */
const LEAVE_MS = 500;
/** What an ended server has written arrives within this time. */
const DRAIN_MS = 200;
const KEPT_STDERR = 8 * 1024;
const LINE_FEED = 0x0a;
/** In what cannot be read; not in a message that is quoted there. */
const NAMES_VERSION = /"jsonrpc"\s*:/u;

/** The variable by which a process is known that has left the group of its server. */
const MARK = 'ORION_MCP_SERVER';

/** The groups of servers that run, ended with this process at the latest. */
const groups = new Set<number>();
let isWatching = false;

export type StdioTransportOptions = {
  readonly server: StdioServer;
  /** All that the server sees but its own variables. */
  readonly environment: Readonly<Record<string, string>>;
  /** Distinguishes the processes of this server from all others of this user. */
  readonly id: string;
  readonly limits: McpLimits;
  readonly clock: Clock;
  /** What the server writes to its standard error, in whole lines unless they are very long. */
  readonly onStderr?: ((server: string, text: string) => void) | undefined;
};

/**
 * A connection to a server over its standard input and output.
 *
 * 1. The server leads a session and process group of its own. When `close` settles, no process of the group is alive;
 *    nor, on Linux, one that has left the group and kept its environment. The same holds soon after this process has been
 *    killed.
 * 2. A message that is too long, a line that calls itself a message and is none, and too many messages end the connection.
 *    Other lines, which many servers log there, as JSON or not, are skipped, but they count.
 */
export class StdioTransport implements Transport {
  onclose?: (() => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
  onmessage?: ((message: JSONRPCMessage) => void) | undefined;
  /** By this field and the next the SDK knows standard streams, where it takes silence for a server of the old kind. */
  readonly pid: null = null;
  /** The end of what the server wrote to its standard error. */
  stderr = '';
  /** Why the connection ended, if it did so by itself. */
  broken: ServerBroke | null = null;
  readonly #options: StdioTransportOptions;
  #child: ChildProcessWithoutNullStreams | null = null;
  #guard: ReturnType<typeof guardGroup> | null = null;
  #closing: Promise<void> | null = null;
  #parts: Buffer[] = [];
  #held = 0;
  #messages = 0;
  #unreported = '';

  constructor(options: StdioTransportOptions) {
    this.#options = options;
  }

  async start(): Promise<void> {
    const { server, environment, id } = this.#options;
    const child = spawn(server.command, server.args, {
      cwd: server.folder,
      env: { ...environment, ...server.environment, [MARK]: id },
      stdio: 'pipe',
      detached: true,
    });
    try {
      // Without a free descriptor it has no streams.
      await once(child, 'spawn');
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      throw new ServerBroke(`its command cannot be started (${code ?? 'unknown reason'})`);
    }
    for (const stream of [child.stdin, child.stdout, child.stderr]) {
      stream.on('error', () => undefined);
    }
    this.#child = child;
    if (child.pid !== undefined) {
      endWithProcess(child.pid);
      this.#guard = guardGroup(child.pid, `${MARK}=${id}`, environment['PATH']);
    }
    child.stdout.on('data', (chunk: Buffer) => this.#receive(chunk));
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.stderr = (this.stderr + text).slice(-KEPT_STDERR);
      this.#report(text);
    });
    child.once('exit', (code, signal) => void this.#ended(child, code, signal));
  }

  /** Begins to count messages anew. */
  beginCall(): void {
    this.#messages = 0;
  }

  send(message: JSONRPCMessage): Promise<void> {
    const stdin = this.#child?.stdin;
    if (stdin === undefined || this.#closing !== null) {
      return Promise.reject(this.broken ?? new ServerBroke('it is not running'));
    }
    return new Promise((resolve) => {
      // A server that is gone is reported by its end.
      stdin.write(`${JSON.stringify(message)}\n`, () => resolve());
    });
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  /** Line by line: half a key would not be found in what is kept. */
  #report(text: string): void {
    this.#unreported += text;
    const line = this.#unreported.lastIndexOf('\n') + 1;
    const isLong = this.#unreported.length - line > KEPT_STDERR;
    const end = isLong ? this.#unreported.length : line;
    if (end > 0)
      this.#options.onStderr?.(this.#options.server.name, this.#unreported.slice(0, end));
    this.#unreported = this.#unreported.slice(end);
  }

  #receive(chunk: Buffer): void {
    let rest = chunk;
    while (this.#closing === null) {
      const end = rest.indexOf(LINE_FEED);
      const part = end === -1 ? rest : rest.subarray(0, end);
      this.#held += part.length;
      if (this.#held > this.#options.limits.messageBytes) {
        this.#break(`it sent a message of more than ${this.#options.limits.messageBytes} bytes`);
        return;
      }
      this.#parts.push(part);
      if (end === -1) return;
      const line = Buffer.concat(this.#parts).toString('utf8');
      this.#parts = [];
      this.#held = 0;
      rest = rest.subarray(end + 1);
      this.#read(line);
    }
  }

  #read(line: string): void {
    const { messages } = this.#options.limits;
    this.#messages += 1;
    if (this.#messages > messages) {
      this.#break(`it sent more than ${messages} messages in one call`);
      return;
    }
    if (!line.startsWith('{')) return;
    let message: unknown = null;
    try {
      if (!nestsDeeper(line, MAX_JSON_DEPTH)) message = JSON.parse(line);
    } catch {
      // As what is no message.
    }
    const version = isFields(message) ? message['jsonrpc'] : NAMES_VERSION.exec(line)?.[0];
    if (version === undefined) return;
    if (version !== '2.0') {
      this.#break('it sent a line that is not a JSON-RPC message');
      return;
    }
    this.onmessage?.(message as JSONRPCMessage);
  }

  #break(why: string): void {
    this.broken ??= new ServerBroke(why);
    this.onerror?.(this.broken);
    void this.close();
  }

  async #ended(
    child: ChildProcessWithoutNullStreams,
    code: number | null,
    signal: NodeJS.Signals | null,
  ): Promise<void> {
    // What it leaves running may hold the pipe open.
    if (!child.stdout.readableEnded) {
      const drained = new AbortController();
      child.stdout.once('end', () => drained.abort());
      await sleep(this.#options.clock, DRAIN_MS, drained.signal);
    }
    this.broken ??= new ServerExited(
      signal === null ? `it ended with exit code ${code}` : `it was ended by ${signal}`,
    );
    await this.close();
  }

  async #close(): Promise<void> {
    const child = this.#child;
    // Whoever waits for an answer need not wait for the end of the processes.
    this.onclose?.();
    if (child === null) return;
    const { clock, id } = this.#options;
    const ended = new AbortController();
    child.once('exit', () => ended.abort());
    child.stdin.end();
    if (child.exitCode === null && child.signalCode === null) {
      if (this.broken === null) await sleep(clock, LEAVE_MS, ended.signal);
    }
    if (child.pid !== undefined) {
      await endProcesses(child.pid, `${MARK}=${id}`, clock);
      groups.delete(child.pid);
      this.#guard?.release();
    }
    for (const stream of [child.stdin, child.stdout, child.stderr]) stream.destroy();
    if (this.#unreported !== '') this.#report('\n');
  }
}

/** No end of this process, however sudden, that it can still act on leaves a server behind. */
function endWithProcess(group: number): void {
  groups.add(group);
  if (isWatching) return;
  isWatching = true;
  process.on('exit', () => {
    for (const each of groups) {
      try {
        process.kill(-each, 'SIGKILL');
      } catch {
        // It has ended already.
      }
    }
  });
}

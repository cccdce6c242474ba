import { pathToFileURL } from 'node:url';

import type {
  CallToolResult,
  Client,
  Progress,
  ReadResourceResult,
  Transport,
} from '@modelcontextprotocol/client';
import { defined, limitedSignal } from '@orion/contracts';
import type { Clock, JsonObject, Redact, ToolExecutionContext } from '@orion/contracts';

import { httpLine } from './http-line.ts';
import { ServerBroke, ServerExited } from './server.ts';
import type { McpLimits, McpServer, StdioServer } from './server.ts';
import { StdioTransport } from './stdio-transport.ts';
import { readPages, toolPageSchema } from './tool-list.ts';
import type { ServerTool } from './tool-list.ts';
import { hasRefusedRevision, lastWords, troubleOf } from './trouble.ts';

/** A program of the old kind may be silent when it is asked for the new one, and still has to start then. */
const PROBE_SHARE = 3;
const LAST_WORDS = 300;
/** The status of a session that a server no longer knows. */
const NOT_FOUND = 404;
/** Some servers give it in place of that. */
const BAD_REQUEST = 400;

export type ConnectionOptions = {
  /** All that a program sees but its own variables. */
  readonly environment: Readonly<Record<string, string>>;
  /** The only folder that a program is told of when it asks where it may work; it is told of none when left out. */
  readonly root?: string;
  readonly createId: () => string;
  readonly limits: McpLimits;
  readonly clock: Clock;
  /** Takes the keys that servers were given out of what they answer. */
  readonly redact: Redact;
  /** What a program writes to its standard error, in whole lines unless they are very long. */
  readonly onStderr?: (server: string, text: string) => void;
};

/** What a connection over either transport adds to the SDK's client. */
type Line = {
  readonly client: Client;
  readonly transport: Transport;
  /** Begins to count messages anew. */
  readonly beginCall: () => void;
  readonly broken: () => ServerBroke | null;
  readonly stderr: () => string;
  /** Tells the server that nobody comes back. Never rejects, and takes no longer than a second. */
  readonly leave: () => Promise<void>;
};

/** A server that has answered. Its methods reject with `ServerBroke` once it has broken a limit or ended. */
export class Connection {
  readonly #line: Line;
  readonly #limits: McpLimits;
  readonly #clock: Clock;
  readonly #redact: Redact;
  #stopped: ServerBroke | null = null;
  /** Calls of tools that run, of all turns. */
  #calls = 0;
  /** Whether a call was cancelled since the server last answered: it may still be at work on it. */
  #isCancelled = false;

  constructor(line: Line, { limits, clock, redact }: ConnectionOptions) {
    this.#line = line;
    this.#limits = limits;
    this.#clock = clock;
    this.#redact = redact;
  }

  /** Why it can no longer be asked; null while it can. */
  get broken(): ServerBroke | null {
    return this.#stopped ?? this.#line.broken();
  }

  /** The revision of the protocol that both speak. */
  get revision(): string {
    return this.#line.client.getNegotiatedProtocolVersion() ?? 'unknown';
  }

  /** How to ask it the next time. */
  get era(): Era {
    return this.#line.client.getProtocolEra() === 'legacy' ? 'legacy' : 'auto';
  }

  get hasResources(): boolean {
    return this.#line.client.getServerCapabilities()?.resources !== undefined;
  }

  /** What it lists, each entry as it is. */
  async listTools(signal: AbortSignal): Promise<readonly unknown[]> {
    // Whoever has none may not know the question.
    if (this.#line.client.getServerCapabilities()?.tools === undefined) return [];
    const { startMs, tools: most } = this.#limits;
    // For all pages together.
    const limited = limitedSignal(signal, this.#clock, startMs);
    try {
      // The signal ends it before.
      const options = { signal: limited.signal, timeout: 2 * startMs };
      return await readPages(
        (request) =>
          this.#ask(limited.signal, () =>
            this.#line.client.request(request, toolPageSchema, options),
          ),
        most,
      );
    } catch (error) {
      if (error instanceof ServerBroke) throw await this.#stop(error);
      // There is nothing in this question that could be wrong but its session.
      if (error instanceof Error && hasStatus(error.cause ?? error, BAD_REQUEST)) {
        throw await this.#stop(new ServerBroke(error.message));
      }
      if (!limited.signal.aborted || signal.aborted) throw error;
      const late = `it did not list its tools within ${startMs / 1_000} s`;
      if (this.#calls > 0 || this.#isCancelled) {
        // Once: it may as well hang.
        this.#isCancelled = false;
        throw new Error(`${late}: it is busy with a call`, { cause: error });
      }
      throw await this.#stop(new ServerBroke(late));
    } finally {
      limited.end();
    }
  }

  /** Rejects with an error whose cause is the SDK's, if the server was asked. */
  async callTool(
    tool: ServerTool,
    args: JsonObject,
    { signal, onProgress }: Pick<ToolExecutionContext, 'signal' | 'onProgress'>,
  ): Promise<CallToolResult> {
    const { name } = tool;
    const params = { name, arguments: args };
    const onprogress = ({ progress: done, total, message = '' }: Progress): void =>
      onProgress?.({ message: this.#redact(message), done, ...defined({ total }) });
    // It says which arguments are repeated in headers.
    const options = { ...this.#callOptions(signal), onprogress, toolDefinition: tool };
    this.#calls += 1;
    try {
      return await this.#ask(signal, () => this.#line.client.callTool(params, options));
    } catch (error) {
      this.#isCancelled ||= signal.aborted;
      throw error;
    } finally {
      this.#calls -= 1;
    }
  }

  async listResources(
    signal: AbortSignal,
  ): Promise<readonly { readonly uri: string; readonly name: string }[]> {
    const options = { ...this.#callOptions(signal), cacheMode: 'refresh' as const };
    const { resources } = await this.#ask(signal, () =>
      this.#line.client.listResources(undefined, options),
    );
    return resources;
  }

  async readResource(uri: string, signal: AbortSignal): Promise<ReadResourceResult> {
    const options = { ...this.#callOptions(signal), cacheMode: 'refresh' as const };
    return this.#ask(signal, () => this.#line.client.readResource({ uri }, options));
  }

  /** Settles when nothing of the server is left, even if it had ended before; the client has let go of it then. */
  async close(): Promise<void> {
    if (this.broken === null) await this.#line.leave();
    await this.#line.transport.close();
  }

  #callOptions(signal: AbortSignal) {
    const { idleMs: timeout, callMs: maxTotalTimeout } = this.#limits;
    // Without a listener no progress is asked for, and none would count.
    const onprogress = (): void => undefined;
    return { signal, timeout, maxTotalTimeout, resetTimeoutOnProgress: true, onprogress };
  }

  async #ask<Answer>(signal: AbortSignal, request: () => Promise<Answer>): Promise<Answer> {
    const former = this.broken;
    if (former !== null) throw former;
    this.#line.beginCall();
    let answer: Answer;
    try {
      answer = await request();
    } catch (error) {
      // The SDK gives both the same code.
      if (signal.aborted) throw new Error('the call was cancelled', { cause: error });
      if (isTimeout(error)) throw await this.#stop(new ServerBroke(timeoutText(this.#limits)));
      const { broken } = this;
      if (broken !== null) throw broken;
      const why = troubleOf(error, this.#redact);
      // The next turn begins another session.
      if (hasStatus(error, NOT_FOUND)) {
        throw await this.#stop(new ServerBroke(why, { cause: error }));
      }
      throw new Error(why, { cause: error });
    }
    this.#isCancelled = false;
    const text = JSON.stringify(answer);
    const { resultBytes } = this.#limits;
    if (Buffer.byteLength(text) > resultBytes) {
      throw await this.#stop(new ServerBroke(`it answered with more than ${resultBytes} bytes`));
    }
    // A server may answer with its own key.
    const clean = this.#redact(text);
    return clean === text ? answer : (JSON.parse(clean) as Answer);
  }

  /** A server that breaks a limit is not asked again. */
  async #stop(why: ServerBroke): Promise<ServerBroke> {
    this.#stopped = why;
    await this.close();
    return why;
  }
}

function isTimeout(error: unknown): boolean {
  return (error as { readonly code?: unknown }).code === 'REQUEST_TIMEOUT';
}

function hasStatus(error: unknown, status: number): boolean {
  return (error as { readonly status?: unknown }).status === status;
}

function timeoutText({ idleMs, callMs }: McpLimits): string {
  return `it did not answer: ${idleMs / 1_000} s passed without progress, or ${callMs / 1_000} s in all`;
}

/** Whether a server is asked for the new revision of the protocol first. */
export type Era = 'auto' | 'legacy';

/**
 * Starts or reaches a server and agrees with it on a revision of the protocol, new or old. Rejects with `ServerBroke`,
 * and nothing of it is left then.
 */
export async function connect(
  server: McpServer,
  options: ConnectionOptions,
  signal: AbortSignal,
  era: Era,
): Promise<Connection> {
  try {
    return new Connection(await open(server, options, era, signal), options);
  } catch (error) {
    if (era === 'legacy' || !mayBeOld(error)) throw error;
    return new Connection(await open(server, options, 'legacy', signal), options);
  }
}

/** A server of the old kind may end when it is asked for the new one, or fail; another one has the same trouble again. */
function mayBeOld(error: unknown): boolean {
  const { cause } = error as Error;
  return cause instanceof ServerExited || hasRefusedRevision(cause ?? error);
}

async function open(
  server: McpServer,
  options: ConnectionOptions,
  mode: Era,
  signal: AbortSignal,
): Promise<Line> {
  const sdk = await import('@modelcontextprotocol/client');
  const { limits, redact, root } = options;
  const hasRoot = server.kind === 'stdio' && root !== undefined;
  const client = new sdk.Client(
    { name: 'orion', version: '0.1.0' },
    {
      capabilities: hasRoot ? { roots: {} } : {},
      versionNegotiation: {
        mode,
        probe: { timeoutMs: limits.startMs / (server.kind === 'stdio' ? PROBE_SHARE : 1) },
      },
      // A server's schemas of results are its own claim about itself, and compiling them runs its expressions.
      jsonSchemaValidator: {
        getValidator: () => (data) => ({
          valid: true,
          data: data as never,
          errorMessage: undefined,
        }),
      },
    },
  );
  if (hasRoot) {
    const uri = pathToFileURL(root).href;
    client.setRequestHandler('roots/list', () => ({ roots: [{ uri }] }));
  }
  const { transport, ...rest } =
    server.kind === 'stdio' ? stdioLine(server, options) : httpLine(server, options, sdk);
  const timeout = new AbortController();
  const cancel = options.clock.schedule(limits.startMs, () => timeout.abort());
  const ended = AbortSignal.any([signal, timeout.signal]);
  const onEnd = (): void => void transport.close();
  ended.addEventListener('abort', onEnd);
  try {
    await client.connect(transport, { signal: ended, timeout: limits.startMs });
    return { client, transport, ...rest };
  } catch (error) {
    await transport.close();
    if (signal.aborted) throw new ServerBroke('its start was cancelled');
    if (timeout.signal.aborted || isTimeout(error)) {
      throw new ServerBroke(`it did not answer within ${limits.startMs / 1_000} s`);
    }
    const broken = rest.broken();
    const said = lastWords(rest.stderr(), redact, LAST_WORDS);
    const why = `${broken?.message ?? troubleOf(error, redact)}${said === '' ? '' : `; its last words: ${said}`}`;
    throw new ServerBroke(why, { cause: broken ?? error });
  } finally {
    cancel();
    ended.removeEventListener('abort', onEnd);
  }
}

function stdioLine(
  server: StdioServer,
  { environment, createId, limits, clock, onStderr }: ConnectionOptions,
) {
  const transport = new StdioTransport({
    server,
    environment,
    id: createId(),
    limits,
    clock,
    onStderr,
  });
  return {
    transport,
    beginCall: () => transport.beginCall(),
    broken: () => transport.broken,
    stderr: () => transport.stderr,
    // The end of its standard input says so.
    leave: () => Promise.resolve(),
  };
}

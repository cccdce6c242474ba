import { isIP } from 'node:net';

import type { Orion } from '@orion/agent';
import { OrionError } from '@orion/contracts';
import type { Clock } from '@orion/contracts';

import { isProxyAddress } from './front-door/forwarded.ts';
import { DEFAULT_LIMITS } from './limits.ts';
import type { ServerLimits } from './limits.ts';
import { projectLimitProblems } from './project-limits.ts';
import type { LimitsByProject } from './project-limits.ts';

export type ServerOptions = ListenOptions & {
  /**
   * What it serves, and whose store and state directory are the server's. Whoever made it closes it, after the server
   * has stopped.
   */
  readonly orion: Orion;
  /**
   * Serves several workspaces, by the names that requests use; `orion` is one of them, and all of them have its store.
   * Left out: every name is a label for `orion`.
   */
  readonly projects?: Readonly<Record<string, Orion>>;
};

/** How it can be reached, and what it takes. */
export type ListenOptions = {
  /** The address to listen on; `127.0.0.1` when left out. Any other than loopback needs a token. */
  readonly host?: string;
  /** 4310 when left out; 0 takes a free one. */
  readonly port?: number;
  /** Left out: the token that the state directory keeps, made when there is none. */
  readonly token?: string;
  /** Further names, `name` or `name:port`, that clients may use in the header Host. */
  readonly allowHosts?: readonly string[];
  /**
   * Proxies in front of the server, as addresses or networks (`10.0.0.0/8`): only these are believed when they send
   * `X-Forwarded-For` and `X-Forwarded-Host`. None when left out.
   */
  readonly trustProxies?: readonly string[];
  /** The path below which a proxy offers the server, such as `/orion`, whether it passes it on or not. */
  readonly basePath?: string;
  /**
   * Who decides which turn runs next: `pg-boss`, where several servers share the turns of one Postgres, or `in-process`,
   * where this server alone runs them. `pg-boss` when left out and the store is in Postgres.
   */
  readonly queue?: QueueKind;
  readonly limits?: Partial<ServerLimits>;
  /** What a project may have in all processes together, by its name; `*` is each that is not named. */
  readonly projectLimits?: LimitsByProject;
  /** The process that is announced as the server, and is to be stopped; this one when left out. */
  readonly pid?: number;
  /** What the label `process` of log and metrics says; `orion-<pid>` when left out. */
  readonly processName?: string;
  /** The least that the log has: requests are `info`, and `warn` if the server failed; `info` when left out. */
  readonly logLevel?: 'error' | 'warn' | 'info' | 'debug';
  /** Takes the lines of the log; standard error when left out. */
  readonly log?: LogSink;
  /** What limits are measured by. */
  readonly clock?: Clock;
};

/** `in-process`: this process alone runs turns. `pg-boss`: any number of them, on one Postgres. */
export type QueueKind = 'in-process' | 'pg-boss';

export type LogSink = { write(line: string): void };

export type ServerSettings = {
  readonly host: string;
  readonly port: number;
  /** Null: the state directory keeps it. */
  readonly token: string | null;
  /** In lower case. */
  readonly allowHosts: readonly string[];
  readonly trustProxies: readonly string[];
  /** Without a slash at its end; empty if there is none. */
  readonly basePath: string;
  readonly limits: ServerLimits;
  readonly projectLimits: LimitsByProject;
  readonly processName: string;
};

const DEFAULT_PORT = 4310;
const MAX_PORT = 65_535;
const LEAST_TOKEN = 16;
const TOKEN = /^[\w.~+/-]+=*$/u;
const NAME = /^(?:[a-z\d](?:[a-z\d.-]*[a-z\d])?|\[[\da-f:.]+\])(?::\d{1,5})?$/u;

const BASE_PATH = /^(?:\/[\w~-][\w.~-]*)+$/u;

/**
 * The options with their defaults. Throws CONFIG_INVALID that lists everything wrong with them. `startServer` does so
 * as well; this is for whoever wants to know it before anything is opened.
 */
export function checkOptions(options: ListenOptions): ServerSettings {
  const { host: given = '127.0.0.1', port = DEFAULT_PORT, token = null } = options;
  const { processName = `orion-${process.pid}`, trustProxies = [], projectLimits = {} } = options;
  const basePath = (options.basePath ?? '').replace(/\/$/u, '');
  const host = given === 'localhost' ? '127.0.0.1' : given;
  const allowHosts = (options.allowHosts ?? []).map((name) => name.toLowerCase());
  const limits = { ...DEFAULT_LIMITS, ...options.limits };
  const problems: string[] = [];
  if (isIP(host) === 0)
    problems.push(`The host ${JSON.stringify(given)} is neither an IP address nor localhost.`);
  if (!Number.isInteger(port) || port < 0 || port > MAX_PORT)
    problems.push(`The port ${port} is not a whole number from 0 to ${MAX_PORT}.`);
  if (token === null && !isLoopback(host))
    problems.push(`A server that listens on ${given} needs a token: set ORION_SERVER_TOKEN.`);
  if (token !== null && (token.length < LEAST_TOKEN || !TOKEN.test(token)))
    problems.push(
      `The token (ORION_SERVER_TOKEN) needs at least ${LEAST_TOKEN} letters, digits or the characters - . _ ~ + /.`,
    );
  for (const name of allowHosts)
    if (!NAME.test(name)) problems.push(`${JSON.stringify(name)} is not a name of a host.`);
  for (const address of trustProxies)
    if (!isProxyAddress(address))
      problems.push(`The proxy ${JSON.stringify(address)} is neither an IP address nor a network.`);
  if (basePath !== '' && !BASE_PATH.test(basePath))
    problems.push(
      `The base path ${JSON.stringify(options.basePath)} is not a path such as /orion.`,
    );
  for (const [name, limit] of Object.entries(limits))
    if (!Number.isSafeInteger(limit) || limit < 1)
      problems.push(`The limit ${name} is ${limit}, but must be a whole number from 1.`);
  problems.push(...projectLimitProblems(projectLimits));
  if (problems.length > 0)
    throw new OrionError({ code: 'CONFIG_INVALID', message: problems.join(' ') });
  return {
    host,
    port,
    token,
    allowHosts,
    trustProxies,
    basePath,
    limits,
    projectLimits,
    processName,
  };
}

export function isLoopback(host: string): boolean {
  return host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));
}

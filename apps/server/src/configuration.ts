import { isIP } from 'node:net';

import type { Orion } from '@orion/agent';
import { OrionError } from '@orion/contracts';
import type { Clock } from '@orion/contracts';

import { DEFAULT_LIMITS } from './limits.ts';
import type { ServerLimits } from './limits.ts';

export type ServerOptions = {
  /** What it serves. Whoever made it closes it, after the server has stopped. */
  readonly orion: Orion;
  /** The address to listen on; `127.0.0.1` when left out. Any other than loopback needs a token. */
  readonly host?: string;
  /** 4310 when left out; 0 takes a free one. */
  readonly port?: number;
  /** Left out: the token that the state directory keeps, made when there is none. */
  readonly token?: string;
  /** Further names, `name` or `name:port`, that clients may use in the header Host. */
  readonly allowHosts?: readonly string[];
  readonly limits?: Partial<ServerLimits>;
  /** What the label `process` of log and metrics says; `orion-<pid>` when left out. */
  readonly processName?: string;
  /** Takes the lines of the log; standard error when left out. */
  readonly log?: LogSink;
  /** What limits are measured by. */
  readonly clock?: Clock;
};

export type LogSink = { write(line: string): void };

export type ServerSettings = {
  readonly host: string;
  readonly port: number;
  /** Null: the state directory keeps it. */
  readonly token: string | null;
  /** In lower case. */
  readonly allowHosts: readonly string[];
  readonly limits: ServerLimits;
  readonly processName: string;
};

const DEFAULT_PORT = 4310;
const MAX_PORT = 65_535;
const LEAST_TOKEN = 16;
const TOKEN = /^[\w.~+/-]+=*$/u;
const NAME = /^(?:[a-z\d](?:[a-z\d.-]*[a-z\d])?|\[[\da-f:.]+\])(?::\d{1,5})?$/u;

/** The options with their defaults. Throws CONFIG_INVALID that lists everything wrong with them. */
export function checkOptions(options: ServerOptions): ServerSettings {
  const { host: given = '127.0.0.1', port = DEFAULT_PORT, token = null } = options;
  const { processName = `orion-${process.pid}` } = options;
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
  for (const [name, limit] of Object.entries(limits))
    if (!Number.isSafeInteger(limit) || limit < 1)
      problems.push(`The limit ${name} is ${limit}, but must be a whole number from 1.`);
  if (problems.length > 0)
    throw new OrionError({ code: 'CONFIG_INVALID', message: problems.join(' ') });
  return { host, port, token, allowHosts, limits, processName };
}

export function isLoopback(host: string): boolean {
  return host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));
}

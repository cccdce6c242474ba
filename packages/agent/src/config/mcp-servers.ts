import { resolve } from 'node:path';

import { defined, isFields } from '@orion/contracts';
import { isMcpAddress } from '@orion/tool-runner';
import type { McpServer } from '@orion/tool-runner/mcp';

import { configurationError } from './configuration-error.ts';

/** An entry of `mcpServers`, in the form that other programs use, too; `startSeconds` is Orion's own. */
export type McpEntry = { readonly startSeconds?: number } & (
  | {
      readonly command: string;
      readonly args: readonly string[];
      readonly env: Readonly<Record<string, string>>;
      readonly cwd: string | null;
    }
  | { readonly url: string; readonly headers: Readonly<Record<string, string>> }
);

export type McpEntries = Readonly<Record<string, McpEntry>>;

/** Without `__`, which separates the server from its tool. */
const NAME = /^(?=.{1,32}$)[A-Za-z0-9]+(?:[-_][A-Za-z0-9]+)*$/u;
const VARIABLE = /\$\{([A-Za-z_][A-Za-z0-9_]*)\}/gu;

/** A turn waits for a server that starts. */
const MAX_START_SECONDS = 300;

const SECRET = /auth|key|token|secret|password|cookie/iu;

/** Of every program: what it needs to find its files and to speak the user's language. No key is in any of these. */
const PASSED = ['HOME', 'LOGNAME', 'PATH', 'SHELL', 'TERM', 'USER', 'LANG', 'TMPDIR'];

export function mcpEnvironmentOf(
  environment: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    PASSED.flatMap((name) => {
      const value = environment[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );
}

/** `mcpServers` of a file. Throws CONFIG_INVALID naming file and entry. */
export function readMcpEntries(value: unknown, file: string): McpEntries {
  if (!isFields(value)) throw invalid(file, 'mcpServers', 'must be an object of servers by name');
  return Object.fromEntries(
    Object.entries(value).map(([name, entry]) => {
      const place = `mcpServers.${name}`;
      if (!NAME.test(name)) {
        throw invalid(
          file,
          place,
          'is not a name of a server: up to 32 letters and digits, with single - or _ between them',
        );
      }
      return [name, readEntry(entry, file, place)] as const;
    }),
  );
}

function readEntry(entry: unknown, file: string, place: string): McpEntry {
  if (!isFields(entry)) throw invalid(file, place, 'must be an object');
  const { type: _type, ...fields } = entry;
  const own = 'url' in fields ? ['url', 'headers'] : ['command', 'args', 'env', 'cwd'];
  const known = [...own, 'startSeconds'];
  const unknown = Object.keys(fields).find((key) => !known.includes(key));
  if (unknown !== undefined) {
    throw invalid(file, `${place}.${unknown}`, `is no key of a server: ${known.join(', ')}`);
  }
  const { startSeconds } = fields;
  if (startSeconds !== undefined && !isStartSeconds(startSeconds)) {
    const what = `must be a whole number from 1 to ${MAX_START_SECONDS}`;
    throw invalid(file, `${place}.startSeconds`, what);
  }
  const texts = (key: string): Readonly<Record<string, string>> => {
    const given = fields[key] ?? {};
    if (!isFields(given) || !Object.values(given).every((each) => typeof each === 'string')) {
      throw invalid(file, `${place}.${key}`, 'must be an object of texts');
    }
    return given as Readonly<Record<string, string>>;
  };
  if ('url' in fields) {
    const { url } = fields;
    const parsed = typeof url === 'string' ? URL.parse(url) : null;
    if (parsed === null || !isMcpAddress(parsed, true)) {
      throw invalid(file, `${place}.url`, 'must be an https URL, or an http URL');
    }
    return { url: parsed.href, headers: texts('headers'), ...defined({ startSeconds }) };
  }
  const { command, args = [], cwd = null } = fields;
  if (typeof command !== 'string' || command.trim() === '') {
    throw invalid(file, `${place}.command`, 'must be a program, without its arguments');
  }
  if (!Array.isArray(args) || !args.every((each) => typeof each === 'string')) {
    throw invalid(file, `${place}.args`, 'must be a list of texts');
  }
  if (cwd !== null && typeof cwd !== 'string')
    throw invalid(file, `${place}.cwd`, 'must be a text');
  return { command, args, env: texts('env'), cwd, ...defined({ startSeconds }) };
}

function isStartSeconds(value: unknown): value is number {
  return Number.isInteger(value) && Number(value) >= 1 && Number(value) <= MAX_START_SECONDS;
}

function invalid(file: string, place: string, what: string): Error {
  return configurationError(`${file}: ${place} ${what}.`, `Correct ${file} and start again.`);
}

/** What the user's own configuration allows the entries of all files. */
type Allowed = {
  /** Variables that an entry may name. */
  readonly variables: readonly string[];
  /** Hosts that may be asked over http, with or without a port. */
  readonly hosts: readonly string[];
};

/** The servers of all files; `leftOut` says which cannot be started, and why. */
export function mcpServersOf(
  entries: McpEntries,
  workspace: string,
  environment: Readonly<Record<string, string>>,
  allowed: Allowed,
): {
  readonly servers: readonly McpServer[];
  readonly secrets: readonly string[];
  readonly leftOut: readonly string[];
} {
  const servers: McpServer[] = [];
  const secrets = new Set<string>();
  const leftOut: string[] = [];
  for (const [name, entry] of Object.entries(entries)) {
    const missing = new Set<string>();
    const filled = (text: string): string =>
      text.replaceAll(VARIABLE, (_all, variable: string) => {
        const value = allowed.variables.includes(variable) ? environment[variable] : undefined;
        if (value === undefined) missing.add(variable);
        else if (SECRET.test(variable)) secrets.add(value);
        return value ?? '';
      });
    const filledAll = (texts: Readonly<Record<string, string>>): Record<string, string> =>
      Object.fromEntries(Object.entries(texts).map(([key, text]) => [key, filled(text)]));
    const made: McpServer =
      'url' in entry
        ? webServer(name, entry, filledAll(entry.headers), allowed.hosts)
        : {
            kind: 'stdio',
            name,
            place: JSON.stringify([entry.command, ...entry.args]),
            command: entry.command,
            args: entry.args.map(filled),
            environment: filledAll(entry.env),
            folder: resolve(workspace, entry.cwd ?? '.'),
          };
    const { startSeconds } = entry;
    const server = startSeconds === undefined ? made : { ...made, startMs: startSeconds * 1_000 };
    const why =
      missing.size > 0
        ? `${[...missing].map((variable) => `\${${variable}}`).join(', ')} is unset, or mcpEnvironment of your own configuration does not list it`
        : server.kind === 'http' && !isMcpAddress(new URL(server.url), server.allowPlainHttp)
          ? 'its URL is neither https nor on this machine, and mcpHosts of your own configuration does not list its host'
          : null;
    if (why === null) {
      servers.push(server);
      for (const secret of secretsOf(server)) secrets.add(secret);
    } else {
      leftOut.push(`The MCP server ${name} was left out: ${why}.`);
    }
  }
  return { servers, secrets: [...secrets], leftOut };
}

function webServer(
  name: string,
  { url }: Extract<McpEntry, { readonly url: string }>,
  headers: Readonly<Record<string, string>>,
  hosts: readonly string[],
): McpServer {
  const { host, hostname } = new URL(url);
  const allowPlainHttp = hosts.some((each) => [host, hostname].includes(each.toLowerCase()));
  return {
    kind: 'http',
    name,
    place: url,
    url,
    headers,
    ...(allowPlainHttp && { allowPlainHttp }),
  };
}

/** Values that are keys by their name; a scheme may precede them. */
function secretsOf(server: McpServer): readonly string[] {
  const texts = server.kind === 'http' ? server.headers : server.environment;
  return Object.entries(texts)
    .filter(([name]) => SECRET.test(name))
    .map(([, value]) => value.split(' ').at(-1) ?? '');
}

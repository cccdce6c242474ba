/** What a URL says of a Postgres: everything that the driver would look up elsewhere is decided here. */
import type { PoolConfig } from 'pg';
import { storeUnavailable } from './sql-database.ts';

export type PostgresOptions = {
  /** 6 when left out. */
  readonly maxConnections?: number;
  /** 5,000 when left out. */
  readonly connectMs?: number;
  /** 10,000 when left out. Enforced by the server, and by the client in case the server stops answering. */
  readonly statementMs?: number;
};

const DEFAULT_MAX_CONNECTIONS = 6;
const DEFAULT_CONNECT_MS = 5_000;
const DEFAULT_STATEMENT_MS = 10_000;
/**
 * After which a transaction is undone whose process says nothing more. One that froze must not keep the rows of a turn,
 * or of its job, locked until its heartbeat runs out after 10 s: nobody could take over what else it ran before that.
 */
const MAX_SILENT_MS = 5_000;
const IDLE_MS = 30_000;
/** The types int8, int2, int4, oid, float4 and float8. */
const NUMBERS: ReadonlySet<number> = new Set([20, 21, 23, 26, 700, 701]);

/** The settings of the driver, and what removes the password from a text. Throws STORE_UNAVAILABLE. */
export function readUrl(
  text: string,
  options: PostgresOptions,
): { config: PoolConfig; conceal: (message: string) => string } {
  // The platform's own error contains the whole URL, password included.
  if (!URL.canParse(text)) throw notAUrl();
  const url = new URL(text);
  if (url.protocol !== 'postgres:' && url.protocol !== 'postgresql:') throw notAUrl();
  const password = decode(url.password);
  const user = decode(url.username) || 'postgres';
  const database = decode(url.pathname.slice(1)) || user;
  const statementMs = options.statementMs ?? DEFAULT_STATEMENT_MS;
  const config: PoolConfig = {
    // A path in `host` is the folder of a local socket.
    host: url.searchParams.get('host') ?? (hostOf(url) || 'localhost'),
    port: Number(url.searchParams.get('port') ?? (url.port || '5432')),
    user,
    // A function is used as it is; an empty string would make the driver look for another password.
    password: () => password,
    database,
    ssl: readSsl(url.searchParams),
    sslnegotiation: 'postgres',
    application_name: 'orion',
    client_encoding: 'UTF8',
    options: url.searchParams.get('options') ?? '-c timezone=UTC',
    statement_timeout: statementMs,
    query_timeout: statementMs + 1_000,
    lock_timeout: statementMs,
    idle_in_transaction_session_timeout: Math.min(statementMs + 1_000, MAX_SILENT_MS),
    connectionTimeoutMillis: options.connectMs ?? DEFAULT_CONNECT_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    max: options.maxConnections ?? DEFAULT_MAX_CONNECTIONS,
    idleTimeoutMillis: IDLE_MS,
    allowExitOnIdle: true,
    types: {
      // 64-bit numbers become numbers: ours are all in the safe range. JSON stays text.
      getTypeParser: (oid: number) => (NUMBERS.has(oid) ? Number : String),
    },
  };
  const secrets = [url.password, password].filter((secret) => secret !== '');
  return {
    config,
    conceal: (message) =>
      secrets.reduce((shown, secret) => shown.replaceAll(secret, '[REDACTED]'), message),
  };
}

function notAUrl(): Error {
  return storeUnavailable('The database is not named by a postgres:// URL', { retryable: false });
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Of an IPv6 address the URL has brackets, and a connection has none. */
function hostOf({ hostname }: URL): string {
  return decode(hostname).replace(/^\[(.*)\]$/u, '$1');
}

function readSsl(parameters: URLSearchParams): boolean | { rejectUnauthorized: boolean } {
  const mode = parameters.get('sslmode');
  // What the driver's own URLs say for it.
  if (mode === null) return ['true', '1'].includes(parameters.get('ssl') ?? '');
  if (mode === 'no-verify') return { rejectUnauthorized: false };
  return !['disable', 'allow', 'prefer'].includes(mode);
}

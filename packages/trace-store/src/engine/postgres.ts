import type { Client, Notification, PoolClient, PoolConfig, QueryResult } from 'pg';
import { Socket } from 'node:net';
import { Places } from './places.ts';
import { nameOfHolder, takeAdvisoryLock } from './postgres-lock.ts';
import { readUrl } from './postgres-url.ts';
import type { PostgresOptions } from './postgres-url.ts';
import { onAbort, SqlRefusedError, storeClosed, storeUnavailable } from './sql-database.ts';
import type {
  SqlDatabase,
  SqlRow,
  SqlRunner,
  SqlValue,
  TransactionOptions,
} from './sql-database.ts';

/**
 * Connections that no transaction takes: it goes to and fro many times and may wait for a lock, and what turns append
 * and readers ask for must not wait for that.
 */
const FOR_STATEMENTS = 2;
const RECONNECT_MS = 1_000;
/** The longest time of a timer, 24 days: the client's own limit of a query cannot be switched off. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;
/** A process that froze between two statements is undone all the same, after 5 s: others wait for its locks. */
const NO_LIMITS = 'set local statement_timeout = 0; set local lock_timeout = 0';
/** How long pending statements have to finish when the database is closed; then their connections are cut. */
const CLOSE_GRACE_MS = 250;

/** Ours with this beginning change nothing: what reads and writes at once begins with `with`, `insert` or `update`. */
const READING = /^\s*select\b/iu;
/** SQLSTATE classes that are about the statement: features, cardinality, data, constraints, syntax. */
const REFUSALS: ReadonlySet<string> = new Set(['0A', '21', '22', '23', '42']);
/** Retrying cannot help: wrong password, no such database. */
const FINAL: ReadonlySet<string> = new Set(['28', '3D']);
/** This server is not the primary any more: its address may lead to another one by now. */
const READ_ONLY = '25006';

/**
 * A small pool of connections to a Postgres server. Creating it does not connect.
 *
 * 1. Everything that the driver would read from the environment or a password file is set: the URL alone decides.
 * 2. Every wait has a limit: for a connection, for a statement, for a server that stopped answering. The statements
 *    of a transaction that asks for it have none.
 * 3. A connection is reused only if the server reported the end of its last statement, successful or not.
 * 4. No error contains the password.
 * 5. Transactions never hold all connections, if there are several: a single statement does not wait for their ends.
 * 6. A single statement that only reads is asked once more if its connection broke. Of any other the outcome is unknown,
 *    and whoever asked decides.
 * 7. Closing takes no longer than the grace period of pending statements, and no time once it is cut. Every call of it
 *    resolves when all connections of the pool have been given up.
 */
export async function openPostgres(
  url: string,
  options: PostgresOptions = {},
): Promise<SqlDatabase> {
  const { config: read, conceal } = readUrl(url, options);
  const { Pool, Client, types } = await import('pg');
  const sockets = new Set<Socket>();
  const config: PoolConfig = {
    ...read,
    stream: () => {
      const socket = new Socket();
      sockets.add(socket);
      socket.once('close', () => sockets.delete(socket));
      return socket;
    },
  };
  const pool = new Pool(config);
  // Without a listener, an idle connection that breaks would end the process.
  pool.on('error', () => undefined);
  /** The numbers of our connections, under which the server passes on what they notify of. */
  const own = new Set<unknown>();
  pool.on('connect', (client) => {
    client.on('error', () => undefined);
    own.add(numberOf(client));
  });
  pool.on('remove', (client) => own.delete(numberOf(client)));
  const stopListening = new Set<() => void>();
  let ended: Promise<void> | null = null;
  const destroySockets = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  const end = async (): Promise<void> => {
    for (const stop of stopListening) stop();
    // The pool itself waits for every query, and one to a server that hangs has seconds left.
    const grace = setTimeout(destroySockets, CLOSE_GRACE_MS);
    await pool.end().catch(() => undefined);
    clearTimeout(grace);
  };

  const transactions = new Places(Math.max(1, (config.max ?? 0) - FOR_STATEMENTS));
  const withClient = async <Result>(
    work: (session: Session) => Promise<Result>,
    { isLimited = true }: TransactionOptions = {},
  ): Promise<Result> => {
    if (ended !== null) throw storeClosed();
    let client: PoolClient;
    try {
      client = await pool.connect();
    } catch (error) {
      throw translated(error, conceal);
    }
    let broken = false;
    let lost = false;
    const onError = (): void => void (lost = true);
    client.on('error', onError);
    try {
      return await work({
        isBroken: () => broken,
        isLost: () => lost,
        async raw(text, values = []) {
          try {
            return await client.query({ text, values: [...values], types });
          } catch (error) {
            // A text may have begun a transaction before it failed.
            broken = true;
            throw translated(error, conceal);
          }
        },
        async query(sql, parameters = []) {
          try {
            return await client.query<SqlRow>({
              text: sql,
              values: [...parameters],
              ...(isLimited ? {} : { query_timeout: LONGEST_TIMER_MS }),
            });
          } catch (error) {
            const failure = translated(error, conceal);
            lost ||= severityOf(error) === 'FATAL';
            broken ||= !(failure instanceof SqlRefusedError || wasAnswered(error));
            broken ||= codeOf(error) === READ_ONLY;
            throw failure;
          }
        },
      });
    } finally {
      client.off('error', onError);
      client.release(broken);
    }
  };
  const statements = runnerOf(withClient);

  return {
    ...statements,
    async all(sql, parameters) {
      let isLost = (): boolean => false;
      try {
        return await withClient(async (session) => {
          ({ isLost } = session);
          return (await session.query(sql, parameters)).rows;
        });
      } catch (error) {
        if (!isLost() || !READING.test(sql)) throw error;
        return statements.all(sql, parameters);
      }
    },
    transaction: (work, options) =>
      transactions.within(() =>
        withClient((session) => transaction(session, work, options), options),
      ),
    raw: (text, values) => withClient((session) => session.raw(text, values)),
    listen(channel, onMessage) {
      if (ended !== null) return () => undefined;
      const stop = listenTo(
        () => new Client(config),
        channel,
        ({ processId, payload }) => {
          if (!own.has(processId)) onMessage(payload ?? '');
        },
      );
      stopListening.add(stop);
      return () => {
        stopListening.delete(stop);
        stop();
      };
    },
    async takeLock(options = {}) {
      if (ended !== null) throw storeClosed();
      const named = { ...config, application_name: nameOfHolder(options) };
      try {
        return await takeAdvisoryLock(new Client(named), options);
      } catch (error) {
        throw translated(error, conceal);
      }
    },
    async close(cut) {
      const forget = onAbort(cut, destroySockets);
      await (ended ??= end());
      forget();
    },
  };
}

/** One connection, for a single statement or for a transaction. */
type Session = {
  readonly query: (sql: string, parameters?: readonly SqlValue[]) => Promise<QueryResult<SqlRow>>;
  readonly raw: (text: string, values?: readonly unknown[]) => Promise<unknown>;
  readonly isBroken: () => boolean;
  /** The connection has ended, on whichever side: what it was asked has no answer any more. */
  readonly isLost: () => boolean;
};

async function transaction<Result>(
  session: Session,
  work: (inside: SqlRunner) => Promise<Result>,
  { isLimited = true }: TransactionOptions = {},
): Promise<Result> {
  await session.query(isLimited ? 'begin' : `begin; ${NO_LIMITS}`);
  try {
    const result = await work(runnerOf((use) => use(session)));
    await session.query('commit');
    return result;
  } catch (error) {
    // A connection discarded by invariant 3 rolls back by itself, and may no longer answer.
    if (!session.isBroken()) await session.query('rollback');
    throw error;
  }
}

/** What a failed call means for the store; `conceal` removes the password from the message. */
function translated(error: unknown, conceal: (text: string) => string): unknown {
  if (!(error instanceof Error)) return error;
  const code = codeOf(error);
  const message = conceal(messageOf(error));
  if (code !== null && isRefusal(code)) return new SqlRefusedError(code, message);
  return storeUnavailable(`The Postgres database cannot be used: ${message}`, {
    reason: code,
    retryable: code === null || !FINAL.has(code.slice(0, 2)),
  });
}

function runnerOf(
  withSession: <Result>(use: (session: Session) => Promise<Result>) => Promise<Result>,
): SqlRunner {
  return {
    dialect: 'postgres',
    run: (sql, parameters) =>
      withSession(async ({ query }) => (await query(sql, parameters)).rowCount ?? 0),
    all: (sql, parameters) => withSession(async ({ query }) => (await query(sql, parameters)).rows),
  };
}

/**
 * Whether the server sent the error and kept the connection, as when its disk is full; a fatal error closes it. A
 * server that is set to another language uses another word, which costs a new connection.
 */
function wasAnswered(error: unknown): boolean {
  return severityOf(error) === 'ERROR';
}

function codeOf(error: unknown): string | null {
  return error instanceof Error && 'code' in error && typeof error.code === 'string'
    ? error.code
    : null;
}

function severityOf(error: unknown): unknown {
  return error instanceof Error && 'severity' in error ? error.severity : null;
}

function isRefusal(code: string): boolean {
  return /^[0-9A-Z]{5}$/u.test(code) && REFUSALS.has(code.slice(0, 2));
}

/** A host with several addresses fails with several errors and an empty message. */
function messageOf(error: Error): string {
  if (error.message !== '') return error.message;
  if (error instanceof AggregateError) {
    const first: unknown = error.errors[0];
    if (first instanceof Error) return first.message;
  }
  return error.name;
}

/** The driver's types lack it. */
function numberOf(client: object): unknown {
  return 'processID' in client ? client.processID : undefined;
}

/** Listens to one channel on a connection of its own, which is replaced whenever it breaks, until it is stopped. */
function listenTo(
  connect: () => Client,
  channel: string,
  onNotification: (notification: Notification) => void,
): () => void {
  let current: Client | null = null;
  let retry: NodeJS.Timeout | undefined;
  let stopped = false;

  const start = (): void => {
    const client = connect();
    current = client;
    const drop = (): void => {
      // Ending a connection that was never made, or is gone, fails or hangs: do not wait for it.
      client.end().catch(() => undefined);
      if (stopped || current !== client) return;
      current = null;
      retry = setTimeout(start, RECONNECT_MS).unref();
    };
    client.on('error', drop);
    client.on('notification', onNotification);
    client
      .connect()
      .then(() => client.query(`listen "${channel}"`))
      .catch(drop);
  };

  start();
  return () => {
    stopped = true;
    clearTimeout(retry);
    current?.end().catch(() => undefined);
  };
}

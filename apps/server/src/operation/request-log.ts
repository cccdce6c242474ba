import { pino } from 'pino';
import type { Logger } from 'pino';

import type { LogSink, ServerOptions } from '../configuration.ts';

/** What the log says of a request: nothing that it or its answer contains, no query and no header. */
export type LoggedRequest = {
  /** As in the header `x-request-id` of the answer. */
  readonly id: string;
  readonly client: string;
  readonly method: string;
  readonly path: string;
  readonly status: number;
  /** The code of an answer that is an error. */
  readonly code?: string;
  readonly ms: number;
  readonly bytes: number;
  /** The connection ended before the answer did. */
  readonly aborted?: true;
};

/** One line of JSON for each record; control characters are escaped. */
export type ServerLog = {
  request(request: LoggedRequest): void;
  /** An error that is a defect. Its message may hold anything and is left out. */
  defect(id: string, error: unknown): void;
  note(message: string): void;
  /** Something failed that is tried again or told elsewhere; worth a look if it goes on. */
  warn(message: string): void;
};

const MAX_PATH = 200;

export function createLog(
  sink: LogSink,
  processName: string,
  level: ServerOptions['logLevel'] = 'info',
): ServerLog {
  const logger: Logger = pino(
    { level, base: { process: processName }, timestamp: pino.stdTimeFunctions.isoTime },
    sink,
  );
  return {
    request: ({ path, ...request }) =>
      logger[request.status < 500 ? 'info' : 'warn'](
        { ...request, path: path.slice(0, MAX_PATH) },
        'request',
      ),
    defect: (id, error) => logger.error({ id, ...placeOf(error) }, 'defect'),
    note: (message) => logger.info(message),
    warn: (message) => logger.warn(message),
  };
}

function placeOf(error: unknown): { readonly type: string; readonly stack: readonly string[] } {
  if (!(error instanceof Error)) return { type: typeof error, stack: [] };
  const stack = (error.stack ?? '').split('\n').filter((line) => /^ {4}at /u.test(line));
  return { type: error.name, stack: stack.map((line) => line.trim()) };
}

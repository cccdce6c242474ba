import { formatTimeline, toExportLine } from '@orion/agent';
import { OrionError, isFields, type TraceEvent, type TraceStore } from '@orion/contracts';

import type { TurnOptions } from '../command-line/options.ts';
import type { CommandContext } from '../process/context.ts';
import { formatAge } from '../terminal/format.ts';
import { jsonLine, sanitizeLine } from '../terminal/sanitize.ts';
import { printJson, printList } from './with-orion.ts';
import { withStore, type StoreTools } from './with-store.ts';

export type ExportTracesOptions = TurnOptions & { readonly request?: string };

const LISTED = 100;

type ListedTurn = {
  readonly request_id: string;
  readonly project_id: string | null;
  readonly task: string | null;
  /** Milliseconds since the epoch. */
  readonly started_at: number;
  /** Null while it runs, or when its process died. */
  readonly status: string | null;
  readonly duration_ms: number | null;
};

/** `orion trace list`: the turns that were recorded. */
export async function listTracesCommand(
  context: CommandContext,
  options: TurnOptions,
): Promise<void> {
  const now = Date.now();
  await withStore(context, options, async ({ configuration, store, project }) => {
    await printList(context, configuration, {
      name: 'traces',
      items: await listTurns(store.traces, project),
      none: 'There are no traces.',
      headings: ['REQUEST', 'STARTED', 'TASK', 'STATUS', 'DURATION'],
      cells: (turn) =>
        [
          turn.request_id,
          `${formatAge(now - turn.started_at)} ago`,
          turn.task ?? '-',
          turn.status ?? 'not ended',
          turn.duration_ms === null ? '-' : `${(turn.duration_ms / 1000).toFixed(1)} s`,
        ].map(sanitizeLine),
    });
  });
}

async function listTurns(
  traces: TraceStore,
  project: StoreTools['project'],
): Promise<readonly ListedTurn[]> {
  const started = await traces.query({ type: 'turn_started', limit: LISTED, ...project });
  const from = Math.min(...started.map((event) => event.timestamp));
  const ended = new Map<string | null, TraceEvent>();
  if (started.length > 0) {
    for (const event of await traces.query({ type: 'turn_ended', from, ...project })) {
      ended.set(event.requestId, event);
    }
  }
  return started
    .toSorted((one, other) => other.timestamp - one.timestamp || other.id - one.id)
    .map((event) => {
      const end = ended.get(event.requestId);
      return {
        request_id: event.requestId ?? '',
        project_id: event.projectId,
        task: textOf(event, 'task'),
        started_at: event.timestamp,
        status: end === undefined ? null : textOf(end, 'status'),
        duration_ms: end === undefined ? null : end.timestamp - event.timestamp,
      };
    });
}

function textOf(event: TraceEvent, name: string): string | null {
  const { details } = event;
  const value = isFields(details) ? details[name] : null;
  return typeof value === 'string' ? value : null;
}

/** `orion trace show <request_id>`: the turn as a timeline. */
export async function showTraceCommand(
  context: CommandContext,
  requestId: string,
  options: TurnOptions,
): Promise<void> {
  await withStore(context, options, async ({ configuration, store }) => {
    const events = await store.traces.getTrace(requestId);
    if (events.length === 0) throw traceNotFound(requestId);
    if (configuration.json) {
      await printJson(context, { request_id: requestId, events });
      return;
    }
    await context.stdout.write(formatTimeline(events, { columns: context.stdout.columns() }));
  });
}

/** `orion trace export`: events as lines of JSON. */
export async function exportTracesCommand(
  context: CommandContext,
  options: ExportTracesOptions,
): Promise<void> {
  await withStore(context, options, async ({ store, project }) => {
    const { request } = options;
    let found = false;
    const filter = request === undefined ? project : { requestId: request };
    for await (const event of store.traces.scan(filter)) {
      found = true;
      await context.stdout.write(jsonLine(toExportLine(event).trimEnd()));
    }
    if (request !== undefined && !found) throw traceNotFound(request);
  });
}

function traceNotFound(requestId: string): OrionError {
  return new OrionError({
    code: 'TRACE_NOT_FOUND',
    message: `There is no trace of a turn ${JSON.stringify(requestId)}.`,
  });
}

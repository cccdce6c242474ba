import { formatTimeline, listRecordedTurns, toExportLine } from '@orion/agent';
import { OrionError } from '@orion/contracts';

import type { TurnOptions } from '../command-line/options.ts';
import type { CommandContext } from '../process/context.ts';
import { formatAge } from '../terminal/format.ts';
import { jsonLine, sanitizeLine } from '../terminal/sanitize.ts';
import { printJson, printList } from './with-orion.ts';
import { withStore } from './with-store.ts';

export type ExportTracesOptions = TurnOptions & { readonly request?: string };

const LISTED = 100;

/** `orion trace list`: the turns that were recorded. */
export async function listTracesCommand(
  context: CommandContext,
  options: TurnOptions,
): Promise<void> {
  const now = Date.now();
  await withStore(context, options, async ({ configuration, store, project }) => {
    const turns = await listRecordedTurns(store.traces, { limit: LISTED, ...project });
    await printList(context, configuration, {
      name: 'traces',
      items: turns.map((turn) => ({
        request_id: turn.requestId,
        project_id: turn.projectId,
        task: turn.task,
        started_at: turn.startedAt,
        status: turn.status,
        duration_ms: turn.durationMs,
      })),
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

import { defined } from '@orion/contracts';

import type { TurnOptions } from '../command-line/options.ts';
import { configure } from '../commands/configure.ts';
import { withOrion } from '../commands/with-orion.ts';
import { withStore } from '../commands/with-store.ts';
import type { CommandContext } from '../process/context.ts';
import { formatAge } from '../terminal/format.ts';
import type { Candidate, IdKind } from './wanted.ts';

/** As many as a person looks through. */
const LISTED = 50;
/** As many of the newest are looked through for one that begins as typed. */
const SEARCHED = 1_000;

/** The ids of one kind that begin like this, the newest first. Looking leaves nothing behind. */
export async function idsOf(
  kind: IdKind,
  prefix: string,
  context: CommandContext,
  options: TurnOptions,
): Promise<readonly Candidate[]> {
  const now = Date.now();
  const limit = prefix === '' ? LISTED : SEARCHED;
  const found: Candidate[] = [];
  const add = (value: string, ...about: readonly string[]): void => {
    if (found.length < LISTED && value.startsWith(prefix))
      found.push({ value, description: about.join(', ') });
  };
  switch (kind) {
    case 'sessions':
      await withOrion(context, options, { createStore: false }, async ({ orion }) => {
        for (const session of await orion.listSessions()) {
          add(session.session_id, session.target_file ?? '-', session.status);
        }
      });
      break;
    case 'changes':
      await withOrion(context, options, { createStore: false }, async ({ orion }) => {
        for await (const { change_id, files, created_at } of orion.changes()) {
          add(change_id, files[0]?.target_file ?? '-', formatAge(now - Date.parse(created_at)));
          // They are read from the disk as they are asked for.
          if (found.length === LISTED) break;
        }
      });
      break;
    case 'conversations':
      await withStore(context, options, async ({ store, project }) => {
        for (const one of await store.conversations.list({ limit, ...project })) {
          add(one.conversationId, one.title, formatAge(now - one.updatedAt));
        }
      });
      break;
    case 'turns':
      await withStore(context, options, async ({ store, project }) => {
        const turns = { type: 'turn_started', limit, ...project };
        for (const { requestId, timestamp } of await store.traces.query(turns)) {
          if (requestId !== null) add(requestId, formatAge(now - timestamp));
        }
      });
      break;
    case 'outputs':
      await withStore(context, options, async ({ store, project }) => {
        const { outputs } = await store.toolOutputs.list({
          limit,
          ...defined({ project_id: project.projectId }),
        });
        for (const output of outputs) add(output.id, output.tool_name);
      });
      break;
    case 'servers':
      for (const { name, kind: way } of (await configure(context, options)).mcp.servers) {
        add(name, way);
      }
      break;
    default:
      kind satisfies never;
  }
  return found;
}

import type { Configuration, Store } from '@orion/agent';

import type { TurnOptions } from '../command-line/options.ts';
import type { CommandContext } from '../process/context.ts';
import { withOrion } from './with-orion.ts';

export type StoreTools = {
  readonly configuration: Configuration;
  readonly store: Store;
  /** The project to look at, none for all of them; never those of other workspaces. */
  readonly project: { readonly projectId?: string };
};

/** Opens the workspace's store for a command that reads in it: looking leaves nothing behind. */
export async function withStore(
  context: CommandContext,
  options: TurnOptions,
  body: (tools: StoreTools) => Promise<void>,
): Promise<void> {
  await withOrion(context, options, { createStore: false }, async ({ orion, configuration }) => {
    const projectId = configuration.projectId ?? (orion.sharesStore ? orion.projectId : null);
    const project = projectId === null ? {} : { projectId };
    await body({ configuration, store: orion.store, project });
  });
}

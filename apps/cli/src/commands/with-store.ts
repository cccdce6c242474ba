import type { Configuration, ConfigurationFlags, Store } from '@orion/agent';

import type { CommandContext } from '../process/context.ts';
import { configure } from './configure.ts';
import { openOrion } from './open-orion.ts';

export type StoreTools = {
  readonly configuration: Configuration;
  readonly store: Store;
  /** The project to look at; null for all of them. Other workspaces are no business of this one. */
  readonly projectId: string | null;
};

export type StoreOptions = {
  readonly cwd?: string;
  readonly json?: boolean;
  readonly projectId?: string;
};

/** Opens the workspace's store for a command that reads in it: looking leaves nothing behind. */
export async function withStore(
  context: CommandContext,
  options: StoreOptions,
  body: (tools: StoreTools) => Promise<void>,
): Promise<void> {
  const flags: ConfigurationFlags = {
    ...(options.json === undefined ? {} : { json: options.json }),
    ...(options.projectId === undefined ? {} : { projectId: options.projectId }),
  };
  const configuration = await configure(context, options.cwd, flags);
  const orion = await openOrion(configuration, {
    createStore: false,
  });
  try {
    const projectId = configuration.projectId ?? (orion.sharesStore ? orion.projectId : null);
    await body({ configuration, store: orion.store, projectId });
  } finally {
    await orion.close();
  }
}

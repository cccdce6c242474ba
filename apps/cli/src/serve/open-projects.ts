import type { Configuration, Orion } from '@orion/agent';

import { openForTurns, providerOf } from '../commands/with-orion.ts';

/** A workspace that is served. */
export type ServedWorkspace = {
  /** Null: the only one, for which every name is a label. */
  readonly name: string | null;
  readonly configuration: Configuration;
};

export type OpenedProjects = {
  /** The first, whose store the others share. */
  readonly orion: Orion;
  readonly projects: Readonly<Record<string, Orion>> | undefined;
  readonly close: () => Promise<void>;
};

/**
 * Opens all of them, and calls `onOpen` with each. Nobody can be asked but by a turn whose questions are stored: what
 * else needs a person is refused, with the reason. Rejects with STORE_FOREIGN for a store that turns of a command would
 * replace by one in memory, since a server promises to keep what it takes.
 */
export async function openProjects(
  [first, ...others]: readonly ServedWorkspace[],
  onOpen: (orion: Orion, configuration: Configuration) => Promise<void>,
): Promise<OpenedProjects> {
  if (first === undefined) throw new TypeError('There is nothing to serve.');
  const opened: [string | null, Orion][] = [];
  // The owner of the store last.
  const close = async (): Promise<void> => {
    for (const [, orion] of opened.toReversed()) await orion.close();
  };
  const open = async (
    { name, configuration }: ServedWorkspace,
    store?: Orion['store'],
  ): Promise<Orion> => {
    const orion = await openForTurns(configuration, {
      approve: configuration.approve,
      // The yes to the whole change is the yes to its path.
      ...(configuration.approve === 'ask' && { confirmProtectedPath: () => Promise.resolve(true) }),
      provider: providerOf(configuration),
      ...(name === null ? {} : { projectId: name }),
      ...(store === undefined ? {} : { store }),
    });
    opened.push([name, orion]);
    // A provider is connected by the first turn; what clients send before that may hold its key.
    const { provider, providerKeys } = configuration;
    for (const key of [provider.apiKey, ...Object.values(providerKeys)]) orion.keys.add(key);
    await onOpen(orion, configuration);
    return orion;
  };
  try {
    const orion = await open(first);
    const foreign = await orion.findForeignStore();
    if (foreign !== null) throw foreign.error;
    for (const workspace of others) await open(workspace, orion.store);
    const projects = first.name === null ? undefined : Object.fromEntries(opened);
    return { orion, projects, close };
  } catch (error) {
    await close();
    throw error;
  }
}

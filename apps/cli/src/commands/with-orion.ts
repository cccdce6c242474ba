import { createOrion, recoveryProvider, requireProvider } from '@orion/agent';
import type { Configuration, Orion, OrionOptions } from '@orion/agent';
import { defined } from '@orion/contracts';

import type { TurnOptions } from '../command-line/options.ts';
import type { CommandContext } from '../process/context.ts';
import { jsonLine } from '../terminal/sanitize.ts';
import { alignColumns } from '../terminal/table.ts';
import { configure } from './configure.ts';

export type OrionTools = { readonly orion: Orion; readonly configuration: Configuration };

/** The runtime as the configuration of a command has it, with what that command adds. */
export function openOrion(
  { workspace, userDirectory, settings }: Configuration,
  more: Partial<OrionOptions> = {},
): Promise<Orion> {
  const folder = userDirectory ?? undefined;
  return createOrion({ workspace, settings, ...defined({ userDirectory: folder }), ...more });
}

/** The same for one that runs turns. */
export function openForTurns(
  configuration: Configuration,
  more: Partial<OrionOptions>,
): Promise<Orion> {
  const { protocol, protocolReason, telemetry, commands, mcp } = configuration;
  const shared = { protocol, protocolReason, commands, mcp };
  return openOrion(configuration, {
    ...shared,
    ...defined({ telemetry: telemetry ?? undefined }),
    ...more,
  });
}

/** A session that is recovered brings what it was begun with, where nothing else was named. */
export function providerOf(configuration: Configuration): NonNullable<OrionOptions['provider']> {
  return (session) =>
    session === null ? requireProvider(configuration) : recoveryProvider(configuration);
}

/** Runs what a command does with Orion, and closes it in the end. */
export async function withOrion<Answer>(
  context: CommandContext,
  options: TurnOptions,
  more: Partial<OrionOptions>,
  body: (tools: OrionTools) => Promise<Answer>,
): Promise<Answer> {
  const configuration = await configure(context, options);
  const orion = await openOrion(configuration, more);
  try {
    return await body({ orion, configuration });
  } finally {
    await orion.close();
  }
}

/** What a command answers with `--json`, as one line. */
export async function printJson({ stdout }: CommandContext, answer: object): Promise<void> {
  await stdout.write(jsonLine(JSON.stringify({ version: 1, ...answer })));
}

/** What a command lists: with `--json` one object, else a table of lines that a person can read. */
export async function printList<Item>(
  context: CommandContext,
  { json }: Pick<Configuration, 'json'>,
  list: {
    readonly name: string;
    readonly items: readonly Item[];
    /** In place of an empty table. */
    readonly none: string;
    readonly headings: readonly string[];
    /** Fit for a terminal. */
    readonly cells: (item: Item) => readonly string[];
  },
): Promise<void> {
  const { name, items, none, headings, cells } = list;
  if (json) await printJson(context, { [name]: items });
  else if (items.length === 0) context.screen.line(none);
  else await context.stdout.write(alignColumns([headings, ...items.map(cells)]));
}

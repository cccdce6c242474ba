import { distrustWorkspace, trustWorkspace } from '@orion/agent';
import type { ForeignStore, TrustReport } from '@orion/agent';
import { OrionError } from '@orion/contracts';

import type { TurnOptions } from '../command-line/options.ts';
import type { CommandContext } from '../process/context.ts';
import { formatCount, plural } from '../terminal/format.ts';
import { sanitizeLine } from '../terminal/sanitize.ts';
import { findWorkspace } from './configure.ts';
import { printJson, withOrion } from './with-orion.ts';

export type TrustOptions = TurnOptions & { readonly revoke?: boolean };

const HASH_DIGITS = 12;

/**
 * `orion trust`: accepts the workspace's configuration file as it is now, or takes that back, and takes over a store
 * that is not known to be this user's.
 */
export async function trustCommand(context: CommandContext, options: TrustOptions): Promise<void> {
  const { environment, homeDirectory, screen } = context;
  const workspace = await findWorkspace(context, options.cwd);
  const request = { environment, workspace, homeDirectory, now: Date.now() };
  if (options.revoke === true) {
    await distrustWorkspace(request);
    if (options.json === true) await printJson(context, { workspace, trusted: false });
    else screen.line(sanitizeLine(`What ${workspace} configures is no longer accepted.`));
    return;
  }
  const report = await trustWorkspace(request);
  if (report !== null && options.json !== true) await tellConfiguration(context, report);
  const store = await takeOverStore(context, options);
  if (report === null && store === null) {
    throw new OrionError({
      code: 'CONFIG_INVALID',
      message: `There is neither an orion.config.json in ${workspace} to accept, nor a store of somebody else.`,
      hint: 'Name the workspace with --cwd.',
    });
  }
  // There was nothing else to do but to take over the store, and that cannot be done.
  if (report === null && store?.adoptable === false) throw store.error;
  if (options.json === true) {
    await printJson(context, { workspace, trusted: true, ...report, ...storeFields(store) });
  }
}

async function tellConfiguration(
  { stdout, screen }: CommandContext,
  report: TrustReport,
): Promise<void> {
  for (const [name, value] of Object.entries(report.settings)) {
    await stdout.write(`${sanitizeLine(`${name} = ${JSON.stringify(value)}`)}\n`);
  }
  screen.line(
    sanitizeLine(
      `Accepted ${report.file} as it is now (sha256 ${report.sha256.slice(0, HASH_DIGITS)}). ` +
        'A changed file needs a new `orion trust`; `orion trust --revoke` takes it back.',
    ),
  );
}

/** Shows what is in it, then makes it this user's. */
async function takeOverStore(
  context: CommandContext,
  options: TrustOptions,
): Promise<ForeignStore | null> {
  return withOrion(context, options, { createStore: false }, async ({ orion }) => {
    const store = await orion.findForeignStore();
    if (store === null) return null;
    const isTold = options.json !== true;
    if (isTold) await showStore(context, store);
    if (store.adoptable) await orion.adoptStore();
    if (isTold) {
      const kind = store.adoptable ? undefined : 'warning';
      context.screen.line(sanitizeLine(outcomeOf(store)), kind);
    }
    return store;
  });
}

async function showStore({ stdout }: CommandContext, store: ForeignStore): Promise<void> {
  for (const title of store.titles) await stdout.write(`conversation: ${sanitizeLine(title)}\n`);
  const more = store.conversations - store.titles.length;
  if (more > 0) await stdout.write(`and ${formatCount(more)} more\n`);
}

function outcomeOf({ path, adoptable, conversations, error }: ForeignStore): string {
  return adoptable
    ? `Took over ${path} with ${plural(conversations, 'conversation')}: from now on \`--continue\` goes on with what is in it.`
    : `${error.message}. ${error.hint}`;
}

function storeFields(store: ForeignStore | null): object {
  if (store === null) return {};
  const { path, adoptable, conversations, titles } = store;
  return { store: { path, adopted: adoptable, conversations, titles } };
}

import { once } from 'node:events';

import { loadProjects } from '@orion/agent';
import type { Orion } from '@orion/agent';
import { defined, OrionError, toErrorInfo } from '@orion/contracts';
import { checkOptions, notListening, startServer } from '@orion/server';
import type { RunningServer } from '@orion/server';

import type { ServeOptions } from '../command-line/serve-options.ts';
import type { CommandContext } from '../process/context.ts';
import { EXIT } from '../process/exit-code.ts';
import type { CommandResult } from '../process/finish.ts';
import { leaveProcess } from '../process/leave-process.ts';
import { watchStop } from '../process/stop-request.ts';
import { createLogSink } from '../serve/log-sink.ts';
import { openProjects } from '../serve/open-projects.ts';
import type { ServedWorkspace } from '../serve/open-projects.ts';
import { Problems } from '../serve/problems.ts';
import { serveSettings } from '../serve/serve-settings.ts';
import type { ServeSettings } from '../serve/serve-settings.ts';
import type { WorkerPlace } from '../serve/serve-workers.ts';
import { CUT_SHORT, stoppingLine } from '../serve/stopping-lines.ts';
import { configure } from './configure.ts';
import { requireProviderAtStart } from './first-start.ts';
import { placeOf } from './place.ts';
import { putAsideLines } from './put-aside-lines.ts';

type Checked = {
  readonly workspaces: readonly ServedWorkspace[];
  readonly settings: ServeSettings;
};

/** `orion serve`: serves until a signal asks it to stop, and gives turns in progress time to end. */
export async function serveCommand(
  context: CommandContext,
  given: ServeOptions,
): Promise<CommandResult> {
  const { workspaces, settings } = await checkAll(context, given);
  const { drainMs, listen, workers } = settings;
  const group = workers === null ? null : await import('../serve/cluster.ts');
  const isWorker = group?.isWorker() ?? false;
  if (workers !== null && !isWorker) {
    const { host, port } = checkOptions(listen);
    return serveInWorkers(context, { count: workers, host, port, notListening }, given);
  }
  const stop = watchStop({ leave });
  // Before that there is nothing to save, and its store may keep it waiting for long.
  let isServing = false;
  void stop.asked.then(() => isServing || leaveProcess(EXIT.done));
  // A defect outside of any request leaves the process in an unknown state. What it did is stored, and its next start
  // continues.
  const crash = (error: unknown): void => {
    context.screen.line(`INTERNAL_ERROR: ${toErrorInfo(error).message}`, 'error');
    leaveProcess(EXIT.failure);
  };
  process.on('uncaughtException', crash);
  try {
    const { orion, projects, close } = await openProjects(workspaces, (opened, { workspace }) =>
      tidyUp(context, opened, workspace),
    );
    let closePage = (): Promise<void> => Promise.resolve();
    try {
      const log = createLogSink(context.stderr);
      const pid = isWorker ? process.ppid : process.pid;
      const options = { orion, ...defined({ projects }), ...listen, log, pid };
      const server = await startServer(options).catch(rethrowInOurWords);
      isServing = true;
      const lines = [...tokenLines(server), ...pageLines(server)];
      if (isWorker) {
        group?.tellParent({ url: server.url, lines, link: server.pageLink() });
      } else {
        for (const line of lines) context.screen.line(line);
        await context.stdout.write(`${server.url}\n`);
        if (given.open === true) closePage = await openPage(context, server.pageLink());
      }
      const signal = await Promise.race([stop.asked, aborted(server.lost)]);
      if (signal === null) {
        await server.stop({ drainMs: 0 });
        throw storeLost();
      }
      let isCut = false;
      stop.cutNext(() => {
        isCut = true;
        context.screen.line(CUT_SHORT);
        void server.stop({ drainMs: 0 });
      });
      context.screen.line(stoppingLine({ ...server.runningTurns(), drainMs, signal }));
      await server.stop({ drainMs });
      stop.cutNext(null);
      if (isCut) return { exitCode: EXIT.interrupted };
    } finally {
      await closePage();
      await close();
    }
  } finally {
    stop.dispose();
    process.off('uncaughtException', crash);
  }
  return { exitCode: EXIT.done };
}

/** Throws one error about everything that would keep the server from starting, or each of its turns from running. */
async function checkAll(context: CommandContext, options: ServeOptions): Promise<Checked> {
  const { host, port, allowHost, trustProxy, basePath, logLevel, workers, ...rest } = options;
  const { open: _, ...turn } = rest;
  const settings = serveSettings(
    { ...defined({ host, port, allowHost, trustProxy, basePath, logLevel, workers }) },
    context.environment,
  );
  const problems = new Problems();
  const workspaces: ServedWorkspace[] = [];
  const add = async (name: string | null, cwd: string | undefined): Promise<void> => {
    const configuration = await configure(context, { ...turn, ...defined({ cwd }) });
    workspaces.push({ name, configuration });
    await problems.check(() => requireProviderAtStart(configuration));
  };
  await problems.check(async () => {
    const projects = namesFolder(context, options) ? [] : await loadProjects(context);
    for (const { name, folder } of projects) await problems.check(() => add(name, folder));
    if (projects.length === 0) await add(null, options.cwd);
  });
  await problems.check(() => {
    const message = settings.problems.join(' ');
    if (message !== '') throw new OrionError({ code: 'CONFIG_INVALID', message });
  });
  await problems.check(() => checkOptions(settings.listen));
  await problems.check(() => requireSharedTurns(settings, workspaces));
  problems.throwAll();
  return { workspaces, settings };
}

/** Several processes take turns from one queue, which only Postgres has. */
function requireSharedTurns(
  { workers, listen }: ServeSettings,
  workspaces: readonly ServedWorkspace[],
): void {
  if (workers === null) return;
  const isShared = workspaces.every(
    ({ configuration }) => (configuration.settings.databaseUrl ?? null) !== null,
  );
  if (isShared && listen.queue !== 'in-process') return;
  throw new OrionError({
    code: 'CONFIG_INVALID',
    message:
      'Workers share turns through Postgres; with SQLite or ORION_QUEUE=in-process, only one process can serve.',
    hint: 'Set DATABASE_URL to a Postgres and leave ORION_QUEUE out, or leave --workers out.',
  });
}

async function serveInWorkers(
  context: CommandContext,
  place: WorkerPlace,
  { open }: ServeOptions,
): Promise<CommandResult> {
  const { serveWorkers } = await import('../serve/serve-workers.ts');
  const exitCode = await serveWorkers(context, place, async ({ link }) =>
    open === true ? openPage(context, link) : () => Promise.resolve(),
  );
  return { exitCode };
}

/** Whoever names a folder means that one, whatever projects are configured. */
function namesFolder({ environment }: CommandContext, { cwd }: ServeOptions): boolean {
  return cwd !== undefined || (environment['ORION_CWD'] ?? '') !== '';
}

/** A turn of a command would go on without its store; a server does not start. */
function rethrowInOurWords(error: unknown): never {
  if (!OrionError.isInstance(error) || error.code !== 'STORE_UNAVAILABLE') throw error;
  const { code, message } = error;
  const hint = 'Check the database and DATABASE_URL, then start again.';
  throw new OrionError({ code, message, hint, cause: error });
}

async function aborted(signal: AbortSignal): Promise<null> {
  if (!signal.aborted) await once(signal, 'abort');
  return null;
}

function leave(): void {
  leaveProcess(EXIT.interrupted);
}

function storeLost(): OrionError {
  return new OrionError({
    code: 'STORE_IN_USE',
    message: 'Another server took over the store, while this one could not reach it.',
  });
}

async function tidyUp(context: CommandContext, orion: Orion, workspace: string): Promise<void> {
  const cleaned = await orion.housekeep();
  for (const line of putAsideLines(cleaned, placeOf(context, workspace)))
    context.screen.line(line, 'faint');
}

/** With a link of its own: the printed one stays for browsers that cannot read the file. Returns what tidies up. */
async function openPage(
  { screen, environment }: CommandContext,
  link: string | null,
): Promise<() => Promise<void>> {
  if (link === null) {
    screen.line('There is no page to open: it was not built.', 'warning');
    return () => Promise.resolve();
  }
  const { openInBrowser } = await import('../serve/open-page.ts');
  const { problem, close } = await openInBrowser(link, { environment, platform: process.platform });
  if (problem !== null) {
    screen.line(`No browser was opened (${problem}). Open the link above yourself.`, 'warning');
  }
  return close;
}

/** With a link that works once: whoever reads this log later does not get in with it. */
function pageLines(server: RunningServer): readonly string[] {
  const link = server.pageLink();
  if (link === null) return [];
  return [`Page: ${link} (works once, within five minutes; \`orion web\` makes another link)`];
}

/** The token itself only when it was made: whoever may read the file can look it up later. */
function tokenLines({ keptToken }: RunningServer): readonly string[] {
  if (keptToken === null) return [];
  const { token, path, isNew } = keptToken;
  return [isNew ? `Token: ${token} (kept in ${path})` : `The token is in ${path}.`];
}

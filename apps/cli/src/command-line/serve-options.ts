import type { Command } from 'commander';

import { SERVE, WEB } from './help.ts';
import {
  addBudgetOptions,
  addCommand,
  addCommandOptions,
  addJsonOption,
  addPathOptions,
  addProviderOptions,
  choice,
  collect,
  type TurnOptions,
} from './options.ts';
import type { Runs } from './runs.ts';

/** What `orion serve` takes besides the options of a turn. */
export type ServeFlags = {
  readonly host?: string;
  readonly port?: string;
  readonly allowHost?: readonly string[];
  readonly trustProxy?: readonly string[];
  readonly basePath?: string;
  readonly logLevel?: string;
  readonly workers?: string;
  /** Opens the page. */
  readonly open?: boolean;
};

export type ServeOptions = TurnOptions & ServeFlags;

/** `orion serve`: where it listens, and what its turns may do; `orion web`: its page. */
export function addServe(program: Command, runs: Runs): void {
  const serve = addCommand(program, 'serve', 'serve turns over HTTP, until it is stopped')
    .addHelpText('after', SERVE)
    .option('--host <address>', 'the address to listen on (default: 127.0.0.1)')
    .option('--port <n>', 'the port; 0 takes a free one (default: 4310)')
    .option(
      '--allow-host <name>',
      'another host name under which clients reach the server, such as orion.example.com (repeatable)',
      collect,
    )
    .option(
      '--trust-proxy <address>',
      'a proxy, or a network of proxies, whose X-Forwarded headers are trusted (repeatable)',
      collect,
    )
    .option('--base-path <path>', 'the path below which a proxy offers the server, such as /orion')
    .option('--workers <n>', 'run this many server processes on one port; requires DATABASE_URL')
    .option('--open', 'open the page in a browser, logged in')
    .addOption(
      choice('--log-level <level>', 'the lowest level that is logged to stderr (default: info)', [
        'error',
        'warn',
        'info',
        'debug',
      ]),
    );
  addBudgetOptions(
    addProviderOptions(serve).option(
      '--protocol <name>',
      'the protocol of turns whose request chooses none',
    ),
  ).addOption(
    choice(
      '--approve <who>',
      'make changes without asking (auto, the default), wait for a decision over HTTP (ask), or make none (never)',
      ['auto', 'ask', 'never'],
    ),
  );
  addCommandOptions(
    addPathOptions(serve),
    'wait for a decision with --approve ask, and refuse without it (ask, the default)',
  ).option(
    '--allow-omissions',
    'do not ask the model about lines such as "... rest unchanged" in a file that replaces another',
  );
  runs(serve, async () => (await import('../commands/serve.ts')).serveCommand);

  const web = addCommand(program, 'web', 'print a log-in link for the page of the running server')
    .addHelpText('after', WEB)
    .option('--sign-out-all', 'end all log-ins of the page, and invalidate earlier links');
  runs(addJsonOption(web), async () => (await import('../commands/web.ts')).webCommand);
}

import type { ConfigurationFlags } from '@orion/agent';
import { Option, type Command } from 'commander';

/** What every command takes. */
export type WorkspaceOptions = { readonly cwd?: string };

export type TurnOptions = WorkspaceOptions &
  Omit<ConfigurationFlags, 'allowPaths'> & { readonly allowPath?: readonly string[] };

export function addWorkspaceOption(command: Command): Command {
  return command.option(
    '-C, --cwd <dir>',
    'the workspace: the folder that is read and written (default: the current one)',
  );
}

export function addProviderOptions(command: Command): Command {
  return command
    .option(
      '--provider <name>',
      'who answers: openai (any chat-completions server), openai-responses, anthropic, scripted, or an alias such as deepseek',
    )
    .option('--model <name>', "the model's name")
    .option('--base-url <url>', "the server, if it is not the provider's own")
    .option('--script <file>', 'for the scripted provider: what it does');
}

export function addOutputOptions(command: Command): Command {
  return command
    .option('--json', 'events as JSON lines on stdout, a result as the last one')
    .option('--show-content', 'show the content of files while they stream')
    .option('--verbose', 'tell on stderr what happens inside')
    .option('--quiet', 'only errors, warnings and what was written');
}

export function addBudgetOptions(command: Command): Command {
  return command
    .option('--max-turns <n>', 'stop after so many model calls; an open write session is paused')
    .option('--max-seconds <n>', 'stop after so many seconds')
    .option('--max-tokens <n>', 'stop after so many tokens of the model');
}

export function addApproveOption(command: Command): Command {
  return command.addOption(
    choice(
      '--approve <who>',
      'who agrees to a change: nobody has to (auto, the default), you (ask), or nothing is changed (never)',
      ['auto', 'ask', 'never'],
    ),
  );
}

export function addPathOptions(command: Command): Command {
  return command
    .option(
      '--allow-path <glob>',
      'allow writing to protected paths that match (may be repeated)',
      (glob: string, earlier: readonly string[] | undefined) => [...(earlier ?? []), glob],
    )
    .option('--allow-hard-link', 'allow replacing a file that has other hard links');
}

export function addOmissionOption(command: Command): Command {
  return command.option(
    '--allow-omissions',
    'do not ask the model about lines such as "... rest unchanged" in a file that replaces another',
  );
}

export function choice(flags: string, description: string, values: readonly string[]): Option {
  return new Option(flags, description).choices(values);
}

/** The options as the configuration takes them. */
export function flagsOf(options: TurnOptions): ConfigurationFlags {
  const { allowPath, cwd: _cwd, ...flags } = options;
  return { ...flags, ...(allowPath === undefined ? {} : { allowPaths: allowPath }) };
}

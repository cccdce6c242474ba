import type { ConfigurationFlags } from '@orion/agent';
import { defined } from '@orion/contracts';
import { Option, type Command } from 'commander';

/** Options of every command. */
export type WorkspaceOptions = { readonly cwd?: string };

export type TurnOptions = WorkspaceOptions &
  Omit<ConfigurationFlags, 'allowPaths' | 'allowCommands'> & {
    readonly allowPath?: readonly string[];
    readonly allowCommand?: readonly string[];
  };

/** A command that works in a workspace. */
export function addCommand(parent: Command, name: string, description: string): Command {
  return parent
    .command(name)
    .description(description)
    .option(
      '-C, --cwd <dir>',
      'the workspace: the folder to read and write (default: the current one)',
    );
}

export function addJsonOption(command: Command): Command {
  return command.option('--json', 'print one JSON object on stdout');
}

export function addProjectOption(command: Command): Command {
  return command.option('--project-id <id>', 'only those of this project');
}

export function addProviderOptions(command: Command): Command {
  return command
    .option(
      '--provider <name>',
      'openai (any chat-completions server), openai-responses, anthropic, scripted, or an alias such as deepseek',
    )
    .option('--model <name>', "the model's name")
    .option('--base-url <url>', "the server, if not the provider's own")
    .option('--script <file>', 'the script of the scripted provider');
}

export function addBudgetOptions(command: Command): Command {
  return command
    .option('--max-turns <n>', 'stop after this many model calls; an open write session is paused')
    .option('--max-seconds <n>', 'stop after this many seconds')
    .option('--max-tokens <n>', 'stop after this many tokens from the model');
}

export function addApproveOption(command: Command): Command {
  return command.addOption(
    choice(
      '--approve <who>',
      'make changes without asking (auto, the default), ask you first (ask), or make none (never)',
      ['auto', 'ask', 'never'],
    ),
  );
}

export function addPathOptions(command: Command): Command {
  return command
    .option(
      '--allow-path <glob>',
      'allow writing to matching protected paths (repeatable)',
      collect,
    )
    .option('--allow-hard-link', 'allow replacing a file that has other hard links');
}

/** The values of an option that may be given several times. */
export function collect(value: string, earlier: readonly string[] | undefined): readonly string[] {
  return [...(earlier ?? []), value];
}

export function addCommandOptions(
  command: Command,
  asking = 'ask you first (ask, the default)',
): Command {
  return command
    .option(
      '--allow-command <pattern>',
      'let the model run shell lines that match, such as "npm test" or "git log *", without asking (repeatable)',
      collect,
    )
    .addOption(
      choice(
        '--approve-commands <who>',
        `other shell lines: ${asking}, run without asking (auto), or refuse (never)`,
        ['auto', 'ask', 'never'],
      ),
    )
    .addOption(
      choice(
        '--sandbox <when>',
        'run shell lines in a sandbox if bubblewrap works here (auto, the default), only then (require), or never (off)',
        ['auto', 'require', 'off'],
      ),
    )
    .option('--allow-network', 'let shell lines in the sandbox use the network');
}

/** Of commands whose text of the model is Markdown on a terminal. */
export function addPlainOption(command: Command): Command {
  return command.option('--plain', 'on a terminal, print the text of the model as it is');
}

/** What commands that let a model write have besides. */
export function addTurnOptions(command: Command): Command {
  return addCommandOptions(addPathOptions(addApproveOption(command)))
    .option(
      '--allow-omissions',
      'do not ask the model about lines such as "... rest unchanged" in a file that replaces another',
    )
    .option('--show-content', 'show the content of files while they stream')
    .option('--verbose', 'print details to stderr')
    .option('--quiet', 'print only errors, warnings and written files');
}

export function addJsonEvents(command: Command): Command {
  return command.option(
    '--json',
    'print events as JSON lines on stdout, and a result as the last line',
  );
}

export function choice(flags: string, description: string, values: readonly string[]): Option {
  return new Option(flags, description).choices(values);
}

/** The options in the form that the configuration expects. */
export function flagsOf(options: TurnOptions): ConfigurationFlags {
  const { allowPath, allowCommand, cwd: _cwd, ...flags } = options;
  return { ...flags, ...defined({ allowPaths: allowPath, allowCommands: allowCommand }) };
}

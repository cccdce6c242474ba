import type { Command } from 'commander';

import type { CommandContext } from '../process/context.ts';
import type { CommandResult } from '../process/finish.ts';

/** What a command does, given its arguments and options. Without a result it has done it. */
type Run = (context: CommandContext, ...given: never[]) => Promise<CommandResult | void>;

/** Lets a command do what `load` loads when it is called. */
export type Runs = (command: Command, load: () => Promise<Run>) => void;

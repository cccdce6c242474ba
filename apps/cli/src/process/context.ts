import { createScreen, type Screen } from '../terminal/screen.ts';
import { openOutputStream, type OutputStream } from './output-stream.ts';

/** What a command is given instead of reaching for the process itself. */
export type CommandContext = {
  readonly argv: readonly string[];
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Null when it is unknown. */
  readonly homeDirectory: string | null;
  readonly currentDirectory: string;
  /** The file that Node was started with: what a command starts to run Orion again. */
  readonly entry: string;
  readonly stdin: NodeJS.ReadStream;
  readonly stdout: OutputStream;
  readonly stderr: OutputStream;
  readonly screen: Screen;
  /** Whether a person can be asked: stdin and stderr are terminals. */
  readonly interactive: boolean;
};

export type ProcessFacts = Pick<
  CommandContext,
  'argv' | 'environment' | 'homeDirectory' | 'currentDirectory' | 'entry'
>;

export function createContext(facts: ProcessFacts): CommandContext {
  const stdout = openOutputStream(process.stdout);
  const stderr = openOutputStream(process.stderr);
  const { NO_COLOR, TERM } = facts.environment;
  const colors = stderr.isTerminal && (NO_COLOR ?? '') === '' && TERM !== 'dumb';
  return {
    ...facts,
    stdin: process.stdin,
    stdout,
    stderr,
    screen: createScreen({ stdout, stderr, colors }),
    interactive: process.stdin.isTTY === true && stderr.isTerminal,
  };
}

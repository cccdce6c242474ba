import { createScreen, type Screen } from '../terminal/screen.ts';
import { openOutputStream, openTerminalStream, type OutputStream } from './output-stream.ts';
import { openTerminal } from './terminal-device.ts';
import { createTerminalQueue, type TerminalQueue } from './terminal-queue.ts';

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
  const { stdout, stderr } = openOutputs();
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

/** Both outputs; where they lead to one terminal they share its queue, so that their order stays. */
function openOutputs(): { readonly stdout: OutputStream; readonly stderr: OutputStream } {
  const queues = new Map<number, TerminalQueue>();
  function openOutput(stream: NodeJS.WriteStream & { readonly fd: number }): OutputStream {
    const device = stream.isTTY === true ? openTerminal(stream.fd) : null;
    if (device === null) return openOutputStream(stream);
    const queue = queues.get(device.id) ?? createTerminalQueue(device);
    queues.set(device.id, queue);
    return openTerminalStream(stream, queue);
  }
  return { stdout: openOutput(process.stdout), stderr: openOutput(process.stderr) };
}

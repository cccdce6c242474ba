import { PassThrough } from 'node:stream';

import type { CommandContext } from '../process/context.ts';
import { createScreen } from '../terminal/screen.ts';
import { createFakeOutput, type FakeOutput } from './fake-output.ts';

export type FakeContext = CommandContext & {
  readonly stdout: FakeOutput;
  readonly stderr: FakeOutput;
  /** What the person types. */
  readonly typed: PassThrough;
};

export function createFakeContext(options: {
  readonly argv?: readonly string[];
  readonly terminal?: boolean;
  readonly environment?: Readonly<Record<string, string>>;
  readonly homeDirectory?: string;
  readonly currentDirectory?: string;
}): FakeContext {
  const terminal = options.terminal === true;
  const stdout = createFakeOutput({ terminal });
  const stderr = createFakeOutput({ terminal });
  const typed = new PassThrough();
  return {
    argv: options.argv ?? [],
    environment: options.environment ?? {},
    homeDirectory: options.homeDirectory ?? null,
    currentDirectory: options.currentDirectory ?? '/nonexistent',
    entry: '/nonexistent/main.js',
    stdin: typed as unknown as NodeJS.ReadStream,
    typed,
    stdout,
    stderr,
    screen: createScreen({ stdout, stderr, colors: false }),
    interactive: terminal,
  };
}

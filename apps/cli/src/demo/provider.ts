import { readFile } from 'node:fs/promises';

import { runScriptedProvider } from '@orion/llm-adapters/scripted';

import type { CommandContext } from '../process/context.ts';
import { EXIT } from '../process/exit-code.ts';
import type { CommandResult } from '../process/finish.ts';

/** The demo's model server as a process of its own; it ends when the process that started it is gone. */
export async function demoProviderCommand(
  context: CommandContext,
  script: string,
): Promise<CommandResult> {
  const starterIsGone = new Promise<void>((resolve) => {
    context.stdin
      .on('end', resolve)
      .on('close', resolve)
      .on('error', () => resolve());
    context.stdin.resume();
  });
  const provider = await runScriptedProvider({
    argv: [script],
    readText: (path) => readFile(path, 'utf8'),
    print: (line) => void context.stdout.write(`${line}\n`),
  });
  await starterIsGone;
  await provider.close();
  return { exitCode: EXIT.done };
}

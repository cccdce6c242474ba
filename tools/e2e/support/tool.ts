import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

import type { TestContext } from 'vitest';

/**
 * Runs a program of another tool, `durability/crash.ts` for example, to its end or to the end of the test. Which test
 * that is, its own context has to say: the global hook of vitest takes another one where tests run at the same time.
 */
export async function runTool(
  { onTestFinished }: Pick<TestContext, 'onTestFinished'>,
  program: string,
  args: readonly string[],
): Promise<{ readonly exitCode: number | null; readonly output: string }> {
  const file = fileURLToPath(new URL(`../../${program}`, import.meta.url));
  const child = spawn(process.execPath, ['--conditions=@orion/source', file, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  // After a timeout nothing else would end it.
  onTestFinished(() => void child.kill());
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  }
  const [exitCode] = (await once(child, 'close')) as [number | null];
  return { exitCode, output };
}

import { createContext, type ProcessFacts } from '../process/context.ts';
import type { ExitCode } from '../process/exit-code.ts';
import { finishOutput } from '../process/finish.ts';
import { execute } from './execute.ts';
import { wantsResultLine } from './json-wanted.ts';

/** Parses, runs, and answers the exit code when everything is written. */
export async function runCommandLine(facts: ProcessFacts): Promise<ExitCode> {
  const context = createContext(facts);
  const json = wantsResultLine(context.argv, context.environment);
  return finishOutput(context, await execute(context), json);
}

import { systemClock } from '@orion/contracts';
import { expect, test } from 'vitest';

import { createRunCommandTool } from '../command/run-command.ts';
import { createCodeDefinitionsTool } from './list-code-definition-names.ts';
import { createListFilesTool } from './list-files.ts';
import { createReadFileTool } from './read-file.ts';
import { createSearchFilesTool } from './search-files.ts';

/** Hazard: a model is told something else of a tool than was reviewed, or a tool is run in another way. */

const never = (): never => {
  throw new Error('asked');
};

const RUN_COMMAND = {
  root: '/workspace',
  environment: {},
  sandboxMode: 'auto',
  findSandbox: never,
  guard: never,
  clock: systemClock,
  createId: never,
} as const;

test.each([
  ['read_file', createReadFileTool({ readText: never })],
  ['list_files', createListFilesTool({ listFiles: never })],
  ['search_files', createSearchFilesTool({ searchFiles: never })],
  ['list_code_definition_names', createCodeDefinitionsTool({ listFiles: never, readText: never })],
  ['run_command', createRunCommandTool(RUN_COMMAND)],
])('what a model reads of %s, and how it is run', async (name, tool) => {
  // What is not text, such as `execute`, is left out.
  const facts = { ...tool, normalized: tool.normalize?.({}) };
  await expect(`${JSON.stringify(facts, null, 1)}\n`).toMatchFileSnapshot(
    `__snapshots__/${name}.txt`,
  );
});

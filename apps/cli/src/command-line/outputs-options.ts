import { InvalidArgumentError } from 'commander';
import type { Command } from 'commander';

import { OUTPUTS } from './help.ts';
import { addCommand, addJsonOption, addProjectOption, choice, collect } from './options.ts';
import type { Runs } from './runs.ts';

const PATH = '--path <jsonpath>';

/** `orion outputs`: the questions about stored outputs, one command each. */
export function addOutputs(program: Command, runs: Runs): void {
  const outputs = program
    .command('outputs')
    .description('look into stored results of tools, or into any JSON file')
    .addHelpText('after', OUTPUTS);
  addList(outputs, runs);
  const ask = questions(outputs, runs);
  ask('stats', 'describe it: size, structure, types')
    .option(PATH, 'only what is there (repeatable)', collect)
    .option('--max-depth <n>', 'how deep, 1 to 10 (default: 5)', number)
    .option('--schema', 'with a JSON Schema');
  ask('extract', 'print what these paths lead to')
    .option(PATH, 'a JSONPath of RFC 9535, such as $.items[*].id (repeatable; default: $)', collect)
    .option('--flatten', 'all matches in one list')
    .option('--include-paths', 'each match with its own path')
    .option('--default <value>', 'JSON or text in place of what is missing');
  ask('count', 'count items, keys or matches')
    .option(PATH, 'what to count (repeatable; default: $)', collect)
    .addOption(
      choice('--by <what>', 'what is counted at a path (default: array_length)', [
        'array_length',
        'object_keys',
        'matches',
        'nested_total',
      ]),
    )
    .option('--filter <expression>', 'only what it holds for, such as "@.open == true"');
  ask('sample', 'print some items of an array')
    .option(PATH, 'the array (default: $)', collect)
    .option('--size <n>', 'how many (default: 10)', number)
    .addOption(
      choice('--method <name>', 'how they are chosen (default: random)', [
        'random',
        'first',
        'last',
        'systematic',
        'stratified',
      ]),
    )
    .option('--seed <n>', 'the same seed chooses the same items (default: 0)', number)
    .option('--stride <n>', 'systematic: the distance between items', number)
    .option('--strata-path <jsonpath>', 'stratified: what distinguishes the items');
  ask('read', 'print it whole, or a part of its JSON text')
    .option('--offset <n>', 'from this character on', number)
    .option('--limit <n>', 'so many characters', number);
  const store = addCommand(outputs, 'store', 'store a JSON or text file, and print its id');
  addJsonOption(store.argument('<file>', 'the file; `-` is stdin'));
  runs(store, async () => (await import('../commands/outputs.ts')).storeOutputCommand);
}

function addList(outputs: Command, runs: Runs): void {
  const list = addCommand(outputs, 'list', 'list the stored outputs, the newest first, as JSON')
    .option('--tool <name>', 'only outputs of this tool')
    .option('--conversation <id>', 'only outputs of this conversation')
    .option('--after <time>', 'only newer ones: seconds or milliseconds since 1970', number)
    .option('--before <time>', 'only older ones', number)
    .addOption(choice('--sort <order>', 'newest (default) or oldest first', ['newest', 'oldest']))
    .option('--limit <n>', 'at most so many, 1 to 100 (default: 20)', number)
    .option('--offset <n>', 'leave out so many', number);
  addProjectOption(list);
  runs(list, async () => (await import('../commands/outputs.ts')).listOutputsCommand);
}

type Question = 'stats' | 'extract' | 'count' | 'sample' | 'read';

function questions(outputs: Command, runs: Runs) {
  return (operation: Question, description: string): Command => {
    const command = addCommand(outputs, operation, description)
      .argument('[id]', 'an output from `orion outputs list` (default: the latest)')
      .option('--file <file>', 'ask this JSON file instead; `-` is stdin');
    runs(command, async () =>
      (await import('../commands/outputs.ts')).askOutputsCommand(operation),
    );
    return command;
  };
}

function number(text: string): number {
  const value = Number(text);
  if (text.trim() !== '' && Number.isFinite(value)) return value;
  throw new InvalidArgumentError('It must be a number.');
}

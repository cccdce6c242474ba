import type { JsonObject } from '@orion/contracts';
import { collect } from '@orion/testkit';
import { expect, test, vi } from 'vitest';

import type { Orion } from './orion.ts';
import { runTurn, say } from './testing/scripted-turn.ts';

/** Every way in which a question about a stored output fails, word for word as the model reads it. */

const MISSING = 'Leave out the id to use the latest output.';
const CASES: readonly (readonly [
  rule: string,
  operation: string,
  args: JsonObject,
  code: string,
  message: string,
  hint: string,
])[] = [
  [
    'R205: an id that none can have',
    'read',
    { id: '../x' },
    'INVALID_OUTPUT_ID',
    'An output id has letters, digits, _ and -, at most 128',
    MISSING,
  ],
  [
    'R205: an id that is too long',
    'stats',
    { id: 'x'.repeat(129) },
    'INVALID_OUTPUT_ID',
    'An output id has letters, digits, _ and -, at most 128',
    MISSING,
  ],
  [
    'R215: an id that no output has',
    'extract',
    { id: 'x'.repeat(128) },
    'OUTPUT_NOT_FOUND',
    `There is no stored output ${'x'.repeat(128)}.`,
    MISSING,
  ],
  [
    'R214: no id, and no output',
    'stats',
    { id: ' ' },
    'OUTPUT_NOT_FOUND',
    'There is no stored output yet.',
    MISSING,
  ],
  [
    'R211: a conversation that is not its own',
    'read',
    { id: 'doc', conversation_id: 'd' },
    'OUTPUT_NOT_ALLOWED',
    'The output doc does not belong to the conversation d.',
    'Name its conversation in conversation_id.',
  ],
  [
    'R206: another project',
    'count',
    { id: 'foreign', queries: [{ path: '$' }] },
    'OUTPUT_NOT_ALLOWED',
    'The output foreign belongs to another project.',
    'Choose one that tool_outputs.list shows.',
  ],
  [
    'R285: an id that went',
    'sample',
    { id: 'old' },
    'OUTPUT_EXPIRED',
    'The tool output old was removed for its age or to make room.',
    'Run the tool again.',
  ],
  [
    'R212: a damaged record',
    'extract',
    { id: 'damaged' },
    'OUTPUT_CORRUPT',
    'The output damaged is damaged: SyntaxError: Unterminated string in JSON at position 5 (line 1 column 6).',
    'Run the tool again.',
  ],
  [
    'R211: a damaged record, read whole',
    'read',
    { id: 'damaged' },
    'OUTPUT_CORRUPT',
    'The output damaged is damaged: SyntaxError: Unterminated string in JSON at position 5 (line 1 column 6).',
    'Run the tool again.',
  ],
  [
    'R208: a path that is none',
    'extract',
    { id: 'doc', paths: ['items'] },
    'OUTPUT_QUERY_INVALID',
    `The path "items" is not a JSONPath: expected '$', found 'i' ('items':0)`,
    'A path begins with $, such as $.items[0].name, $.items[*].id or $..name.',
  ],
  [
    'R209: two queries of one name',
    'count',
    { id: 'doc', queries: [{ path: '$' }, { name: '$', path: '$.items' }] },
    'OUTPUT_QUERY_INVALID',
    'Two queries have the name "$".',
    'Give each query a name of its own.',
  ],
  [
    'R209: an element that cannot be counted',
    'count',
    { id: 'doc', queries: [{ path: '$.items' }, { path: '$.empty' }] },
    'OUTPUT_QUERY_INVALID',
    'array_length cannot count $.empty: it holds null.',
    'Count its matches instead, or name the path of an array or object; tool_outputs.stats shows the structure.',
  ],
  [
    'R210: nothing to sample',
    'sample',
    { id: 'doc' },
    'OUTPUT_QUERY_INVALID',
    'There is nothing to sample at $: it holds an object.',
    'Name the path of an array, or one with several matches such as $.items[*].',
  ],
  [
    'R210: strata without a path',
    'sample',
    { id: 'doc', path: '$.items', method: 'stratified', size: 1 },
    'OUTPUT_QUERY_INVALID',
    'A stratified sample needs strata_path.',
    'Name what distinguishes the items, such as $.type.',
  ],
  [
    'R211: too long to be read at once',
    'read',
    { id: 'long' },
    'OUTPUT_QUERY_LIMIT',
    'The output long has 16385 characters; at most 16384 can be read at once.',
    'Use tool_outputs.extract or tool_outputs.stats, or read a part with offset and limit.',
  ],
  [
    'R212: an answer that is too long',
    'extract',
    { id: 'long' },
    'OUTPUT_QUERY_LIMIT',
    'The answer has 16426 characters; at most 16384 can be shown.',
    'Ask for less: a deeper path, tool_outputs.sample, or tool_outputs.read with offset and limit.',
  ],
];

/** These are refused by the schemas, before the store is asked. */
const MISFITS: readonly (readonly [
  rule: string,
  operation: string,
  args: JsonObject,
  why: string,
])[] = [
  [
    'R212: an unknown argument',
    'extract',
    { id: 'doc', surplus: 1 },
    'Property "surplus" does not match additional properties schema',
  ],
  [
    'R206: an id for a list',
    'list',
    { id: 'doc' },
    'Property "id" does not match additional properties schema',
  ],
  ['R206: a limit that is too high', 'list', { limit: 101 }, 'limit: 101 is greater than 100'],
  [
    'R206: a preview that is too long',
    'list',
    { preview_length: 501 },
    'preview_length: 501 is greater than 500',
  ],
  [
    'R207: a depth that is too low',
    'stats',
    { id: 'doc', max_depth: 0 },
    'max_depth: 0 is less than 1',
  ],
  [
    'R207: a depth that is too high',
    'stats',
    { id: 'doc', max_depth: 11 },
    'max_depth: 11 is greater than 10',
  ],
  [
    'R208: no path at all',
    'extract',
    { id: 'doc', paths: [] },
    'paths: Array has too few items (0 < 1)',
  ],
  ['R209: no query', 'count', { id: 'doc' }, 'Instance does not have required property "queries"'],
  [
    'R210: an unknown method',
    'sample',
    { id: 'doc', method: 'all' },
    'method: Instance does not match any of ["random","first","last","systematic","stratified"]',
  ],
  [
    'R211: a part that is too long',
    'read',
    { id: 'doc', limit: 16_385 },
    'limit: 16385 is greater than 16384',
  ],
];

/** Of a conversation and a project that are those of the turn, unless `more` says otherwise. */
async function putAll({ store, projectId }: Orion): Promise<void> {
  const put = (id: string, output: string, more: object = {}): Promise<unknown> =>
    store.toolOutputs.put({
      id,
      project_id: projectId,
      tool_name: 'web.fetch',
      conversation_id: 'c',
      message_id: 'm',
      created_at: Date.now(),
      success: true,
      parameters: {},
      output,
      ...more,
    });
  await put('doc', '{"items":[{"id":1},{"id":2}],"empty":null}');
  await put('long', JSON.stringify('x'.repeat(16_383)));
  await put('damaged', '{"cut');
  await put('foreign', '1', { project_id: 'other' });
  await put('old', '1', { created_at: 1 });
}

let answered: Promise<readonly unknown[]> | undefined;
/** The errors of all calls, which a model makes in one message of the second turn. */
async function errorsOf(calls: readonly (readonly [operation: string, args: JsonObject])[]) {
  const toolCalls = calls.map(([operation, args]) => ({
    name: `tool_outputs_${operation}`,
    arguments: args,
  }));
  const turn = await runTurn(
    'standard',
    [say('standard', 'Ready.'), { times: 1, reply: { toolCalls } }, say('standard', 'Done.')],
    [],
    { prepare: putAll },
  );
  const { orion } = turn;
  // The first turn removes what is too old.
  await vi.waitUntil(() =>
    orion.store.toolOutputs.find('old').then(
      () => false,
      () => true,
    ),
  );
  await collect(orion.runTurn({ content: 'q', protocol: 'standard', conversationId: 'c' }));
  const answers = turn.requests[2]?.messages.filter(({ role }) => role === 'tool') ?? [];
  return answers.map(({ content }) => (JSON.parse(content) as { error: unknown }).error);
}

const ALL = [
  ...CASES,
  ...MISFITS.map(
    ([rule, operation, args, why]) =>
      [
        rule,
        operation,
        args,
        'INVALID_TOOL_ARGUMENTS',
        `The arguments of tool_outputs.${operation} do not fit: ${why}`,
        'Correct the named arguments and call again.',
      ] as const,
  ),
];

test.for(ALL.map((row, at) => [...row, at] as const))(
  '%s',
  async ([, operation, , code, message, hint, at]) => {
    answered ??= errorsOf(ALL.map(([, each, args]) => [each, args] as const));
    const named =
      code === 'INVALID_TOOL_ARGUMENTS' ? message : `tool_outputs.${operation}: ${message}`;
    expect((await answered)[at]).toEqual({ code, message: named, hint });
  },
);

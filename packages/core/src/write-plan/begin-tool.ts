import { BEGIN_TOOL_NAME, WRITE_OPERATIONS } from '@orion/contracts';
import type { Tool, ToolOutput } from '@orion/contracts';

import { begunSignature, readBeginRequest } from './begin-request.ts';
import type { BeginRequest, BegunSession } from './begin-request.ts';

/** The arguments of begin are metadata: anything longer is content in the wrong place. */
export const MAX_BEGIN_ARGUMENT_BYTES: number = 16 * 1024;

/** The definition that a model sees. */
export function createBeginTool(
  open: (request: BeginRequest, toolCallId: string) => Promise<BegunSession>,
  strict: boolean,
): Tool {
  const ending = strict ? 'the end marker that its result names' : 'DONE';
  return {
    effect: 'write',
    checksArguments: true,
    maxArgumentBytes: MAX_BEGIN_ARGUMENT_BYTES,
    resultMode: 'never',
    definition: {
      name: BEGIN_TOOL_NAME,
      description:
        'Opens a write session for one file. The arguments say only which file and how; the text itself is ' +
        `your next message, as plain text, ended by a line ${ending}. Use it for every file you create or change.`,
      parameters: {
        type: 'object',
        properties: {
          intent: { type: 'string', description: 'What this change is for, in a few words.' },
          target_file: { type: 'string', description: 'The file, relative to the workspace root.' },
          operation: {
            type: 'string',
            enum: [...WRITE_OPERATIONS],
            description:
              'create: a new file. overwrite: replace the whole file. append: add to its end. ' +
              'insert: add lines before or after one line. replace: exchange the lines between two markers.',
          },
          location: {
            type: 'object',
            description:
              'For insert: marker and position. For replace: start_marker and end_marker. ' +
              'A marker is a short text that stands in the file exactly once; read the file first.',
            properties: {
              marker: { type: 'string', description: 'insert: marks the line.' },
              position: {
                type: 'string',
                enum: ['before', 'after'],
                description: 'insert: on which side of that line.',
              },
              start_marker: {
                type: 'string',
                description: 'replace: stands in the line before the block.',
              },
              end_marker: {
                type: 'string',
                description: 'replace: stands in the line after the block.',
              },
              include_markers: {
                type: 'boolean',
                description: 'replace: the lines of both markers are replaced too. Default false.',
              },
              marker_type: {
                type: 'string',
                enum: ['string', 'regex'],
                description: 'regex: matched against each line. Default string.',
              },
            },
          },
          final_newline: {
            type: 'boolean',
            description:
              'False only for a file that must not end with a line ending. Default true.',
          },
          start_on_new_line: {
            type: 'boolean',
            description:
              'append: ends a last line that has no line ending before your text. Default false.',
          },
          keep_leading_blank_lines: {
            type: 'boolean',
            description:
              'create, overwrite: blank lines before the first line belong to the file. Default false.',
          },
        },
        required: ['intent', 'target_file', 'operation'],
      },
    },
    async execute(args, context): Promise<ToolOutput> {
      const begun = await open(readBeginRequest(args), context.toolCallId);
      return { result: begun.result, next: 'content' };
    },
    summarize: () => 'The write session is open.',
    normalize: begunSignature,
  };
}
